"""Requests, retries and connections, against a small server with faults."""

import io
import json
import re
import socket
import tempfile
import threading
import unittest
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from email.message import Message
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional
from unittest import mock

from switchboard_client import (
    ApiError,
    Client,
    NoAnswerError,
    RateLimitError,
    ServerError,
    ValidationError,
)

EMPTY: dict[str, Any] = {"data": [], "nextCursor": None}


class Seen(NamedTuple):
    method: str
    path: str
    headers: Message
    body: bytes


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Server"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def handle_request(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while True:
                size = int(self.rfile.readline(), 16)
                body += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    break
        else:
            body = self.rfile.read(length)
        self.server.seen.append(Seen(self.command, self.path, self.headers, body))
        self.server.answer(self)

    do_GET = do_POST = do_PATCH = do_DELETE = handle_request

    def reply(self, status: int, body: Any = EMPTY, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Callable[[Handler], None]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.seen: list[Seen] = []
        self.connections = 0
        self.thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # the client hung up, as some tests want

    def get_request(self) -> Any:
        self.connections += 1
        return super().get_request()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def keys(self) -> list[Optional[str]]:
        return [request.headers.get("Idempotency-Key") for request in self.seen]


class TransportTest(unittest.TestCase):
    def setUp(self) -> None:
        self.waited: list[float] = []
        patch = mock.patch("switchboard_client._transport.time.sleep", self.waited.append)
        patch.start()
        self.addCleanup(patch.stop)

    def serve(self, answer: Callable[[Handler], None], **options: Any) -> tuple[Server, Client]:
        server = Server(answer)
        client = Client(server.url, "key", **options)

        def stop() -> None:
            client.close()
            server.shutdown()
            server.server_close()

        self.addCleanup(stop)
        return server, client

    def failing(self, times: int, status: int, body: Any = b"busy", **headers: str) -> tuple[Server, Client]:
        """Returns a server that fails a number of times before it succeeds."""

        def answer(handler: Handler) -> None:
            if len(handler.server.seen) > times:
                handler.reply(200)
            elif status == 0:
                handler.close_connection = True
            else:
                handler.reply(status, body, **headers)
                handler.close_connection = "Content_Length" in headers

        return self.serve(answer)


def problem(status: int, code: str) -> dict[str, Any]:
    return {"type": "about:blank", "title": "x", "status": status, "detail": "why", "code": code, "requestId": "req_x"}


class PathTest(TransportTest):
    def test_reject_an_id_that_would_lead_to_another_route(self) -> None:
        server, client = self.failing(0, 0)
        for value in ("", ".", ".."):
            with self.assertRaisesRegex(ValueError, f'^"{re.escape(value)}" is not an id$'):
                client.webhooks.endpoints.delete(value)
            with self.assertRaises(ValueError):
                client.media.download(value)
            with self.assertRaises(ValueError):
                client.sessions.get(value)
        self.assertEqual(server.seen, [])
        client.sessions.get("../auth/me")
        self.assertEqual(server.seen[0].path, "/api/v1/sessions/..%2Fauth%2Fme")


class RetryTest(TransportTest):
    def test_wait_as_long_as_retry_after_says(self) -> None:
        server, client = self.failing(1, 429, Retry_After="7")
        client.sessions.list()
        self.assertEqual((len(server.seen), self.waited), (2, [7.0]))

    def test_send_a_message_once_under_one_key(self) -> None:
        server, client = self.failing(2, 0)
        client.messages.send(to="491707654321", message="x")
        keys = server.keys()
        self.assertEqual(len(keys), 3)
        self.assertEqual(len(set(keys)), 1)
        self.assertRegex(keys[0] or "", "^[0-9a-f]{32}$")
        self.assertTrue(0.125 <= self.waited[0] <= 0.25 and 0.25 <= self.waited[1] <= 0.5, self.waited)

    def test_keep_the_key_of_the_caller(self) -> None:
        server, client = self.failing(0, 0)
        client.messages.send(to="491707654321", message="x", idempotency_key="mine")
        self.assertEqual(server.keys(), ["mine"])

    def test_exclude_unsafe_requests_and_permanent_errors(self) -> None:
        server, client = self.failing(9, 503)
        with self.assertRaises(ServerError):
            client.webhooks.replay(delivery_ids=["dlv_1"])
        with self.assertRaises(ServerError):
            client.webhooks.test()
        self.assertEqual(len(server.seen), 2)
        server, client = self.failing(9, 400)
        with self.assertRaises(ValidationError):
            client.sessions.list()
        self.assertEqual(len(server.seen), 1)

    def test_exclude_messages_that_the_network_rejected(self) -> None:
        server, client = self.failing(9, 502, problem(502, "send_failed"))
        with self.assertRaises(ServerError):
            client.messages.send(to="491707654321", message="x")
        self.assertEqual(len(server.seen), 1)

    def test_wait_while_an_earlier_attempt_is_in_progress(self) -> None:
        server, client = self.failing(2, 409, problem(409, "idempotency_in_flight"))
        client.messages.send(to="491707654321", message="x")
        self.assertEqual(len(server.seen), 3)

    def test_never_wait_for_an_hour(self) -> None:
        server, client = self.failing(9, 429, Retry_After="3600")
        with self.assertRaises(RateLimitError) as raised:
            client.sessions.list()
        self.assertEqual((raised.exception.retry_after, len(server.seen)), (3600.0, 1))

    def test_repeat_a_response_that_ended_early(self) -> None:
        server, client = self.failing(1, 200, b"{", Content_Length="1000")
        self.assertEqual(client.sessions.list()["data"], [])
        self.assertEqual(len(server.seen), 2)

    def test_stop_after_the_third(self) -> None:
        server, client = self.failing(9, 429)
        with self.assertRaises(RateLimitError):
            client.sessions.list()
        self.assertEqual(len(server.seen), 4)
        with self.assertRaises(RateLimitError):
            client.with_options(retries=0).sessions.list()
        self.assertEqual(len(server.seen), 5)


class ErrorTest(TransportTest):
    def test_carry_the_fields_of_the_problem(self) -> None:
        errors = [{"field": "to", "code": "invalid", "message": "not a number"}]
        _, client = self.serve(lambda handler: handler.reply(400, {**problem(400, "validation_failed"), "errors": errors}))
        with self.assertRaisesRegex(ValidationError, "^why$") as raised:
            client.messages.send(to="x", message="x")
        error = raised.exception
        self.assertEqual((error.status, error.code, error.request_id), (400, "validation_failed", "req_x"))
        self.assertEqual(error.fields, tuple(errors))

    def test_survive_the_answer_of_a_proxy(self) -> None:
        for body in (b"<html>", b"[]", b'{"code":1}', b"[" * 100_000, b"x" * 3_000_000):
            _, client = self.serve(partial(Handler.reply, status=404, body=body))
            with self.assertRaises(ApiError) as raised:
                client.webhooks.get()
            self.assertEqual((raised.exception.status, raised.exception.code), (404, "internal_error"))

    def test_name_a_server_that_cannot_be_reached(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        with self.assertRaisesRegex(NoAnswerError, f"GET http://127.0.0.1:{port}/api/v1/sessions "):
            Client(f"http://127.0.0.1:{port}", retries=0).sessions.list()

    def test_end_a_slow_answer_at_the_deadline(self) -> None:
        released = threading.Event()
        self.addCleanup(released.set)

        def trickle(handler: Handler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", "100000")
            handler.end_headers()
            # Each byte would restart the timeout of a socket.
            while not released.wait(0.02):
                try:
                    handler.wfile.write(b" ")
                except OSError:
                    return

        _, client = self.serve(trickle, timeout=0.3, retries=0)
        with self.assertRaises(NoAnswerError):
            client.sessions.list()

    def test_refuse_addresses_that_are_no_server(self) -> None:
        for address in ("gateway.example.com", "ftp://x", "http://", "http://user@x", "http://x?key=1"):
            with self.subTest(address), self.assertRaises(ValueError):
                Client(address)


class RequestTest(TransportTest):
    def test_send_times_in_utc(self) -> None:
        server, client = self.serve(lambda handler: handler.reply(200))
        at = datetime(2026, 3, 1, 9, 30, 0, 250_000, tzinfo=timezone(timedelta(hours=5, minutes=30)))
        client.messages.send(to="491707654321", message="x", send_at=at)
        client.messages.list(after_time=at, before_time="2026-04-01T00:00:00Z")
        client.chats.update("491707654321", muted_until=at)
        self.assertEqual(json.loads(server.seen[0].body)["sendAt"], "2026-03-01T04:00:00.250Z")
        self.assertIn("afterTime=2026-03-01T04%3A00%3A00.250Z&beforeTime=2026-04-01", server.seen[1].path)
        self.assertEqual(json.loads(server.seen[2].body), {"mutedUntil": "2026-03-01T04:00:00.250Z"})

    def test_refuse_times_without_a_time_zone(self) -> None:
        server, client = self.serve(lambda handler: handler.reply(200))
        with self.assertRaisesRegex(ValueError, "time zone"):
            client.messages.send(to="491707654321", message="x", send_at=datetime(2026, 3, 1))
        with self.assertRaisesRegex(ValueError, "time zone"):
            client.messages.list(after_time=datetime(2026, 3, 1))
        self.assertEqual(server.seen, [])

    def test_place_fields_in_path_query_and_body(self) -> None:
        server, client = self.failing(0, 0)
        client.chats.update("49/170", muted_until=None, archived=False)
        client.contacts.check(phone_numbers=["1", "2"])
        client.messages.list(from_="491701234567", limit=2)
        client.messages.delete("msg_1")
        lines = [f"{request.method} {request.path}" for request in server.seen]
        self.assertEqual(
            lines,
            [
                "PATCH /api/v1/chats/49%2F170",
                "GET /api/v1/contacts/check?phoneNumbers=1%2C2",
                "GET /api/v1/messages?from=491701234567&limit=2",
                "DELETE /api/v1/messages/msg_1",
            ],
        )
        self.assertEqual(json.loads(server.seen[0].body), {"mutedUntil": None, "archived": False})

    def test_send_the_credential_and_the_headers_of_the_client(self) -> None:
        server, client = self.failing(0, 0)
        client.with_options(headers={"X-Trace": "1"}).sessions.list()
        headers = server.seen[0].headers
        self.assertEqual((headers["Authorization"], headers["X-Trace"]), ("Bearer key", "1"))

    def test_use_the_path_of_the_address(self) -> None:
        server, _ = self.failing(0, 0)
        with Client(f"{server.url}/gateway/") as client:
            client.sessions.list()
        self.assertEqual(server.seen[0].path, "/gateway/api/v1/sessions")

    def test_iterate_over_all_pages(self) -> None:
        def answer(handler: Handler) -> None:
            page = len(handler.server.seen)
            handler.reply(200, {"data": [{"messageId": str(page)}], "nextCursor": None if page == 3 else f"c{page}"})

        server, client = self.serve(answer)
        ids = [message["messageId"] for message in client.messages.list_all(chat_id="1")]
        self.assertEqual(ids, ["1", "2", "3"])
        self.assertTrue(server.seen[2].path.endswith("?chatId=1&cursor=c2"))


class ConnectionTest(TransportTest):
    def test_is_reused(self) -> None:
        server, client = self.failing(0, 0)
        for _ in range(5):
            client.sessions.list()
        client.with_options(timeout=1).sessions.list()
        self.assertEqual(server.connections, 1)

    def test_is_not_reused_after_the_server_closed_it(self) -> None:
        closed = threading.Event()

        def answer(handler: Handler) -> None:
            handler.reply(200, Keep_Alive="timeout=60")
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
            closed.set()

        server, client = self.serve(answer)
        # Not repeatable, so a closed connection would be an error.
        for _ in range(3):
            client.webhooks.replay(delivery_ids=["dlv_1"])
            closed.wait()
            closed.clear()
        self.assertEqual(server.connections, 3)

    def test_is_not_shared_by_threads_at_a_time(self) -> None:
        together = threading.Barrier(8)

        def answer(handler: Handler) -> None:
            if len(handler.server.seen) <= 8:
                together.wait()
            handler.reply(200, {"messageId": handler.path.rsplit("/", 1)[1]})

        server, client = self.serve(answer)
        wrong: list[str] = []

        def work(number: int) -> None:
            for index in range(50):
                wanted = f"{number}-{index}"
                if client.messages.get(wanted)["messageId"] != wanted:
                    wrong.append(wanted)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((wrong, len(server.seen), server.connections), ([], 400, 8))

    def test_is_not_reused_after_a_partial_download(self) -> None:
        server, client = self.serve(lambda handler: handler.reply(200, b"x" * 300_000))
        with client.media.download("med_1") as download:
            self.assertEqual(download.read(10), b"x" * 10)
        with client.media.download("med_1") as download:
            self.assertEqual(len(download.read()), 300_000)
        self.assertEqual(len(b"".join(client.media.download("med_1"))), 300_000)
        self.assertEqual(server.connections, 2)

    def test_cannot_be_used_after_close(self) -> None:
        _, client = self.failing(0, 0)
        client.close()
        with self.assertRaises(RuntimeError):
            client.sessions.list()


class MediaTest(TransportTest):
    def test_upload_any_kind_of_content(self) -> None:
        data = bytes(range(256)) * 1000
        server, client = self.serve(lambda handler: handler.reply(200, {}))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a file.bin"
            path.write_bytes(data)
            opened = io.BytesIO(b"skipped" + data)
            opened.seek(7)
            contents: list[Any] = [data, bytearray(data), memoryview(data), path, opened, iter([data[:9], b"", data[9:]])]
            for content in contents:
                client.media.upload(content)
            self.assertEqual([request.body for request in server.seen], [data] * 6)
            self.assertTrue(server.seen[3].path.endswith("?fileName=a+file.bin"))
        client.media.upload("Grüße", file_name="a.txt")
        request = server.seen[-1]
        self.assertEqual((request.body.decode(), request.headers["Content-Type"]), ("Grüße", "text/plain; charset=utf-8"))

    def test_repeat_an_upload_from_its_start(self) -> None:
        server, client = self.failing(1, 503)
        opened = io.BytesIO(b"skipped content")
        opened.seek(8)
        client.media.upload(opened)
        self.assertEqual([request.body for request in server.seen], [b"content"] * 2)

    def test_send_content_once_that_can_be_read_once(self) -> None:
        server, client = self.failing(1, 503)
        parts: Iterator[bytes] = iter([b"content"])
        with self.assertRaises(ServerError):
            client.media.upload(parts)
        self.assertEqual(len(server.seen), 1)

    def test_raise_the_refusal_of_an_upload_that_was_not_read(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def refuse() -> None:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(1000)
                    connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
                    connection.shutdown(socket.SHUT_WR)
                    # Reads on, as servers do: otherwise the answer could get lost with the connection.
                    while connection.recv(1_000_000):
                        pass

            thread = threading.Thread(target=refuse, daemon=True)
            thread.start()
            with Client(f"http://127.0.0.1:{listener.getsockname()[1]}") as client:
                with self.assertRaises(ValidationError) as raised:
                    client.media.upload(b"x" * 20_000_000)
            self.assertEqual(raised.exception.status, 413)
            thread.join()

    def test_notice_a_download_that_ends_early(self) -> None:
        server, client = self.failing(9, 200, b"part", Content_Length="1000")
        with self.assertRaises(NoAnswerError), client.media.download("med_1") as download:
            for _ in download:
                pass
        self.assertEqual(len(server.seen), 1)


class AddressTest(TransportTest):
    def test_takes_the_prefix_of_the_api(self) -> None:
        server, client = self.serve(lambda handler: handler.reply(200, {"data": [], "nextCursor": None}))
        for suffix in ("", "/", "/api/v1", "/api/v1/"):
            with Client(server.url + suffix, "key") as other:
                other.sessions.list()
        self.assertEqual({request.path for request in server.seen}, {"/api/v1/sessions"})


class StreamTest(TransportTest):
    def test_resumes_after_the_last_event(self) -> None:
        released = threading.Event()
        self.addCleanup(released.set)

        def answer(handler: Handler) -> None:
            number = len(handler.server.seen)
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.send_header("Connection", "close")
            handler.end_headers()
            handler.wfile.write(b": connected\nid: start\n\n")
            event = json.dumps({"event": "message.sent", "data": {"messageId": str(number)}})
            handler.wfile.write(f"id: {number}\nevent: message.sent\ndata: {event}\n\n: heartbeat\n\n".encode())
            if number == 3:
                handler.wfile.flush()
                released.wait()

        server, client = self.serve(answer)
        with mock.patch("switchboard_client.stream.back_off", lambda _: 0.0):
            with client.events.stream(events=["message.*"], after="184.evt_1") as stream:
                ids = [next(stream)["id"] for _ in range(3)]
        self.assertEqual(ids, ["1", "2", "3"])
        resumed = [request.headers["Last-Event-ID"] for request in server.seen]
        self.assertEqual(resumed, ["184.evt_1", "1", "2"])
        self.assertEqual(stream.last_id, "3")
        self.assertTrue(server.seen[0].path.endswith("/events/stream?events=message.%2A"))

    def test_reports_truncation_and_continues_from_its_cursor(self) -> None:
        def answer(handler: Handler) -> None:
            handler.send_response(200)
            handler.send_header("Connection", "close")
            handler.end_headers()
            if len(handler.server.seen) == 1:
                handler.wfile.write(b': connected\nid: 7.evt_7.ab\nevent: truncated\ndata: {"cursor":"7.evt_7.ab"}\n\n')
            else:
                handler.wfile.write(b'id: 8.evt_8.ab\nevent: message.sent\ndata: {"event":"message.sent","data":{}}\n\n')

        server, client = self.serve(answer)
        seen: list[str] = []
        with mock.patch("switchboard_client.stream.back_off", lambda _: 0.0):
            with client.events.stream(after="9.evt_9", on_truncated=seen.append) as stream:
                self.assertEqual(next(stream), {"id": "8.evt_8.ab", "event": "message.sent", "data": {}})
        self.assertEqual(seen, ["7.evt_7.ab"])
        self.assertEqual([request.headers["Last-Event-ID"] for request in server.seen], ["9.evt_9", "7.evt_7.ab"])

    def test_raises_an_error_of_the_truncation_callback(self) -> None:
        def answer(handler: Handler) -> None:
            handler.send_response(200)
            handler.send_header("Connection", "close")
            handler.end_headers()
            handler.wfile.write(b'id: 7\nevent: truncated\ndata: {"cursor":"7"}\n\n')

        def fail(cursor: str) -> None:
            raise ValueError(cursor)

        server, client = self.serve(answer)
        with client.events.stream(after="9", on_truncated=fail) as stream:
            with self.assertRaisesRegex(ValueError, "^7$"):
                next(stream)
        self.assertEqual(len(server.seen), 1)

    def test_ends_when_another_thread_closes_it(self) -> None:
        released = threading.Event()
        begun = threading.Event()
        self.addCleanup(released.set)

        def answer(handler: Handler) -> None:
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(b": connected\nid: start\n\n")
            begun.set()
            released.wait()

        _, client = self.serve(answer)
        stream = client.events.stream()
        seen: list[Any] = []
        thread = threading.Thread(target=lambda: seen.extend(stream))
        thread.start()
        begun.wait()
        stream.close()
        thread.join(20)
        self.assertFalse(thread.is_alive())
        self.assertEqual(seen, [])

    def test_reconnects_when_its_connection_falls_silent(self) -> None:
        released = threading.Event()
        self.addCleanup(released.set)

        def answer(handler: Handler) -> None:
            handler.send_response(200)
            handler.end_headers()
            if len(handler.server.seen) >= 2:
                handler.wfile.write(b'id: 1\ndata: {"event":"message.sent","data":{}}\n\n')
            released.wait()

        server, client = self.serve(answer)
        with mock.patch("switchboard_client.stream.back_off", lambda _: 0.0):
            with client.events.stream(silence=0.2) as stream:
                self.assertEqual(next(stream)["id"], "1")
        self.assertGreaterEqual(len(server.seen), 2)

    def test_continues_after_an_internal_error(self) -> None:
        def answer(handler: Handler) -> None:
            if len(handler.server.seen) == 1:
                return handler.reply(500, problem(500, "internal_error"))
            handler.send_response(200)
            handler.send_header("Connection", "close")
            handler.end_headers()
            handler.wfile.write(b'id: 1\ndata: {"event":"message.sent","data":{}}\n\n')

        _, client = self.serve(answer)
        with mock.patch("switchboard_client.stream.back_off", lambda _: 0.0):
            with client.events.stream() as stream:
                self.assertEqual(next(stream)["id"], "1")

    def test_raises_a_refusal(self) -> None:
        server, client = self.serve(lambda handler: handler.reply(401, problem(401, "unauthorized")))
        with self.assertRaises(ApiError):
            next(client.events.stream())
        self.assertEqual(len(server.seen), 1)
