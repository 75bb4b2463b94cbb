"""Keys and values that processes share."""

from __future__ import annotations

import datetime
import functools
import json
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_uint64, c_void_p
from typing import Any, Dict, Iterable, Iterator, List, MutableMapping, NamedTuple, Optional, Tuple

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


def _given(value: Any) -> Any:
    """Returns a pointer to a value for the library; None for None."""
    if value is None:
        return None
    given, raw = c.GivenValue(), None
    if isinstance(value, bool):
        given.type, given.integer = _BOOL, value
    elif isinstance(value, int):
        given.type, given.integer = _INTEGER, c.whole(value, 64, True)
    elif isinstance(value, float):
        given.type, given.real = _DOUBLE, value
    elif isinstance(value, str):
        given.type, raw = _STRING, value.encode()
    elif isinstance(value, (bytes, bytearray, memoryview)):
        given.type, raw = _DATA, bytes(value)
    elif isinstance(value, datetime.datetime):
        given.type, given.real = _DATE, (value.astimezone(datetime.timezone.utc) - _2001).total_seconds()
    elif isinstance(value, (list, tuple, dict)):
        given.type, raw = _JSON, json.dumps(value, allow_nan=False).encode()
    else:
        raise TypeError("no value of a key: %r" % (value,))
    if raw is not None:
        given.text, given.length = raw, len(raw)
    return byref(given)


class _Place:
    """Memory for one call that sets a whole number: making it takes longer than the call."""

    def __init__(self) -> None:
        self.value, self.generation, self.error = c.GivenValue(_INTEGER), c_uint64(), c.ErrorPointer()
        self.pointers = byref(self.value), byref(self.generation), byref(self.error)


#: The places that no call uses. Appending and popping are whole steps for threads, and for handlers of signals.
_places: List[_Place] = []

#: The library reads options only during a call: each kind is made once.
_RELAXED, _DURABLE = options(durable=False), options()
_ValuePointer = POINTER(c.Value)


def _durability(durable: bool) -> Any:
    return _DURABLE if durable else _RELAXED


#: The bytes of a key, of the last ones without making them anew.
_key = functools.lru_cache(1024)(c.text_bytes)
_generation = library.group_defaults_generation
# Without types of its arguments, which are pointers that were made before: checking them takes as long as the call.
_defaults_set: Any = library["group_defaults_set"]
_defaults_set.restype = c_int32
#: How many values an object keeps as they were read; of texts and data, those up to so many bytes.
_KEPT, _KEPT_BYTES = 1024, 4096


class Defaults(c.Handle, MutableMapping[str, Any]):
    """The keys and values of a suite. A value is a bool, int, float, str, bytes, datetime, list or dict. What one
    process sets, the others see at once; with `durable=True` it is on the disk, too."""

    _closing = "defaults_close"

    def __init__(self, container: Any, suite: Optional[str]) -> None:
        handle = c_void_p()
        call("defaults_open", container, None if suite is None else c.text_bytes(suite), byref(handle))
        self._handle: Any = handle
        # By key: the suite's generation before the value was read, the value, and its generation.
        self._seen: Dict[str, Tuple[int, Any, int]] = {}

    def read_version(self, key: str) -> Tuple[Any, int]:
        """Returns a value, and its generation for a later `set` with `if_generation`. Raises KeyError."""
        before, value = _generation(self._handle), _ValuePointer()
        if call("defaults_get", self._handle, _key(key), byref(value)) == NOTHING:
            raise KeyError(key)
        try:
            given = value.contents
            answer, generation = _python(given), given.generation
            # A list or dict may be changed by the one who gets it.
            if before and given.type != _JSON and given.length <= _KEPT_BYTES:
                if len(self._seen) >= _KEPT:
                    self._seen.clear()
                self._seen[key] = before, answer, generation
            return answer, generation
        finally:
            library.group_value_free(value)

    def __getitem__(self, key: str) -> Any:
        seen = self._seen.get(key)
        if seen is not None and seen[0] == _generation(self._handle):
            return seen[1]
        return self.read_version(key)[0]

    def set(
        self, key: str, value: Any, *, durable: bool = False, if_generation: Optional[int] = None,
        if_absent: bool = False,
    ) -> int:
        """Sets a value, and returns its generation; None removes the key. Raises Conflict where the condition does not
        hold."""
        condition = _durability(durable)
        if if_generation is not None or if_absent:
            condition = options(durable=durable, if_generation=if_generation, if_absent=if_absent)
        if type(value) is not int:
            generation = c_uint64()
            call("defaults_set", self._handle, _key(key), _given(value), condition, byref(generation))
            return generation.value
        try:
            place = _places.pop()
        except IndexError:
            place = _Place()
        place.value.integer = value if -(2**63) <= value < 2**63 else c.whole(value, 64, True)
        pointer, generation_pointer, error = place.pointers
        status: int = _defaults_set(self._handle, _key(key), pointer, condition, generation_pointer, error)
        if status:
            raise c.exception(status, place.error)
        number: int = place.generation.value
        _places.append(place)
        return number

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
        status = call(
            "defaults_compare_and_set", self._handle, _key(key), _given(expected), _given(value), _durability(durable))
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
