from pathlib import Path

from setuptools import setup

if not (Path(__file__).parent / "src/switchboard_client/models.py").exists():
    raise SystemExit("A part of this package is missing. Run `npm ci` in the root of the repository, which writes it.")

setup()
