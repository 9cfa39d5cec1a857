"""The client of a Switchboard server."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Callable, Optional, Union

from . import operations
from ._connection import Address, Pool
from ._transport import Settings, Transport
from .events import EventKind
from .media import MediaWithFiles
from .stream import EventStream


class EventsWithStream(operations.EventsResource):
    """Read events without a webhook."""

    def stream(
        self,
        *,
        events: Optional[Iterable[Union[EventKind, str]]] = None,
        after: Optional[str] = None,
        silence: float = 45.0,
        on_truncated: Optional[Callable[[str], None]] = None,
    ) -> EventStream:
        """Stream events as they happen, starting with the next one. Reconnects without losing any.

        :param events: Event types, or patterns such as `message.*`. By default the first eight types of the list.
        :param after: The `id` of the last event that you received. The stream resumes after it.
        :param silence: Seconds without data until it reconnects. The server sends a heartbeat every 15 s.
        :param on_truncated: Called with the cursor from which the stream continues, if the server was restored from a
            backup or its database failed over since the last event. Events from up to a minute before can repeat.
        """
        return EventStream(self._transport, events=events, after=after, silence=silence, on_truncated=on_truncated)


class Client(operations.Resources):
    """A client of a Switchboard server, with a method for every operation::

        with Client("https://gateway.example.com", os.environ["SWITCHBOARD_KEY"]) as client:
            client.messages.send(to="491707654321", message="Hello")
            for message in client.messages.list_all(direction="incoming"):
                print(message["message"])

    Safe requests are retried if the server is busy or cannot be reached: reads, and operations that accept an
    idempotency key, which the client generates. A method raises an `ApiError` or a `NoAnswerError`.

    Threads can share a client. It keeps connections open until it is closed.

    :param base_url: Address of the server, such as `https://gateway.example.com`; `/api/v1` may follow.
    :param credential: An API key, or a login token. It is sent as `Authorization: Bearer`.
    :param retries: Maximum number of retries of a request that is safe to retry.
    :param timeout: Seconds that one try may take. Uploads have no timeout.
    :param headers: Sent with every request.
    :param ssl_context: Replaces the default one, for example to trust another certificate authority.
    """

    def __init__(
        self,
        base_url: str,
        credential: Optional[str] = None,
        *,
        retries: int = 3,
        timeout: float = 60.0,
        headers: Optional[Mapping[str, str]] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        address = Address(base_url, ssl_context)
        settings = Settings(credential, retries, timeout, tuple((headers or {}).items()))
        self._use(Transport(address, Pool(address), settings))

    def _use(self, transport: Transport) -> None:
        super().__init__(transport)
        self._transport = transport
        self.media = MediaWithFiles(transport)
        self.events = EventsWithStream(transport)

    def with_options(
        self,
        *,
        credential: Optional[str] = None,
        retries: Optional[int] = None,
        timeout: Optional[float] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Client:
        """Return a client that differs in these options and shares the connections of this one."""
        own = self._transport.settings
        changed = Settings(
            own.credential if credential is None else credential,
            own.retries if retries is None else retries,
            own.timeout if timeout is None else timeout,
            own.headers if headers is None else tuple(headers.items()),
        )
        client = Client.__new__(Client)
        client._use(self._transport.with_settings(changed))
        return client

    def close(self) -> None:
        """Close the idle connections. The client and those that share its connections cannot be used afterwards."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()
