from pathlib import Path

from setuptools import setup

if not (Path(__file__).parent / "src/switchboard_client/models.py").exists():
    raise SystemExit(
        "A part of this package is missing, which `npm ci` in the root of the repository writes. "
        "pip cannot install it from a git URL: install the wheel of a release, or from a checkout."
    )

setup()
