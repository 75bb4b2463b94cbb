"""Followers: iterators that wait on a descriptor, so that a signal or an event loop can go on meanwhile."""

from __future__ import annotations

import asyncio
import time
from ctypes import POINTER, byref, c_char_p, c_void_p, sizeof, string_at
from typing import Any, AsyncIterator, Generic, Iterable, Iterator, NamedTuple, Optional, Tuple, TypeVar

from . import _library as c
from ._library import NOTHING, PathLike, call, library, path_bytes, path_text
from ._waiting import Wake, await_descriptor

Element = TypeVar("Element")
_TYPES = {1: "file", 2: "directory", 3: "link", 4: "other"}
_KINDS = {
    1: "created", 2: "modified", 3: "removed", 4: "moved", 5: "exchanged", 6: "touched", 7: "present", 8: "bookmark",
    9: "rescan", 10: "degraded",
}


class Change(NamedTuple):
    """A change of an item."""

    #: "created", "modified", "removed", "moved", "exchanged", "touched"; of a snapshot: "present", "bookmark";
    #: "rescan": changes are missing, look at all items; "degraded": some changes may not be reported.
    kind: str
    path: str
    #: Of "moved": where the item was; of "exchanged": the other item.
    other_path: Optional[str]
    sequence: int
    generation: int
    #: In seconds since 1970.
    time: float
    #: The process that made it under a lock, and its purpose; None otherwise.
    author: Optional[int]
    purpose: Optional[str]
    #: The position behind it, for `follow(since=…)`.
    cursor: str
    reason: Optional[str]
    #: "file", "directory", "link", "other"; None where it is not known.
    type: Optional[str]
    size: Optional[int]
    #: Whether it was made under a lock.
    is_coordinated: bool
    #: The identifier of the transaction of which it is a part, the index in it, and their number.
    transaction: Optional[Tuple[str, int, int]]


class _Ended(c.GroupError):
    """The stream was closed while it waited."""


class Stream(c.Handle, Generic[Element]):
    """An iterator of what comes, for one thread or task. It ends when it is closed, also by another one."""

    _descriptor: int
    #: The number of elements after which a task gives way to others, though more are there.
    _most_at_once = 64

    def __init__(self, handle: Any, descriptor: int) -> None:
        self._handle: Any = handle
        self._descriptor = descriptor
        self._wake = Wake()
        self._at_once = 0

    def close(self) -> None:
        """Ends the stream, and the wait of another thread or task in it."""
        # Before the wake: who is woken looks at it.
        self._is_closed = True
        if hasattr(self, "_wake"):
            self._wake.end()
        super().close()

    def _take(self) -> Optional[Element]:
        """Returns what there is now."""
        raise NotImplementedError

    def _take_open(self) -> Optional[Element]:
        """Returns what there is now. Raises _Ended where the stream was closed, also by another thread meanwhile."""
        try:
            element = self._take()
        except c.GroupError:
            if self._is_closed:
                raise self._ended() from None
            raise
        if element is None and self._is_closed:
            raise self._ended()
        return element

    def _ended(self) -> "_Ended":
        return _Ended("invalidArgument", "cannot follow: the stream was closed")

    def next(self, timeout: Optional[float] = None) -> Optional[Element]:
        """Returns the next element; None if none came within `timeout` seconds (None: waits without end)."""
        limit = c.milliseconds(timeout)
        deadline = None if timeout is None or limit == c.FOREVER else time.monotonic() + min(timeout, 1e9)
        while True:
            element = self._take_open()
            if element is not None:
                return element
            # Where the stream is closed in between, the wake has ended, whatever has the number of the descriptor then.
            has_come = await_descriptor(self._descriptor, self._wake, deadline)
            if not has_come and deadline is not None and time.monotonic() >= deadline:
                return self._take_open()

    def fileno(self) -> int:
        """The descriptor that can be read while there may be an element: for select, selectors and event loops."""
        if self._is_closed:
            raise ValueError("the stream is closed")
        return self._descriptor

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        try:
            element = self.next()
        except _Ended:
            raise StopIteration from None
        if element is None:
            raise StopIteration
        return element

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        while True:
            try:
                element = self._take_open()
            except _Ended:
                raise StopAsyncIteration from None
            if element is not None:
                self._at_once = (self._at_once + 1) % self._most_at_once
                if self._at_once == 0:
                    await asyncio.sleep(0)
                return element
            loop = asyncio.get_running_loop()
            ready = loop.create_future()
            descriptors = (self._descriptor, self._wake.descriptor)
            try:
                for descriptor in descriptors:
                    loop.add_reader(descriptor, _set, ready)
                await ready
            except OSError:
                # Another thread has closed the stream.
                if not self._is_closed:
                    raise
            finally:
                for descriptor in descriptors:
                    loop.remove_reader(descriptor)


class Follower(Stream[Change]):
    """The changes of items: see `Container.follow`."""

    _closing = "follower_close"

    def __init__(
        self, container: Any, include: Iterable[PathLike], exclude: Iterable[PathLike], since: Optional[str],
        without_purpose: Optional[str], snapshot_after_rescan: bool, quiet: float, at_most: float,
    ) -> None:
        given = c.FollowOptions(
            sizeof(c.FollowOptions), None if since is None else c.text_bytes(since), _patterns(include),
            _patterns(exclude), None if without_purpose is None else c.text_bytes(without_purpose),
            snapshot_after_rescan,
            c.milliseconds(quiet), c.milliseconds(at_most),
        )
        handle = c_void_p()
        call("follow", container, byref(given), byref(handle))
        super().__init__(handle, library.group_follower_descriptor(handle))

    @property
    def cursor(self) -> str:
        """The position behind what was returned, for `follow(since=…)` of a later run."""
        text = c_void_p()
        call("follower_cursor", self._handle, byref(text))
        try:
            return string_at(text.value or 0).decode()
        finally:
            library.group_free(text)

    def _take(self) -> Optional[Change]:
        change = POINTER(c.Change)()
        if call("follower_next", self._handle, 0, None, byref(change)) == NOTHING:
            return None
        try:
            one = change.contents
            return Change(
                _KINDS.get(one.kind, str(one.kind)), path_text(one.path),
                None if one.other_path is None else path_text(one.other_path), one.sequence, one.generation,
                one.time / 1e9, one.author_process or None, c._text(one.author_purpose), one.cursor.decode(),
                c._text(one.reason), _TYPES.get(one.type), None if one.length < 0 else one.length, one.is_coordinated,
                None if one.transaction is None
                else (one.transaction.decode(), one.transaction_index, one.transaction_count),
            )
        finally:
            library.group_change_free(change)


def _set(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _patterns(patterns: Iterable[PathLike]) -> Any:
    if isinstance(patterns, (str, bytes)):
        patterns = [patterns]
    raw = [path_bytes(pattern) for pattern in patterns]
    return (c_char_p * (len(raw) + 1))(*raw, None) if raw else None
