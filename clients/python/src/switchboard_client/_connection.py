"""Connections to one server, which are kept open and shared by threads."""

from __future__ import annotations

import http.client
import io
import re
import select
import socket
import ssl
import threading
import time
from typing import Any, Optional
from urllib.parse import urlsplit

# How long an idle connection is kept if the server does not say.
_KEEP_SECONDS = 4.0
# Closes an idle connection before the server does, so that no request meets a closed one.
_MARGIN_SECONDS = 2.0
_MAX_IDLE = 32
# Detects a dead connection that has no timeout, such as that of an upload.
_PROBES = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


class _TimedSocket:
    """A socket whose operations must end by `deadline`, or after `silence` seconds without any data.

    A timeout of a plain socket starts again with every byte, so that a slow answer could take any time.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.deadline: Optional[float] = None
        self.silence: Optional[float] = None

    def _set_timeout(self) -> None:
        timeout = self.silence
        if self.deadline is not None:
            rest = self.deadline - time.monotonic()
            if rest <= 0:
                raise TimeoutError("timed out")
            timeout = rest if timeout is None else min(rest, timeout)
        self._sock.settimeout(timeout)

    def recv_into(self, buffer: Any) -> int:
        self._set_timeout()
        return self._sock.recv_into(buffer)

    def sendall(self, data: Any) -> None:
        self._set_timeout()
        self._sock.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self), 65536)

    def is_stale(self) -> bool:
        """Whether the server has closed the idle connection, or sent something that nobody requested."""
        if isinstance(self._sock, ssl.SSLSocket) and self._sock.pending() > 0:
            return True
        try:
            if hasattr(select, "poll"):
                poll = select.poll()
                poll.register(self._sock, select.POLLIN)
                return len(poll.poll(0)) > 0
            return len(select.select([self._sock], [], [], 0)[0]) > 0
        except (OSError, ValueError):
            return True

    def interrupt(self) -> None:
        """Ends the operations of other threads."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed

    def close(self) -> None:
        """Does nothing: `http.client` calls it before the response is read."""

    def end(self) -> None:
        self._sock.close()


class _Reader(io.RawIOBase):
    def __init__(self, sock: _TimedSocket) -> None:
        self._timed = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._timed.recv_into(buffer)


class Connection:
    """A connection, in use by one request at a time."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._http = http.client.HTTPConnection(address.host, address.port)
        self._sock: Optional[_TimedSocket] = None
        self._response: Optional[http.client.HTTPResponse] = None
        self._good_until = 0.0
        self._is_closed = False

    def limit(self, *, deadline: Optional[float] = None, silence: Optional[float] = None) -> None:
        """Sets how long the following operations may take."""
        if self._sock is not None:
            self._sock.deadline = deadline
            self._sock.silence = silence

    def open(self, deadline: Optional[float]) -> None:
        """Connects, unless the connection is open."""
        if self._sock is None:
            rest = None if deadline is None else max(0.001, deadline - time.monotonic())
            self._sock = _TimedSocket(self._address.connect(rest))
            if self._is_closed:
                self._sock.end()
                raise OSError("the connection was closed")
            self._http.sock = self._sock
        self.limit(deadline=deadline)

    def start(self, method: str, path: str, headers: list[tuple[str, str]]) -> None:
        """Sends the head of a request."""
        self._http.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        self._http.putheader("Host", self._address.host_header)
        for name, value in headers:
            self._http.putheader(name, value)
        self._http.endheaders()

    def send(self, data: bytes) -> None:
        self._http.send(data)

    def answer(self) -> http.client.HTTPResponse:
        """Waits for the head of the response."""
        self._response = self._http.getresponse()
        return self._response

    @property
    def can_be_reused(self) -> bool:
        """Whether the response was read to its end, and the server keeps the connection open."""
        response = self._response
        return response is not None and response.isclosed() and not response.will_close and not self._is_closed

    def rest(self) -> None:
        """Prepares for the next request."""
        hint = re.search(r"\btimeout=(\d{1,6})", self._response.headers.get("Keep-Alive", "") if self._response else "")
        keep = _KEEP_SECONDS if hint is None else int(hint[1]) - _MARGIN_SECONDS
        self._good_until = time.monotonic() + keep
        self._response = None

    @property
    def is_usable(self) -> bool:
        return self._sock is not None and time.monotonic() < self._good_until and not self._sock.is_stale()

    def interrupt(self) -> None:
        """Closes the connection while another thread reads from it."""
        self._is_closed = True
        if self._sock is not None:
            self._sock.interrupt()

    def close(self) -> None:
        self._is_closed = True
        if self._response is not None:
            self._response.close()
        if self._sock is not None:
            self._sock.end()


class Address:
    """Where the server listens."""

    def __init__(self, base_url: str, context: Optional[ssl.SSLContext]) -> None:
        parts = urlsplit(re.sub(r"(/api/v1)?/*$", "", base_url))
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError("`base_url` must be an http or https URL, such as https://gateway.example.com")
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError("`base_url` must not contain a user, a query or a fragment")
        is_secure = parts.scheme == "https"
        self.host = parts.hostname
        self.port = parts.port or (443 if is_secure else 80)
        self.host_header = parts.netloc
        self.url = f"{parts.scheme}://{parts.netloc}"
        self.prefix = parts.path
        self._context = (context or ssl.create_default_context()) if is_secure else None

    def connect(self, timeout: Optional[float]) -> socket.socket:
        sock = socket.create_connection((self.host, self.port), timeout)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in _PROBES.items():
                if hasattr(socket, name):
                    sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
            if self._context is not None:
                return self._context.wrap_socket(sock, server_hostname=self.host)
            return sock
        except BaseException:
            sock.close()
            raise


class Pool:
    """The idle connections to a server."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def take(self) -> Connection:
        """Returns the connection that was used last, or a new one."""
        while True:
            with self._lock:
                if self._is_closed:
                    raise RuntimeError("The client is closed")
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return Connection(self._address)
            if connection.is_usable:
                return connection
            connection.close()

    def give_back(self, connection: Connection) -> None:
        """Keeps the connection for the next request, or closes it."""
        if connection.can_be_reused:
            connection.rest()
            with self._lock:
                if not self._is_closed and len(self._idle) < _MAX_IDLE:
                    self._idle.append(connection)
                    return
        connection.close()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
