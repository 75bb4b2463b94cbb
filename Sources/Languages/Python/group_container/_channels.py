"""Messages between processes."""

from __future__ import annotations

from ctypes import POINTER, byref, c_uint64, c_void_p
from typing import Any, NamedTuple, Optional

from . import _library as c
from ._container import Text, _bytes, options
from ._following import Stream
from ._library import NOTHING, call, library


class Message(NamedTuple):
    """A message; `content` is None for a signal."""

    number: int
    content: Optional[bytes]
    #: In seconds since 1970.
    time: float
    author: int
    purpose: str


class Channel(c.Handle):
    """A channel: what one process posts, each listener gets, in order and once, also if it starts later."""

    _closing = "channel_close"

    def __init__(self, container: Any, name: str) -> None:
        handle = c_void_p()
        call("channel_open", container, c.text_bytes(name), byref(handle))
        self._handle: Any = handle

    def post(self, content: Optional[Text] = None, *, durable: bool = False) -> int:
        """Posts a message, and returns its number. None is a signal without content."""
        raw = None if content is None else _bytes(content)
        number = c_uint64()
        call("channel_post", self._handle, raw, len(raw or b""), options(durable=durable), byref(number))
        return number.value

    def listen(self, name: str, *, from_start: bool = False) -> "Listener":
        """Listens under a name. A listener that comes back gets what it has not acknowledged. Raises Conflict while
        another process listens under the name."""
        return Listener(self._handle, name, from_start)


class Listener(Stream[Message]):
    """The messages of a channel: an iterator for `for` and `async for`. What is not acknowledged when it is closed is
    delivered again."""

    _closing = "listener_close"

    def __init__(self, channel: Any, name: str, from_start: bool) -> None:
        handle = c_void_p()
        call("channel_listen", channel, c.text_bytes(name), from_start, byref(handle))
        super().__init__(handle, library.group_listener_descriptor(handle))

    def acknowledge(self, number: int, *, durable: bool = False) -> None:
        """Acknowledges the messages up to a number: they are not delivered again."""
        call("listener_acknowledge", self._handle, c.whole(number, 64), options(durable=durable))

    def _take(self) -> Optional[Message]:
        message = POINTER(c.Message)()
        if call("listener_next", self._handle, 0, None, byref(message)) == NOTHING:
            return None
        try:
            one = message.contents
            content = c.copied(one.data, one.length) if one.data else None
            return Message(
                one.number, content, one.time / 1e9, one.author_process, c._text(one.author_purpose) or "")
        finally:
            library.group_message_free(message)
