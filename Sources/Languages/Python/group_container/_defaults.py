"""Keys and values that processes share."""

from __future__ import annotations

import datetime
import json
from ctypes import POINTER, byref, c_char_p, c_int64, c_uint64, c_void_p, cast, create_string_buffer
from typing import Any, Dict, Iterable, Iterator, MutableMapping, NamedTuple, Optional, Tuple

from . import _library as c
from ._container import options
from ._following import Stream
from ._library import NOTHING, Conflict, call, library

_BOOL, _INTEGER, _DOUBLE, _STRING, _DATA, _DATE, _URL, _JSON = range(1, 9)
_2001 = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)


class KeyChange(NamedTuple):
    """A change of a key."""

    #: "modified"; "present" of a snapshot; "rescan": changes are missing, read the keys anew; "degraded".
    kind: str
    key: str
    old_value: Any
    new_value: Any
    author: Optional[int]
    purpose: Optional[str]
    cursor: str


def _python(value: Any) -> Any:
    """Returns a value of the library as one of Python."""
    raw = c.copied(value.text, value.length)
    if value.type == _BOOL:
        return bool(value.integer)
    if value.type == _INTEGER:
        return value.integer
    if value.type == _DOUBLE:
        return value.real
    if value.type in (_STRING, _URL):
        return raw.decode()
    if value.type == _DATA:
        return raw
    if value.type == _DATE:
        return _2001 + datetime.timedelta(seconds=value.real)
    if value.type == _JSON:
        return json.loads(raw)
    return None


class _Given:
    """A value of Python as one of the library, with the memory that it points to."""

    def __init__(self, value: Any) -> None:
        self.value = c.Value()
        raw = b""
        if isinstance(value, bool):
            self.value.type, self.value.integer = _BOOL, value
        elif isinstance(value, int) and -(2**63) <= value < 2**63:
            self.value.type, self.value.integer = _INTEGER, value
        elif isinstance(value, int):
            raise OverflowError("a whole number of more than 64 bits: %d" % value)
        elif isinstance(value, float):
            self.value.type, self.value.real = _DOUBLE, value
        elif isinstance(value, str):
            self.value.type, raw = _STRING, value.encode()
        elif isinstance(value, (bytes, bytearray, memoryview)):
            self.value.type, raw = _DATA, bytes(value)
        elif isinstance(value, datetime.datetime):
            self.value.type, self.value.real = _DATE, (value.astimezone(datetime.timezone.utc) - _2001).total_seconds()
        elif isinstance(value, (list, tuple, dict)):
            self.value.type, raw = _JSON, json.dumps(value, allow_nan=False).encode()
        else:
            raise TypeError("no value of a key: %r" % (value,))
        if raw:
            self.memory = create_string_buffer(raw, len(raw) + 1)
            self.value.text, self.value.length = cast(self.memory, c_void_p), len(raw)


#: The library reads options only during a call: each kind is made once.
_RELAXED, _DURABLE = options(durable=False), options()
_ValuePointer = POINTER(c.Value)


def _durability(durable: bool) -> Any:
    return _DURABLE if durable else _RELAXED


def _pointer(value: Any) -> Any:
    return None if value is None else byref(value.value)


class Defaults(c.Handle, MutableMapping[str, Any]):
    """The keys and values of a suite. A value is a bool, int, float, str, bytes, datetime, list or dict. What one
    process sets, the others see at once; with `durable=True` it is on the disk, too."""

    _closing = "defaults_close"

    def __init__(self, container: Any, suite: Optional[str]) -> None:
        handle = c_void_p()
        call("defaults_open", container, None if suite is None else c.text_bytes(suite), byref(handle))
        self._handle: Any = handle

    def read_version(self, key: str) -> Tuple[Any, int]:
        """Returns a value, and its generation for a later `set` with `if_generation`. Raises KeyError."""
        value = _ValuePointer()
        if call("defaults_get", self._handle, _key(key), byref(value)) == NOTHING:
            raise KeyError(key)
        try:
            return _python(value.contents), value.contents.generation
        finally:
            library.group_value_free(value)

    def __getitem__(self, key: str) -> Any:
        return self.read_version(key)[0]

    def set(
        self, key: str, value: Any, *, durable: bool = False, if_generation: Optional[int] = None,
        if_absent: bool = False,
    ) -> int:
        """Sets a value, and returns its generation; None removes the key. Raises Conflict where the condition does not
        hold."""
        given, generation = None if value is None else _Given(value), c_uint64()
        condition = _durability(durable)
        if if_generation is not None or if_absent:
            condition = options(durable=durable, if_generation=if_generation, if_absent=if_absent)
        call("defaults_set", self._handle, _key(key), _pointer(given), condition, byref(generation))
        return generation.value

    def __setitem__(self, key: str, value: Any) -> None:
        if value is None:
            raise TypeError("no value of a key: None; `del` removes a key")
        self.set(key, value)

    def __delitem__(self, key: str) -> None:
        self.pop(key)

    def pop(self, key: str, *default: Any) -> Any:
        """Removes a key, and returns its value: of several processes that do this, one gets it."""
        if len(default) > 1:
            raise TypeError("pop takes a key and at most one default")
        while True:
            try:
                value, generation = self.read_version(key)
            except KeyError:
                if default:
                    return default[0]
                raise
            try:
                self.set(key, None, if_generation=generation)
            except Conflict:
                continue
            return value

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Returns the value of a key, which is set to `default` where there is none: to the same in each process."""
        while True:
            try:
                return self[key]
            except KeyError:
                pass
            if default is None:
                raise TypeError("no value of a key: None")
            try:
                self.set(key, default, if_absent=True)
            except Conflict:
                continue

    def copy(self) -> Dict[str, Any]:
        """Returns the keys and values as a dict. A key that another process removes meanwhile may be missing."""
        copied = {}
        for key in self:
            try:
                copied[key] = self[key]
            except KeyError:
                pass
        return copied

    def __iter__(self) -> Iterator[str]:
        keys = POINTER(c.Items)()
        call("defaults_keys", self._handle, byref(keys))
        try:
            given = keys.contents
            return iter([given.items[index].path.decode() for index in range(given.count)])
        finally:
            library.group_items_free(keys)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return "Defaults(%r)" % self.copy()

    def increment(self, key: str, by: int = 1, *, durable: bool = False) -> int:
        """Adds a number, and returns the sum; no addition of another process is lost. A key without a value is 0."""
        total = c_int64()
        call("defaults_increment", self._handle, _key(key), c.whole(by, 64, True), _durability(durable), byref(total))
        return total.value

    def compare_and_set(self, key: str, expected: Any, value: Any, *, durable: bool = False) -> bool:
        """Sets a value if the present one is `expected`; None stands for no value. Returns whether it was set."""
        old, new = (None if one is None else _Given(one) for one in (expected, value))
        status = call(
            "defaults_compare_and_set", self._handle, _key(key), _pointer(old), _pointer(new), _durability(durable))
        return status != NOTHING

    def follow(self, *keys: str, since: Optional[str] = None) -> "KeyFollower":
        """Returns an iterator, for `for` and `async for`, of the changes of these keys, or of all."""
        return KeyFollower(self._handle, keys, since)


class KeyFollower(Stream[KeyChange]):
    """The changes of keys: see `Defaults.follow`."""

    _closing = "key_follower_close"

    def __init__(self, suite: Any, keys: Iterable[str], since: Optional[str]) -> None:
        raw = [_key(key) for key in keys]
        names = (c_char_p * (len(raw) + 1))(*raw, None) if raw else None
        handle = c_void_p()
        call("defaults_follow", suite, names, None if since is None else c.text_bytes(since), byref(handle))
        super().__init__(handle, library.group_key_follower_descriptor(handle))

    def _take(self) -> Optional[KeyChange]:
        change = POINTER(c.KeyChange)()
        if call("key_follower_next", self._handle, 0, None, byref(change)) == NOTHING:
            return None
        try:
            one = change.contents
            old, new = (_python(each.contents) if each else None for each in (one.old_value, one.new_value))
            kind = {2: "modified", 7: "present", 9: "rescan", 10: "degraded"}.get(one.kind, str(one.kind))
            return KeyChange(
                kind, one.key.decode(), old, new, one.author_process or None, c._text(one.author_purpose),
                one.cursor.decode(),
            )
        finally:
            library.group_key_change_free(change)


_key = c.text_bytes

