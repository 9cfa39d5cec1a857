"""The verifier, with the cases that all clients share."""

import doctest
import json
import unittest
from email.message import Message
from pathlib import Path
from typing import Any, get_type_hints

from switchboard_client import webhooks
from switchboard_client.webhooks import (
    UnknownEvent,
    WebhookBodyError,
    WebhookVerificationError,
    parse,
    verify,
    verify_and_parse,
)

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "vectors.json").read_text("utf-8"))


def verified(case: dict[str, Any], **changes: Any) -> str:
    case = {**case, **changes}
    try:
        scheme: str = verify(
            case["body"].encode(), case["headers"], case["secrets"], require=case["require"], now=case["now"]
        ).scheme
        return scheme
    except WebhookVerificationError as error:
        return error.reason


class VerifyTest(unittest.TestCase):
    def test_shared_cases(self) -> None:
        for case in VECTORS:
            with self.subTest(case["title"]):
                self.assertEqual(verified(case), case["expected"])

    def test_returns_the_signed_facts(self) -> None:
        case = VECTORS[0]
        result = verify(case["body"], case["headers"], case["secrets"][0], now=case["now"])
        self.assertEqual(result.id, case["headers"]["webhook-id"])
        self.assertEqual(result.timestamp, int(case["headers"]["webhook-timestamp"]))

    def test_has_an_id_unless_the_signature_covers_the_body_alone(self) -> None:
        self.assertEqual(get_type_hints(webhooks.Verified)["id"], str)
        case = next(case for case in VECTORS if case["expected"] == "standard")
        facts = verify(case["body"], case["headers"], case["secrets"], now=case["now"])
        self.assertEqual(facts.id, case["headers"]["webhook-id"])
        case = next(case for case in VECTORS if case["expected"] == "body_only")
        weak = verify_and_parse(case["body"], case["headers"], case["secrets"], require="any", now=case["now"])
        self.assertIsInstance(weak, webhooks.BodyVerifiedEvent)
        self.assertEqual(weak.verified, webhooks.BodyVerified("body_only", None, None))

    def test_accepts_the_headers_of_common_servers(self) -> None:
        case = VECTORS[0]
        message = Message()  # http.server
        for name, value in case["headers"].items():
            message[name] = value
        pairs = [(name.lower().encode(), value.encode()) for name, value in case["headers"].items()]  # ASGI
        lists = {name: [value] for name, value in case["headers"].items()}
        for headers in (message, pairs, lists, {**lists, "other": None}):
            self.assertEqual(verified(case, headers=headers), "standard")

    def test_joins_repeated_headers(self) -> None:
        case = VECTORS[0]
        pairs = [*case["headers"].items(), ("Webhook-Signature", "v1,other")]
        self.assertEqual(verified(case, headers=pairs), "standard")

    def test_raises_type_errors_for_mistakes_of_the_caller(self) -> None:
        case = VECTORS[0]
        for secrets in ("", [], [""], ["good", ""], [None]):
            with self.assertRaises(TypeError):
                verified(case, secrets=secrets)
        with self.assertRaises(TypeError):
            verify({"event": "x"}, case["headers"], "secret")  # type: ignore[call-overload]  # pyright: ignore

    def test_refuses_a_tolerance_that_is_not_a_number(self) -> None:
        case = VECTORS[0]
        with self.assertRaises(WebhookVerificationError):
            verify(case["body"], case["headers"], case["secrets"], now=case["now"], tolerance=float("nan"))

    def test_documentation(self) -> None:
        self.assertEqual(doctest.testmod(webhooks).failed, 0)


class ParseTest(unittest.TestCase):
    def test_returns_the_event_of_a_verified_delivery(self) -> None:
        case = VECTORS[0]
        verified, event = verify_and_parse(case["body"], case["headers"], case["secrets"], now=case["now"])
        self.assertEqual(verified.scheme, "standard")
        assert not isinstance(event, UnknownEvent) and event["event"] == "message.incoming"
        self.assertEqual(event["data"]["message"], "Grüße 👋")

    def test_never_parses_an_unverified_body(self) -> None:
        case = VECTORS[0]
        with self.assertRaises(WebhookVerificationError):
            verify_and_parse("not JSON", case["headers"], case["secrets"], now=case["now"])

    def test_returns_events_of_newer_servers(self) -> None:
        event = parse('{"event":"message.translated","data":{"language":"en"}}')
        self.assertEqual(event, UnknownEvent("message.translated", {"language": "en"}))

    def test_refuses_a_body_that_is_not_an_event(self) -> None:
        bodies: list[bytes] = [
            b"",
            b"\xff",
            b"null",
            b"[]",
            b"{}",
            b'{"event":1,"data":{}}',
            b'{"event":"message.sent","data":[]}',
            b'{"event":"message.sent","data":{}}',
            b'{"event":"message.incoming","data":{"messageId":1,"from":"1","message":"x","timestamp":"x"}}',
            b"[" * 100_000,
        ]
        for body in bodies:
            with self.subTest(body[:40]), self.assertRaises(WebhookBodyError):
                parse(body)

    def test_checks_the_type_of_optional_fields(self) -> None:
        data = {"messageId": "msg_1", "from": "1", "message": "x", "timestamp": "x"}
        parse(json.dumps({"event": "message.incoming", "data": {**data, "sessionId": "ses_1", "more": 1}}))
        with self.assertRaisesRegex(WebhookBodyError, r"data\.sessionId"):
            parse(json.dumps({"event": "message.incoming", "data": {**data, "sessionId": True}}))
