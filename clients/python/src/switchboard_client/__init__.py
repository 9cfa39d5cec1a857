"""A client of Switchboard, a self-hosted messaging gateway, and a verifier of its webhooks."""

from ._transport import UNSET
from ._version import VERSION
from .client import Client
from .errors import (
    ApiError,
    AuthenticationError,
    ConflictError,
    FieldError,
    NoAnswerError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    SwitchboardError,
    ValidationError,
)
from .media import Download
from .stream import EventStream

__version__ = VERSION

__all__ = [
    "UNSET",
    "ApiError",
    "AuthenticationError",
    "Client",
    "ConflictError",
    "Download",
    "EventStream",
    "FieldError",
    "NoAnswerError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "ServerError",
    "SwitchboardError",
    "ValidationError",
]
