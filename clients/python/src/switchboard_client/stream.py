"""The live stream of events."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Callable, Optional, Union, cast

from ._connection import Connection
from ._transport import Response, Sent, Transport, back_off, is_break, query_of
from .errors import ApiError, NoAnswerError
from .events import EventKind, StreamedEvent

_SILENCE_SECONDS = 45.0
# Far more than the largest event has.
_MAX_LINE_BYTES = 64 * 1024 * 1024


class EventStream(Iterator[StreamedEvent]):
    """Events as they happen, without a webhook. Reconnects without losing any.

    Iterate over it in one thread. Any thread can call `close`, which ends the iteration.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        events: Optional[Iterable[Union[EventKind, str]]] = None,
        after: Optional[str] = None,
        silence: float = _SILENCE_SECONDS,
        on_truncated: Optional[Callable[[str], None]] = None,
    ) -> None:
        self._transport = transport
        self._on_truncated = on_truncated
        self._truncated_at: Optional[str] = None
        self._query = {} if events is None else {"events": ",".join(events)}
        self._silence = silence
        self._failures = 0
        self._response: Optional[Response] = None
        self._connection: Optional[Connection] = None
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self.last_id = after
        """Where to resume: pass it as `after` after a restart."""

    def __iter__(self) -> EventStream:
        return self

    def __next__(self) -> StreamedEvent:
        while not self._closed.is_set():
            pause = None
            # Called outside of `try`, where an error of the callback does not count as a break of the connection.
            cursor, self._truncated_at = self._truncated_at, None
            if cursor is not None and self._on_truncated is not None:
                self._on_truncated(cursor)
            try:
                event = self._next_of_connection()
                if event is not None:
                    return event
                if self._truncated_at is not None:
                    continue
            except ApiError as error:
                if not is_break(error):
                    self.close()
                    raise
                pause = error.retry_after
            except (NoAnswerError, ValueError):
                pass
            except BaseException:
                self.close()
                raise
            self._disconnect()
            self._closed.wait(back_off(self._failures) if pause is None else pause)
            self._failures += 1
        self._disconnect()
        raise StopIteration

    def close(self) -> None:
        """Ends the stream, even while another thread waits for its next event."""
        with self._lock:
            self._closed.set()
            if self._connection is not None:
                self._connection.interrupt()

    def __enter__(self) -> EventStream:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()
        self._disconnect()

    def _next_of_connection(self) -> Optional[StreamedEvent]:
        """Returns the next event, or None at the end of the connection and at a truncation (`_truncated_at`)."""
        response = self._connected()
        event_id: Optional[str] = None
        kind: Optional[bytes] = None
        data: Optional[bytes] = None
        while True:
            line = response.readline(_MAX_LINE_BYTES)
            if not line.endswith(b"\n"):
                return None
            name, _, text = line.rstrip(b"\r\n").partition(b":")
            text = text[1:] if text.startswith(b" ") else text
            if name == b"id":
                event_id = text.decode("utf-8", "replace")
            elif name == b"event":
                kind = text
            elif name == b"data":
                data = text
            elif not line.strip() and event_id is not None:
                self._failures = 0
                self.last_id = event_id
                if kind == b"truncated":
                    self._truncated_at = event_id
                    return None
                # The first frame has no data unless it reports truncation: its id marks the start of the stream.
                if data is not None:
                    return cast(StreamedEvent, {"id": event_id, **json.loads(data)})
                event_id = None

    def _connected(self) -> Response:
        if self._response is not None:
            return self._response
        headers = (("Accept", "text/event-stream"),)
        resume = () if self.last_id is None else (("Last-Event-ID", self.last_id),)
        request = Sent(
            "GET",
            "/events/stream" + query_of(self._query),
            headers=headers + resume,
            is_endless=True,  # the stream reconnects by itself
            silence=self._silence,
            on_connection=self._watch,
        )
        self._response = self._transport.send(request, lambda answer: answer)
        return self._response

    def _watch(self, connection: Connection) -> None:
        with self._lock:
            self._connection = connection
            if self._closed.is_set():
                connection.interrupt()

    def _disconnect(self) -> None:
        with self._lock:
            self._connection = None
        response, self._response = self._response, None
        if response is not None:
            response.close()
