"""Containers, items, locks and transactions."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from ctypes import POINTER, byref, c_bool, c_void_p, sizeof
from typing import TYPE_CHECKING, Any, Callable, Iterable, List, NamedTuple, Optional, TypeVar, Union

from . import _library as c
from ._library import PathLike, call, library, milliseconds, path_bytes, path_text
from ._waiting import Cancellation, waiting

if TYPE_CHECKING:
    from ._channels import Channel
    from ._defaults import Defaults
    from ._following import Follower
    from ._refreshes import Refresh

Answer = TypeVar("Answer")
Text = Union[str, bytes, bytearray, memoryview]

#: The time that a call waits for locks, in seconds, unless it gets another.
DEFAULT_TIMEOUT = 10.0
_TYPES = {1: "file", 2: "directory", 3: "link", 4: "other"}
_CREATE, _ADOPT = 1, 2


class Version(NamedTuple):
    """An item's content, and its generation for a later write with `if_generation`."""

    content: bytes
    generation: int


class Written(NamedTuple):
    """What a change did."""

    #: The item's generation after it; 0 where none is known.
    generation: int
    #: False where the item was so already.
    is_changed: bool


class Item(NamedTuple):
    """An item of a container."""

    path: str
    size: int
    #: In seconds since 1970.
    modified_at: float
    #: "file", "directory", "link" or "other".
    type: str


def _bytes(data: Text) -> bytes:
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    # bytes(3) would be three NULs.
    raise TypeError("a content is text or bytes, not %s" % type(data).__name__)


def options(
    timeout: Optional[float] = DEFAULT_TIMEOUT, cancellation: Optional[Cancellation] = None, durable: bool = True,
    if_generation: Optional[int] = None, if_absent: bool = False, mode: Optional[int] = None,
    recursively: bool = False, replacing: bool = False,
) -> Any:
    """Returns the options of a C call."""
    if if_absent and if_generation is not None:
        raise ValueError("if_absent and if_generation exclude each other")
    if if_generation is not None and not 0 <= if_generation < 2**64:
        raise ValueError("no generation: %d" % if_generation)
    return byref(
        c.Options(
            sizeof(c.Options), milliseconds(timeout), cancellation._handle if cancellation else None,
            0 if durable else 1, 1 if if_absent else 0 if if_generation is None else 2, if_generation or 0,
            -1 if mode is None else c.whole(mode, 31), recursively, replacing,
        ))


def _version(read: Callable[[Any], Any]) -> Version:
    content = POINTER(c.Content)()
    read(byref(content))
    try:
        return Version(c.copied(content.contents.data, content.contents.length), content.contents.generation)
    finally:
        library.group_content_free(content)


def _written(change: Callable[[Any], Any]) -> Written:
    result = c.Result()
    change(byref(result))
    return Written(result.generation, result.is_changed)


def _paths(paths: Union[PathLike, Iterable[PathLike]]) -> List[PathLike]:
    # A text is one path, and not one for each of its letters.
    return [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)


def _intents(writing: Iterable[PathLike], reading: Iterable[PathLike]) -> Any:
    paths = [(path_bytes(path), True) for path in writing] + [(path_bytes(path), False) for path in reading]
    return (c.Intent * len(paths))(*(c.Intent(*path) for path in paths)), len(paths)


class Access:
    """Items under locks, or in a transaction. Its methods are those of `Container`, for the items that are locked."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def read_version(self, path: PathLike) -> Version:
        """Returns an item's content with its generation. Raises NotFound."""
        return _version(lambda content: call("access_read", self._handle, path_bytes(path), content))

    def read(self, path: PathLike) -> bytes:
        """Returns an item's content. Raises NotFound."""
        return self.read_version(path).content

    def write(
        self, path: PathLike, data: Text, *, if_generation: Optional[int] = None, if_absent: bool = False,
        mode: Optional[int] = None,
    ) -> Written:
        """Replaces an item's content at once. Raises Conflict where the condition does not hold."""
        given, raw = options(if_generation=if_generation, if_absent=if_absent, mode=mode), _bytes(data)
        return _written(
            lambda result: call("access_write", self._handle, path_bytes(path), raw, len(raw), given, result))

    def remove(self, path: PathLike, *, recursively: bool = False) -> Written:
        """Removes an item; with `recursively`, a directory with all that is in it."""
        given = options(recursively=recursively)
        return _written(lambda result: call("access_remove", self._handle, path_bytes(path), given, result))

    def move(self, path: PathLike, destination: PathLike, *, replacing: bool = False) -> Written:
        """Moves an item."""
        given = options(replacing=replacing)
        return _written(
            lambda result: call(
                "access_move", self._handle, path_bytes(path), path_bytes(destination), given, result))

    def copy(
        self, path: PathLike, destination: PathLike, *, recursively: bool = False, replacing: bool = False
    ) -> Written:
        """Copies an item; with `recursively`, a directory with all that is in it."""
        given = options(recursively=recursively, replacing=replacing)
        return _written(
            lambda result: call(
                "access_copy", self._handle, path_bytes(path), path_bytes(destination), given, result))

    def create_directory(self, path: PathLike) -> Written:
        """Creates a directory, and those on its path."""
        return _written(lambda result: call("access_create_directory", self._handle, path_bytes(path), None, result))


class Locks(Access):
    """Locks that are held until `unlock()`, or until the end of a `with` block; by any thread, one at a time. They end
    with the process, however it ends."""

    _is_over = False

    def unlock(self) -> None:
        """Ends the locks; a second call does nothing. Raises GroupError with the code "notDurable"."""
        is_over, self._is_over = self._is_over, True
        if not is_over:
            call("unlock", self._handle)

    def __enter__(self) -> "Locks":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.unlock()

    def __del__(self) -> None:
        if library is not None and getattr(self, "_handle", None) is not None and not self._is_over:
            try:
                self.unlock()
            except c.GroupError:
                pass


class Container(c.Handle):
    """A directory that several processes share.

    `path` is a directory, or `identifier` a name such as "group.com.example.todo". `create` creates the container where
    there is none; with `adopt`, a directory with contents becomes one. `purpose` is this program's name in the others'
    errors. Any thread may use a container; a child of os.fork() opens it anew. What was made of a container goes on when it
    is closed.
    """

    _closing = "close"

    def __init__(
        self, path: Optional[PathLike] = None, *, identifier: Optional[str] = None, create: bool = False,
        adopt: bool = False, purpose: Optional[str] = None, unix_group: Optional[str] = None,
        timeout: Optional[float] = 30.0,
    ) -> None:
        if (path is None) == (identifier is None):
            raise ValueError("a container has a path or an identifier")
        given = c.OpenOptions(
            sizeof(c.OpenOptions), (_CREATE if create or adopt else 0) | (_ADOPT if adopt else 0),
            milliseconds(timeout), c.text_bytes(purpose or _program_name()),
            None if unix_group is None else c.text_bytes(unix_group),
        )
        handle = c_void_p()
        if path is not None:
            call("open", path_bytes(os.path.abspath(path_bytes(path))), byref(given), byref(handle))
        else:
            call("open_identifier", c.text_bytes(identifier or ""), byref(given), byref(handle))
        self._handle: Any = handle

    def __repr__(self) -> str:
        return "<Container closed>" if self._is_closed else "Container(%r)" % self.path

    @property
    def path(self) -> str:
        """The absolute path."""
        text = c_void_p()
        call("container_path", self._handle, byref(text))
        try:
            return path_text(ctypes.string_at(text.value or 0))
        finally:
            library.group_free(text)

    @property
    def is_read_only(self) -> bool:
        """Whether this process can only read the container."""
        answer = c_bool()
        call("container_is_read_only", self._handle, byref(answer))
        return answer.value

    # Reading

    def read_version(
        self, path: PathLike, *, timeout: Optional[float] = DEFAULT_TIMEOUT,
        cancellation: Optional[Cancellation] = None,
    ) -> Version:
        """Returns an item's content with its generation. Raises NotFound, LockTimeout."""
        return waiting(
            timeout, cancellation,
            lambda limit, token: _version(
                lambda content: call("read", self._handle, path_bytes(path), options(limit, token), content)))

    def read(self, path: PathLike, *, timeout: Optional[float] = DEFAULT_TIMEOUT) -> bytes:
        """Returns an item's content. Raises NotFound, LockTimeout."""
        return self.read_version(path, timeout=timeout).content

    def read_text(self, path: PathLike, *, timeout: Optional[float] = DEFAULT_TIMEOUT) -> str:
        """Returns an item's content as text. Raises NotFound, LockTimeout, UnicodeDecodeError."""
        return self.read(path, timeout=timeout).decode()

    def read_json(self, path: PathLike, *, default: Any = ..., timeout: Optional[float] = DEFAULT_TIMEOUT) -> Any:
        """Returns an item's JSON; `default` where there is no item. Raises NotFound, LockTimeout, ValueError."""
        try:
            return json.loads(self.read(path, timeout=timeout))
        except c.NotFound:
            if default is ...:
                raise
            return default

    def list(self, path: Optional[PathLike] = None) -> List[Item]:
        """Returns what is directly in the container, or in one of its directories, sorted by path; without a lock."""
        items = POINTER(c.Items)()
        call("list", self._handle, None if path is None else path_bytes(path), byref(items))
        try:
            given = items.contents
            return [
                Item(path_text(one.path), one.length, one.modified_at / 1e9, _TYPES.get(one.type, "other"))
                for one in (given.items[index] for index in range(given.count))
            ]
        finally:
            library.group_items_free(items)

    # Changing

    def _change(
        self, function: str, arguments: List[Any], timeout: Optional[float], cancellation: Optional[Cancellation],
        **given: Any,
    ) -> Written:
        return waiting(
            timeout, cancellation,
            lambda limit, token: _written(
                lambda result: call(function, self._handle, *arguments, options(limit, token, **given), result)))

    def write(
        self, path: PathLike, data: Text, *, durable: bool = True, if_generation: Optional[int] = None,
        if_absent: bool = False, mode: Optional[int] = None, timeout: Optional[float] = DEFAULT_TIMEOUT,
        cancellation: Optional[Cancellation] = None,
    ) -> Written:
        """Replaces an item's content: other processes see all of it or none. With `durable` it is on the disk then.
        Raises Conflict where the condition does not hold, LockTimeout."""
        raw = _bytes(data)
        return self._change(
            "write", [path_bytes(path), raw, len(raw)], timeout, cancellation, durable=durable,
            if_generation=if_generation, if_absent=if_absent, mode=mode)

    def write_json(
        self, path: PathLike, value: Any, *, durable: bool = True, if_generation: Optional[int] = None,
        if_absent: bool = False, timeout: Optional[float] = DEFAULT_TIMEOUT,
    ) -> Written:
        """Replaces an item's content by JSON. See `write`."""
        return self.write(
            path, json.dumps(value, allow_nan=False), durable=durable, if_generation=if_generation,
            if_absent=if_absent, timeout=timeout)

    def remove(
        self, path: PathLike, *, recursively: bool = False, durable: bool = True,
        if_generation: Optional[int] = None, timeout: Optional[float] = DEFAULT_TIMEOUT,
        cancellation: Optional[Cancellation] = None,
    ) -> Written:
        """Removes an item; with `recursively`, a directory with all that is in it. Raises NotFound, LockTimeout."""
        return self._change(
            "remove", [path_bytes(path)], timeout, cancellation, durable=durable, if_generation=if_generation,
            recursively=recursively)

    def move(
        self, path: PathLike, destination: PathLike, *, replacing: bool = False, durable: bool = True,
        timeout: Optional[float] = DEFAULT_TIMEOUT, cancellation: Optional[Cancellation] = None,
    ) -> Written:
        """Moves an item; to the place of another one only with `replacing`. Raises NotFound, Conflict, LockTimeout."""
        return self._change(
            "move", [path_bytes(path), path_bytes(destination)], timeout, cancellation, durable=durable,
            replacing=replacing)

    def copy(
        self, path: PathLike, destination: PathLike, *, recursively: bool = False, replacing: bool = False,
        durable: bool = True, timeout: Optional[float] = DEFAULT_TIMEOUT,
        cancellation: Optional[Cancellation] = None,
    ) -> Written:
        """Copies an item; with `recursively`, a directory with all that is in it. Raises NotFound, LockTimeout."""
        return self._change(
            "copy", [path_bytes(path), path_bytes(destination)], timeout, cancellation, durable=durable,
            recursively=recursively, replacing=replacing)

    def create_directory(
        self, path: PathLike, *, durable: bool = True, timeout: Optional[float] = DEFAULT_TIMEOUT,
        cancellation: Optional[Cancellation] = None,
    ) -> Written:
        """Creates a directory, and those on its path."""
        return self._change("create_directory", [path_bytes(path)], timeout, cancellation, durable=durable)

    def update(
        self, path: PathLike, function: Callable[[Optional[bytes]], Optional[Text]], *, durable: bool = True,
        mode: Optional[int] = None, timeout: Optional[float] = DEFAULT_TIMEOUT,
        cancellation: Optional[Cancellation] = None,
    ) -> Optional[bytes]:
        """Replaces an item's content by what `function` makes of it, under one lock: no change of another process is
        lost. The function gets None where there is no item; if it returns None, or raises, nothing is changed. Returns
        the content after it."""
        with self.lock(path, durable=durable, timeout=timeout, cancellation=cancellation) as locks:
            try:
                present: Optional[bytes] = locks.read(path)
            except c.NotFound:
                present = None
            new = function(present)
            if new is None:
                return present
            raw = _bytes(new)
            locks.write(path, raw, mode=mode)
            return raw

    def update_json(
        self, path: PathLike, function: Callable[[Any], Any], *, default: Any = None, durable: bool = True,
        timeout: Optional[float] = DEFAULT_TIMEOUT, cancellation: Optional[Cancellation] = None,
    ) -> Any:
        """Replaces an item's JSON by what `function` returns for it, under one lock. A function that returns None has
        changed its argument in place. `default` stands for an item that is not there. Returns the new value."""
        values: List[Any] = []

        def change(content: Optional[bytes]) -> str:
            value = json.loads(json.dumps(default)) if content is None else json.loads(content)
            new = function(value)
            values.append(value if new is None else new)
            return json.dumps(values[0], allow_nan=False)

        self.update(path, change, durable=durable, timeout=timeout, cancellation=cancellation)
        return values[0]

    # Locks

    def lock(
        self, *paths: PathLike, reading: Iterable[PathLike] = (), durable: bool = True,
        timeout: Optional[float] = DEFAULT_TIMEOUT, cancellation: Optional[Cancellation] = None,
    ) -> Locks:
        """Locks items, or raises LockTimeout with none locked: those in `paths` to change them, those in `reading` to
        read. Use it as a context manager, and the result to work with the items."""
        writing, read = list(paths), _paths(reading)

        def take(limit: Optional[float], token: Optional[Cancellation]) -> Locks:
            intents, count = _intents(writing, read)
            handle = c_void_p()
            call("lock", self._handle, intents, count, options(limit, token, durable), byref(handle))
            return Locks(handle)

        return waiting(timeout, cancellation, take, lambda locks: locks.unlock())

    def transaction(
        self, paths: Union[PathLike, Iterable[PathLike]], function: Callable[[Access], Answer], *,
        reading: Iterable[PathLike] = (), durable: bool = True, timeout: Optional[float] = DEFAULT_TIMEOUT,
        cancellation: Optional[Cancellation] = None,
    ) -> Answer:
        """Makes the changes of `function` one: other processes see all of them or none. If it raises, nothing is
        changed; nor if a signal's handler raises meanwhile. Returns what it returns. For the main thread, another
        thread calls it."""
        writing, read = _paths(paths), _paths(reading)

        def make(limit: Optional[float], token: Optional[Cancellation]) -> Answer:
            answers: List[Answer] = []
            errors: List[BaseException] = []

            def run(context: Any, access: Any) -> int:
                try:
                    answers.append(function(Access(c_void_p(access))))
                    return 1 if token is not None and token._is_cancelled else 0
                except BaseException as error:  # noqa: B036 - raised again below
                    errors.append(error)
                    return 1

            intents, count = _intents(writing, read)
            given = options(limit, token, durable)
            status = call("transaction", self._handle, intents, count, c.TransactionFunction(run), None, given, None)
            if errors:
                raise errors.pop()
            if status == c.REFUSED:
                raise c.Cancelled("cancelled", "the transaction was cancelled: nothing was changed")
            return answers[0]

        return waiting(timeout, cancellation, make, calls_back=True)

    # The rest, which has modules of its own

    def follow(
        self, *, include: Iterable[PathLike] = (), exclude: Iterable[PathLike] = (),
        since: Optional[str] = None, without_purpose: Optional[str] = None, snapshot_after_rescan: bool = False,
        quiet: float = 0, at_most: float = 0,
    ) -> "Follower":
        """Returns an iterator, for `for` and `async for`, of all changes from now on, in order, each once.

        `include` and `exclude` are patterns, such as "notes/**". `since` is "start", "snapshot" (all items first) or
        the cursor of a follower of an earlier run. With `quiet` (seconds), there is one change a path, when no other one
        came for so long."""
        from ._following import Follower

        return Follower(
            self._handle, include, exclude, since, without_purpose, snapshot_after_rescan, quiet, at_most)

    def note_uncoordinated_changes(self) -> None:
        """Returns when all changes that were made before the call, also without this package, can be followed."""
        call("note_uncoordinated_changes", self._handle)

    def refresh(
        self, kind: str, interests: Iterable[str], *, is_reload: bool = False,
        timeout: Optional[float] = DEFAULT_TIMEOUT, cancellation: Optional[Cancellation] = None,
    ) -> "Refresh":
        """Begins a refresh of a widget: whether something that concerns it has changed since the last one. Use it as a
        context manager. Interests are patterns for paths, "metadata:PATTERN", "defaults:SUITE" or
        "defaults:SUITE:KEY". Other refreshes of the kind wait until it ends."""
        from ._refreshes import begin

        return begin(self._handle, kind, interests, is_reload, timeout, cancellation)

    def defaults(self, suite: Optional[str] = None) -> "Defaults":
        """Returns the keys and values of a suite, as a mapping that all processes share."""
        from ._defaults import Defaults

        return Defaults(self._handle, suite)

    def channel(self, name: str) -> "Channel":
        """Returns a channel for messages to other processes."""
        from ._channels import Channel

        return Channel(self._handle, name)


def _program_name() -> str:
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return os.fsencode(name).decode("utf-8", "replace") or "python"


