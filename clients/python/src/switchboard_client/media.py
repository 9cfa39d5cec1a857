"""Uploads and downloads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import IO, Any, Optional, Union, cast

from . import models, operations
from ._transport import UNSET, Body, Response, Sent, query_of, quote, read_json

_CHUNK_BYTES = 64 * 1024

Content = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]", IO[bytes], Iterable[bytes]]
"""The content of a file: its bytes, text, the path of a file, an open file, or its parts in order."""


class Download:
    """The content of a file, which is read as it arrives. Close it, or use it in a `with` statement."""

    def __init__(self, response: Response) -> None:
        self._response = response
        self.mime_type: str = response.head.headers.get("Content-Type", "application/octet-stream")
        length = response.head.headers.get("Content-Length")
        self.size: Optional[int] = None if length is None else int(length)

    def read(self, size: Optional[int] = None) -> bytes:
        """Read up to `size` bytes, or all that are left. Returns `b""` at the end."""
        return self._response.read(size)

    def __iter__(self) -> Iterator[bytes]:
        return iter(lambda: self._response.read(_CHUNK_BYTES), b"")

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the content to a file."""
        with open(path, "wb") as file:
            for chunk in self:
                file.write(chunk)

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


class MediaWithFiles(operations.MediaResource):
    """Upload and download the files of messages."""

    def upload(
        self,
        content: Content,
        *,
        file_name: Optional[str] = None,
        content_type: Optional[str] = None,
    ) -> models.Media:
        """Upload a file, to send it with `messages.send_media`.

        An upload has no timeout. It is retried unless its content can be read only once, such as a generator.

        :param content: The bytes, text, the path of a file, an open file, or an iterable of parts.
        :param file_name: Name that recipients see. By default that of the path.
        :param content_type: Type of the file, if it cannot be recognized from its content.
        """
        if file_name is None and isinstance(content, os.PathLike):
            file_name = os.path.basename(os.fspath(content))
        body, is_repeatable = _body_of(content)
        request = Sent(
            "POST",
            "/media" + query_of({"fileName": UNSET if file_name is None else file_name}),
            body=body._replace(content_type=content_type or body.content_type),
            # Uploading the same file again stores it once.
            is_repeatable=is_repeatable,
            is_endless=True,
        )
        return cast(models.Media, self._transport.send(request, read_json))

    def download(self, media_id: str) -> Download:
        """Download a file.

        The timeout of the client covers the time until the content begins. After that, it is the longest time
        without any data.

        :param media_id: Id of the media (`med_…`).
        """
        silence = self._transport.settings.timeout

        def begin(response: Response) -> Download:
            response.limit(silence=silence)
            return Download(response)

        return self._transport.send(Sent("GET", f"/media/{quote(media_id)}/content", is_repeatable=True), begin)


def _body_of(content: Content) -> tuple[Body, bool]:
    """Returns the body, and whether it can be sent again."""
    if isinstance(content, str):
        return _body_of_bytes(content.encode(), "text/plain; charset=utf-8"), True
    if isinstance(content, (bytes, bytearray, memoryview)):
        return _body_of_bytes(bytes(content), None), True
    if isinstance(content, os.PathLike):
        path = os.fspath(content)
        size = os.path.getsize(path)
        return Body(lambda: _parts_of_path(path, size), size), True
    if hasattr(content, "read"):
        return _body_of_file(cast("IO[bytes]", content))
    parts = iter(content)
    return Body(lambda: (bytes(part) for part in parts if len(part) > 0), None), False


def _body_of_bytes(data: bytes, content_type: Optional[str]) -> Body:
    view = memoryview(data)
    parts = lambda: (bytes(view[at : at + _CHUNK_BYTES]) for at in range(0, len(data), _CHUNK_BYTES))  # noqa: E731
    return Body(parts, len(data), content_type)


def _body_of_file(file: IO[bytes]) -> tuple[Body, bool]:
    try:
        start = file.tell()
        size = file.seek(0, os.SEEK_END) - start
        file.seek(start)
    except (OSError, AttributeError, ValueError):
        # A pipe, which has no size and no beginning to return to.
        return Body(lambda: iter(lambda: file.read(_CHUNK_BYTES), b""), None), False

    def parts() -> Iterator[bytes]:
        file.seek(start)
        return _parts_of_file(file, size)

    return Body(parts, size), True


def _parts_of_path(path: str, size: int) -> Iterator[bytes]:
    with open(path, "rb") as file:
        yield from _parts_of_file(file, size)


def _parts_of_file(file: Any, size: int) -> Iterator[bytes]:
    """Reads exactly the announced number of bytes."""
    rest = size
    while rest > 0:
        part: bytes = file.read(min(rest, _CHUNK_BYTES))
        if not part:
            raise ValueError("The file became shorter during its upload")
        rest -= len(part)
        yield part
