"""Verifies and parses webhook deliveries.

>>> import base64, hashlib, hmac
>>> body = b'{"event":"message.queued","data":{}}'
>>> key = hmac.new(b"secret", b"evt_1.1767323045." + body, hashlib.sha256).digest()
>>> headers = {
...     "Webhook-Id": "evt_1",
...     "Webhook-Timestamp": "1767323045",
...     "Webhook-Signature": "v1," + base64.b64encode(key).decode(),
... }
>>> verify(body, headers, "secret", now=1767323045).id
'evt_1'
>>> verify(body + b" ", headers, "secret", now=1767323045)
Traceback (most recent call last):
switchboard_client.webhooks.WebhookVerificationError: bad_signature
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Optional, Protocol, Union, cast, overload

from .errors import SwitchboardError
from .events import EVENT_FIELDS, KnownEvent

DEFAULT_TOLERANCE_SECONDS = 300.0

Text = Union[str, bytes]


class HasItems(Protocol):
    """A mapping of headers, such as those of `http.server`, Flask, Django or requests."""

    def items(self) -> Iterable[tuple[Any, Any]]: ...


Headers = Union[HasItems, Iterable[tuple[Text, Text]]]
"""A request's headers: a mapping, or pairs such as those of ASGI. Names in any case."""

RefusalReason = Literal[
    # Neither `webhook-signature` nor `X-Webhook-Signature` is present. The webhook may have no secret.
    "missing_signature",
    # Only `X-Webhook-Signature` is present, and `require` is `standard`.
    "standard_signature_required",
    "missing_id",
    # `webhook-id` contains a dot, which Standard Webhooks forbids.
    "invalid_id",
    "missing_timestamp",
    # The timestamp is not a whole number of seconds.
    "invalid_timestamp",
    # The delivery is a replay, or one of the two clocks is wrong.
    "timestamp_out_of_tolerance",
    # The secret is wrong, or the body or a signed header was changed.
    "bad_signature",
]


class WebhookVerificationError(SwitchboardError):
    """The delivery was not signed with the secret. Answer 401."""

    def __init__(self, reason: RefusalReason) -> None:
        super().__init__(reason)
        self.reason = reason


class WebhookBodyError(SwitchboardError):
    """The body is not an event. The message says why, and contains no text of the body."""


class Verified(NamedTuple):
    """The verified facts of a delivery, all of which its signature covers."""

    scheme: Literal["standard"]
    id: str
    """Id of the event, the same on every attempt. Store it to recognize an event that arrives twice."""
    timestamp: int
    """Time of this attempt, in Unix seconds."""


class BodyVerified(NamedTuple):
    """A delivery whose signature covers the body alone, which only `require="any"` accepts."""

    scheme: Literal["body_only"] = "body_only"
    id: None = None
    timestamp: None = None


class UnknownEvent(NamedTuple):
    """An event of a type that this version does not know."""

    kind: str
    """The event type as it was sent."""
    data: dict[str, Any]


class VerifiedEvent(NamedTuple):
    """A verified delivery and its event."""

    verified: Verified
    event: Union[KnownEvent, UnknownEvent]


class BodyVerifiedEvent(NamedTuple):
    """A delivery and its event, with a signature of the body alone."""

    verified: BodyVerified
    event: Union[KnownEvent, UnknownEvent]


class _Delivery(NamedTuple):
    body: bytes
    headers: dict[str, str]
    secrets: tuple[bytes, ...]
    tolerance: float
    now: int


@overload
def verify(
    body: Text,
    headers: Headers,
    secret: Union[str, Sequence[str]],
    *,
    require: Literal["standard"] = "standard",
    tolerance: float = DEFAULT_TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> Verified: ...


@overload
def verify(
    body: Text,
    headers: Headers,
    secret: Union[str, Sequence[str]],
    *,
    require: Literal["standard", "any"],
    tolerance: float = DEFAULT_TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> Union[Verified, BodyVerified]: ...


def verify(
    body: Text,
    headers: Headers,
    secret: Union[str, Sequence[str]],
    *,
    require: Literal["standard", "any"] = "standard",
    tolerance: float = DEFAULT_TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> Union[Verified, BodyVerified]:
    """Verify that a delivery was signed with the secret.

    There are two signatures. If `webhook-signature` is present, it alone decides, even with `require="any"`:

    - `webhook-signature` (Standard Webhooks) covers the id, the timestamp and the body. During a rotation, the old
      and the new secret both sign, and one match is enough.
    - `X-Webhook-Signature` covers the body alone. An attacker who has seen a delivery can replay it with a new
      timestamp and id, so `require="any"` is only for receivers behind a proxy that drops `webhook-*` headers.

    :param body: The body exactly as received, before any JSON parser.
    :param headers: The headers of the request.
    :param secret: The webhook's secret. In a list, any secret may match, so that a receiver can switch to a new
        secret before or after the server does.
    :param require: The signature that is required.
    :param tolerance: Maximum difference between the delivery's timestamp and `now`, in seconds.
    :param now: Current time in seconds since the Unix epoch.
    :raises WebhookVerificationError: if the delivery is refused.
    :raises TypeError: for mistakes of the caller: an empty secret, with which anyone can sign, or a parsed body.
    """
    delivery = _Delivery(
        _bytes_of(body),
        _read_headers(headers),
        _read_secrets(secret),
        tolerance,
        # Timestamps are whole seconds: without rounding, 300 s would be 300.9 s for most of the last second.
        int(time.time() if now is None else now),
    )
    if "webhook-signature" in delivery.headers:
        return _verify_standard(delivery)
    if "x-webhook-signature" not in delivery.headers:
        raise WebhookVerificationError("missing_signature")
    if require != "any":
        raise WebhookVerificationError("standard_signature_required")
    return _verify_body_only(delivery)


@overload
def verify_and_parse(
    body: Text,
    headers: Headers,
    secret: Union[str, Sequence[str]],
    *,
    require: Literal["standard"] = "standard",
    tolerance: float = DEFAULT_TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> VerifiedEvent: ...


@overload
def verify_and_parse(
    body: Text,
    headers: Headers,
    secret: Union[str, Sequence[str]],
    *,
    require: Literal["standard", "any"],
    tolerance: float = DEFAULT_TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> Union[VerifiedEvent, BodyVerifiedEvent]: ...


def verify_and_parse(
    body: Text,
    headers: Headers,
    secret: Union[str, Sequence[str]],
    *,
    require: Literal["standard", "any"] = "standard",
    tolerance: float = DEFAULT_TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> Union[VerifiedEvent, BodyVerifiedEvent]:
    """Verify a delivery and parse its body. An unverified body is never parsed.

    :raises WebhookVerificationError: as `verify` does.
    :raises WebhookBodyError: if the signature is valid but the body is not an event.
    """
    data = _bytes_of(body)
    verified = verify(data, headers, secret, require=require, tolerance=tolerance, now=now)
    event = parse(data)
    if verified.scheme == "standard":
        return VerifiedEvent(verified, event)
    return BodyVerifiedEvent(verified, event)


def parse(body: Text) -> Union[KnownEvent, UnknownEvent]:
    """Parse the body of a delivery without verifying it. Call `verify` first, or use `verify_and_parse`.

    A receiver survives a newer server: an event type that this version does not know is returned as `UnknownEvent`,
    and unknown fields stay in `data`. Known fields have their documented type.

    :raises WebhookBodyError: if the body is not an event, or a field is missing or has another type.
    """
    envelope: object = None
    try:
        envelope = json.loads(_bytes_of(body).decode("utf-8"))
    except (ValueError, RecursionError):
        # Without the cause, which quotes the body: it would end up in a log.
        raise WebhookBodyError("The body is not JSON in UTF-8") from None
    if not isinstance(envelope, dict):
        raise WebhookBodyError("The body is not a JSON object")
    fields = cast("dict[str, Any]", envelope)
    kind, data = fields.get("event"), fields.get("data")
    if not isinstance(kind, str):
        raise WebhookBodyError("The body has no `event`")
    if not isinstance(data, dict):
        raise WebhookBodyError("The body has no `data` object")
    values = cast("dict[str, Any]", data)
    checks = EVENT_FIELDS.get(kind)
    if checks is None:
        return UnknownEvent(kind, values)
    for field, check in checks.items():
        if not _passes(field in values, values.get(field), check):
            raise WebhookBodyError(f"`data.{field}` of {kind} is missing or not of its type")
    return cast(KnownEvent, {"event": kind, "data": values})


def _verify_standard(delivery: _Delivery) -> Verified:
    id = delivery.headers.get("webhook-id", "")
    timestamp = delivery.headers.get("webhook-timestamp", "")
    if id == "":
        raise WebhookVerificationError("missing_id")
    # The same key signs bare bodies for X-Webhook-Signature. If an id could contain dots, a body could be cut into id,
    # timestamp and rest, and its X- signature would be valid here.
    if "." in id:
        raise WebhookVerificationError("invalid_id")
    if timestamp == "":
        raise WebhookVerificationError("missing_timestamp")
    seconds = _check_timestamp(timestamp, delivery)

    # Merged header lines are joined by a comma. Other versions, such as `v1a`, match nothing.
    listed = [_encode(one) for one in re.split(r",? +", delivery.headers["webhook-signature"])]
    signed = _encode(f"{id}.{timestamp}.") + delivery.body
    # One HMAC for each secret, however many signatures a request lists.
    for secret in delivery.secrets:
        expected = b"v1," + base64.b64encode(_hmac(secret, signed))
        if any(hmac.compare_digest(one, expected) for one in listed):
            return Verified("standard", id, seconds)
    raise WebhookVerificationError("bad_signature")


def _verify_body_only(delivery: _Delivery) -> BodyVerified:
    timestamp = delivery.headers.get("x-webhook-timestamp")
    if timestamp is not None:
        _check_timestamp(timestamp, delivery)
    signature = _encode(delivery.headers["x-webhook-signature"])
    for secret in delivery.secrets:
        expected = b"sha256=" + _hmac(secret, delivery.body).hex().encode()
        if hmac.compare_digest(signature, expected):
            return BodyVerified()
    raise WebhookVerificationError("bad_signature")


def _check_timestamp(timestamp: str, delivery: _Delivery) -> int:
    # `int` would accept spaces, underscores and the digits of other scripts.
    if not re.fullmatch(r"[0-9]+", timestamp):
        raise WebhookVerificationError("invalid_timestamp")
    # `int` refuses thousands of digits.
    seconds = int(timestamp[:20])
    # Written so that NaN in `now` or `tolerance` refuses.
    if not abs(delivery.now - seconds) <= delivery.tolerance:
        raise WebhookVerificationError("timestamp_out_of_tolerance")
    return seconds


def _hmac(secret: bytes, message: bytes) -> bytes:
    return hmac.new(secret, message, hashlib.sha256).digest()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _bytes_of(body: Text) -> bytes:
    if isinstance(body, str):
        return body.encode("utf-8")
    # Type checkers believe the annotation; callers pass parsed JSON anyway.
    if not isinstance(cast(object, body), (bytes, bytearray, memoryview)):
        raise TypeError("`body` must be the raw body as bytes or a string, not parsed JSON")
    return bytes(body)


def _read_secrets(secret: Union[str, Sequence[str]]) -> tuple[bytes, ...]:
    secrets = [secret] if isinstance(secret, str) else list(secret)
    # Anyone can sign with an empty key: `os.environ.get("SECRET", "")` must fail.
    if not secrets or not all(isinstance(cast(object, one), str) and one != "" for one in secrets):
        raise TypeError("`secret` must be a string that is not empty, or a list of such strings")
    return tuple(_encode(one) for one in secrets)


def _read_headers(headers: Headers) -> dict[str, str]:
    """Several values of one name count as one value, joined by a comma."""
    items = getattr(headers, "items", None)
    pairs = cast("Iterable[tuple[Any, Any]]", headers if items is None else items())
    read: dict[str, str] = {}
    for name, value in pairs:
        if value is None:
            continue
        values: list[Any] = [value] if isinstance(value, (str, bytes)) else list(value)
        key = _header_text(name).lower()
        text = ", ".join(_header_text(one) for one in values)
        read[key] = f"{read[key]}, {text}" if key in read else text
    return read


def _header_text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


_TYPES: Mapping[str, Union[type, tuple[type, ...]]] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
}


def _passes(is_present: bool, value: object, check: object) -> bool:
    if isinstance(check, list):
        return _is_list_of(value, cast("list[Any]", check)[0])
    if isinstance(check, dict):
        inner = cast("dict[str, Any]", check)
        if not isinstance(value, dict):
            return False
        members = cast("dict[str, Any]", value)
        return all(_passes(name in members, members.get(name), one) for name, one in inner.items())
    text = str(check)
    if text.endswith("?"):
        return not is_present or _passes(True, value, text[:-1])
    if not is_present:
        return False
    if text.endswith("|null"):
        return value is None or _passes(True, value, text[: -len("|null")])
    if text.endswith("[]"):
        return _is_list_of(value, text[:-2])
    if text == "true":
        return value is True
    # A boolean is an int in Python.
    return isinstance(value, _TYPES[text]) and (text == "boolean" or not isinstance(value, bool))


def _is_list_of(value: object, check: object) -> bool:
    return isinstance(value, list) and all(_passes(True, item, check) for item in cast("list[Any]", value))
