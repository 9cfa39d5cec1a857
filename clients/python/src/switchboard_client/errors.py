"""The errors that the client raises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional, TypedDict


class FieldError(TypedDict):
    """An invalid field."""

    field: str
    """A dotted path into the request, such as `events.0`."""
    code: str
    message: str


class SwitchboardError(Exception):
    """The base of all errors of this package."""


class ApiError(SwitchboardError):
    """The server refused a request, with a stable `code`.

    Its subclasses say what kind of refusal it was::

        try:
            client.messages.send(to=to, message=message)
        except ConflictError as error:
            if error.code != "session_not_connected":
                raise
            client.sessions.connect(session_id)
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        request_id: str,
        fields: Sequence[FieldError] = (),
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        """One of `models.ErrorCode`, or the code of a newer server."""
        self.request_id = request_id
        """Id of the request in the server's log."""
        self.fields = tuple(fields)
        self.retry_after = retry_after
        """Seconds to wait, if the server sent `Retry-After`."""


class ValidationError(ApiError):
    """The request is invalid; `fields` lists the errors (400, 413, 415, 416, 422)."""


class AuthenticationError(ApiError):
    """The credential is missing, wrong, expired or revoked (401)."""


class PermissionDeniedError(ApiError):
    """The credential lacks the permission (403)."""


class NotFoundError(ApiError):
    """The resource does not exist in this account (404)."""


class ConflictError(ApiError):
    """The state of the resource does not allow the request (409)."""


class RateLimitError(ApiError):
    """Too many requests (429); `retry_after` says how long to wait."""


class ServerError(ApiError):
    """The server or the network failed (5xx)."""


class NoAnswerError(SwitchboardError):
    """The server was not reached, or the connection broke. The request may have been processed."""


BY_STATUS: dict[int, type[ApiError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}
