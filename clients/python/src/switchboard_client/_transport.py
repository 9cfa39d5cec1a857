"""Sends requests, and retries those that are safe to retry."""

from __future__ import annotations

import http.client
import json
import random
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, Optional, TypeVar, Union, cast
from urllib.parse import quote as _quote
from urllib.parse import urlencode

from ._connection import Address, Connection, Pool
from ._version import VERSION
from .errors import (
    BY_STATUS,
    ApiError,
    FieldError,
    NoAnswerError,
    ServerError,
    SwitchboardError,
    ValidationError,
)

FIRST_WAIT_SECONDS = 0.25
MAX_WAIT_SECONDS = 30.0
# With a longer `Retry-After`, the error is raised at once.
MAX_RETRY_AFTER_SECONDS = 60.0
REPEATABLE_STATUS = (429, 502, 503, 504)
# An error is a problem document of a few hundred bytes. A proxy may send anything.
_MAX_ERROR_BYTES = 1024 * 1024

T = TypeVar("T")


class Unset:
    """The type of `UNSET`."""

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET = Unset()
"""Leaves a field out. `None` sets it to null."""


class Body(NamedTuple):
    """The body of a request. Each try reads it from its beginning."""

    parts: Callable[[], Iterator[bytes]]
    size: Optional[int]
    content_type: Optional[str] = None


class Sent(NamedTuple):
    """A request."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: Optional[Body] = None
    is_repeatable: bool = False
    # No timeout until the head of the response.
    is_endless: bool = False
    # Seconds without data until the connection counts as broken.
    silence: Optional[float] = None
    # Called with the connection before it is used, so that another thread can interrupt it.
    on_connection: Optional[Callable[[Connection], None]] = None


class Settings(NamedTuple):
    """The common part of requests."""

    credential: Optional[str]
    retries: int
    timeout: float
    headers: tuple[tuple[str, str], ...]


class Response:
    """A successful response whose body was not read yet. Releases its connection when it is closed or read."""

    def __init__(self, pool: Pool, connection: Connection, head: http.client.HTTPResponse) -> None:
        self._pool = pool
        self._connection = connection
        self._is_released = False
        self.head = head

    def read(self, size: Optional[int] = None) -> bytes:
        """Raises `NoAnswerError` if the connection breaks before the end."""
        try:
            data = self.head.read(size)
            # `read` with a size does not notice an early end.
            if size != 0 and not data and self.head.length:
                raise http.client.IncompleteRead(data, self.head.length)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise NoAnswerError("Only a part of the answer arrived") from error
        if self.head.isclosed():
            self.close()
        return data

    def readline(self, limit: int) -> bytes:
        try:
            return self.head.readline(limit)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise NoAnswerError("The connection broke") from error

    def limit(self, *, silence: Optional[float]) -> None:
        self._connection.limit(silence=silence)

    def close(self) -> None:
        # Once: afterwards, the connection belongs to another request.
        if not self._is_released:
            self._is_released = True
            self._pool.give_back(self._connection)


class Transport:
    """The connections to a server, and the settings of requests. Threads can share it."""

    def __init__(self, address: Address, pool: Pool, settings: Settings) -> None:
        self._address = address
        self._pool = pool
        self.settings = settings

    def with_settings(self, settings: Settings) -> Transport:
        """Returns a transport that shares the connections."""
        return Transport(self._address, self._pool, settings)

    def close(self) -> None:
        self._pool.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        idempotent: bool = False,
        idempotency_key: Optional[str] = None,
        repeatable: bool = False,
    ) -> Any:
        """Calls an operation and returns its output."""
        # One key for all tries of a call, so that the operation runs once.
        key = (idempotency_key or new_key()) if idempotent else None
        request = Sent(
            method,
            path + query_of(query or {}),
            headers=() if key is None else (("Idempotency-Key", key),),
            body=None if body is None else _json_body(body),
            is_repeatable=repeatable or idempotent,
        )
        return self.send(request, read_json)

    def send(self, request: Sent, read: Callable[[Response], T]) -> T:
        """Sends a request until it succeeds or must not be retried.

        `read` gets the response before the timeout ends, and has to close it.
        """
        tries = 0
        while True:
            try:
                return self._attempt(request, read)
            except (ApiError, NoAnswerError) as error:
                seconds = wait_seconds(error, tries)
                is_over = tries >= self.settings.retries or seconds > MAX_RETRY_AFTER_SECONDS
                if is_over or not request.is_repeatable or not is_transient(error):
                    raise
            time.sleep(seconds)
            tries += 1

    def _attempt(self, request: Sent, read: Callable[[Response], T]) -> T:
        connection = self._pool.take()
        timeout = self.settings.timeout
        soon = time.monotonic() + timeout
        deadline = None if request.is_endless else soon
        close = connection.close
        try:
            if request.on_connection is not None:
                request.on_connection(connection)
            connection.open(soon)
            connection.limit(deadline=deadline, silence=request.silence)
            answer = Response(self._pool, connection, self._exchange(connection, request))
            close = answer.close
            if 200 <= answer.head.status < 300:
                return read(answer)
            connection.limit(deadline=deadline or time.monotonic() + timeout)
            raise _error_of(answer)
        except (OSError, http.client.HTTPException) as error:
            close()
            why = f"within {timeout:g} s" if isinstance(error, (TimeoutError, socket.timeout)) else "or only a part of it"
            url = self._address.url + self._address.prefix
            raise NoAnswerError(f"{request.method} {url}/api/v1{request.path} got no answer {why}") from error
        except BaseException:
            close()
            raise

    def _exchange(self, connection: Connection, request: Sent) -> http.client.HTTPResponse:
        body = request.body
        connection.start(request.method, f"{self._address.prefix}/api/v1{request.path}", self._headers(request))
        if body is None:
            return connection.answer()
        try:
            for part in body.parts():
                connection.send(part if body.size is not None else b"%x\r\n%b\r\n" % (len(part), part))
            if body.size is None:
                connection.send(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError) as error:
            # The server may have refused the body before its end, and said why.
            return _early_answer(connection, error)
        return connection.answer()

    def _headers(self, request: Sent) -> list[tuple[str, str]]:
        headers = [("User-Agent", f"switchboard-client-python/{VERSION}"), *self.settings.headers]
        if self.settings.credential is not None:
            headers.append(("Authorization", f"Bearer {self.settings.credential}"))
        body = request.body
        if body is not None:
            length = ("Transfer-Encoding", "chunked") if body.size is None else ("Content-Length", str(body.size))
            headers.append(length)
            if body.content_type is not None:
                headers.append(("Content-Type", body.content_type))
        elif request.method not in ("GET", "DELETE"):
            headers.append(("Content-Length", "0"))
        return [*headers, *request.headers]


def read_json(response: Response) -> Any:
    try:
        return json.loads(response.read())
    except ValueError as error:
        raise NoAnswerError("The answer is not JSON") from error
    finally:
        response.close()


def is_transient(error: SwitchboardError) -> bool:
    """Whether to retry a request after this error."""
    if not isinstance(error, ApiError):
        return True
    # The server still works on the previous try, whose answer was lost.
    if error.code == "idempotency_in_flight":
        return True
    # The network refused the message and would refuse it again.
    return error.status in REPEATABLE_STATUS and error.code != "send_failed"


def is_break(error: ApiError) -> bool:
    """Whether a reader of events continues after this error: the server does not work now, and refuses nothing."""
    return error.status >= 500 or error.status == 429


def wait_seconds(error: SwitchboardError, tries: int) -> float:
    """`Retry-After`, or exponential backoff with jitter."""
    if isinstance(error, ApiError) and error.retry_after is not None:
        return error.retry_after
    return back_off(tries)


def back_off(tries: int) -> float:
    return min(MAX_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(tries, 20)) * random.uniform(0.5, 1)


def new_key() -> str:
    return secrets.token_hex(16)


def quote(value: str) -> str:
    """Encodes an id for a path. Raises `ValueError` for one that would lead to another route."""
    if value in ("", ".", ".."):
        raise ValueError(f'"{value}" is not an id')
    return _quote(value, safe="")


def query_of(fields: Mapping[str, Any]) -> str:
    given = {name: _text(value) for name, value in fields.items() if value is not UNSET}
    return f"?{urlencode(given)}" if given else ""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return str(value)
    return ",".join(_text(one) for one in value)


def _json_body(fields: Mapping[str, Any]) -> Body:
    given = {name: value for name, value in fields.items() if value is not UNSET}
    data = json.dumps(given, ensure_ascii=False, allow_nan=False, default=_plain).encode()
    return Body(lambda: iter((data,)), len(data), "application/json")


def _plain(value: object) -> Union[dict[Any, Any], list[Any], str]:
    """Accepts the times, mappings and sequences that `json` does not know."""
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if isinstance(value, Iterable):
        return list(cast("Iterable[Any]", value))
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def _time(value: datetime) -> str:
    # The machine that runs this may be in another time zone than its user means.
    if value.utcoffset() is None:
        raise ValueError("A datetime must have a time zone, such as datetime.now(timezone.utc)")
    return value.astimezone(timezone.utc).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _early_answer(connection: Connection, error: OSError) -> http.client.HTTPResponse:
    try:
        response = connection.answer()
    except (OSError, http.client.HTTPException):
        raise error from None
    # The rest of the request was not sent.
    response.will_close = True
    return response


def _error_of(response: Response) -> ApiError:
    """Reads the error from a response."""
    head = response.head
    problem: object = None
    try:
        problem = json.loads(response.read(_MAX_ERROR_BYTES))
    except (SwitchboardError, ValueError, RecursionError):
        pass
    finally:
        response.close()
    fields = cast("dict[str, Any]", problem) if isinstance(problem, dict) else {}
    status = head.status
    cause = BY_STATUS.get(status, ServerError if status >= 500 else ValidationError)
    retry_after = _seconds_of(head.headers.get("Retry-After"))
    if isinstance(fields.get("code"), str) and "detail" in fields:
        return cause(
            str(fields["detail"]),
            status=status,
            code=fields["code"],
            request_id=str(fields.get("requestId", "")),
            fields=_fields_of(fields.get("errors")),
            retry_after=retry_after,
        )
    # A proxy answered in place of the server.
    return cause(
        f"Answered {status} {head.reason} without a problem document",
        status=status,
        code="internal_error",
        request_id=head.headers.get("X-Request-Id", ""),
        retry_after=retry_after,
    )


def _fields_of(errors: Any) -> list[FieldError]:
    if not isinstance(errors, list):
        return []
    return [
        FieldError(
            field=str(error.get("field", "")), code=str(error.get("code", "")), message=str(error.get("message", ""))
        )
        for error in cast("list[dict[str, Any]]", errors)
        if isinstance(cast(object, error), dict)
    ]


def _seconds_of(retry_after: Optional[str]) -> Optional[float]:
    """Reads seconds or a date, which a proxy may send (RFC 9110, 10.2.3)."""
    if retry_after is None:
        return None
    if re.fullmatch(r"[0-9]{1,12}", retry_after):
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
