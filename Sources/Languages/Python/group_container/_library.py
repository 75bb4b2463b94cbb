"""The C library: its structs, its functions, and its errors as exceptions. See group_container.h for what each does."""

from __future__ import annotations

import ctypes
import errno
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t
from ctypes import c_ubyte, c_uint32, c_uint64, c_void_p
from typing import Any, Dict, List, NamedTuple, Optional, TypeVar, Union

OK, NOTHING, REFUSED = 0, 1, 2
LOCK_TIMED_OUT = 19
FOREVER = -1

Opened = TypeVar("Opened", bound="Handle")
PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class _Holder(Structure):
    _fields_ = [
        ("process", c_int32), ("is_writing", c_bool), ("is_presenting", c_bool), ("since", c_int64),
        ("purpose", c_char_p), ("item", c_char_p), ("command", c_char_p), ("condition", c_char_p),
    ]


class _Error(Structure):
    _fields_ = [
        ("status", c_int32), ("generation", c_uint64), ("message", c_char_p), ("operation", c_char_p),
        ("item", c_char_p), ("container", c_char_p), ("reason", c_char_p), ("remedy", c_char_p),
        ("holders", POINTER(_Holder)), ("holder_count", c_size_t),
    ]


class OpenOptions(Structure):
    _fields_ = [
        ("size", c_size_t), ("flags", c_uint32), ("timeout", c_int64), ("purpose", c_char_p), ("unix_group", c_char_p),
    ]


class Options(Structure):
    _fields_ = [
        ("size", c_size_t), ("timeout", c_int64), ("cancellation", c_void_p), ("durability", c_uint32),
        ("condition", c_uint32), ("generation", c_uint64), ("mode", c_int32), ("recursively", c_bool),
        ("replacing", c_bool),
    ]


class Result(Structure):
    _fields_ = [("generation", c_uint64), ("is_changed", c_bool)]


class Content(Structure):
    _fields_ = [("data", c_void_p), ("length", c_size_t), ("generation", c_uint64)]


class Item(Structure):
    _fields_ = [("path", c_char_p), ("length", c_uint64), ("modified_at", c_int64), ("type", c_int32)]


class Items(Structure):
    _fields_ = [("items", POINTER(Item)), ("count", c_size_t)]


class Intent(Structure):
    _fields_ = [("path", c_char_p), ("is_writing", c_bool)]


class Change(Structure):
    _fields_ = [
        ("kind", c_int32), ("path", c_char_p), ("other_path", c_char_p), ("sequence", c_uint64),
        ("generation", c_uint64), ("time", c_int64), ("author_process", c_int32), ("author_purpose", c_char_p),
        ("transaction", c_char_p), ("transaction_index", c_uint32), ("transaction_count", c_uint32),
        ("cursor", c_char_p), ("reason", c_char_p), ("length", c_int64), ("type", c_int32), ("is_coordinated", c_bool),
    ]


class FollowOptions(Structure):
    _fields_ = [
        ("size", c_size_t), ("since", c_char_p), ("including", POINTER(c_char_p)), ("excluding", POINTER(c_char_p)),
        ("without_purpose", c_char_p), ("snapshot_after_rescan", c_bool), ("quiet", c_int64), ("at_most", c_int64),
    ]


class Value(Structure):
    _fields_ = [
        ("type", c_int32), ("integer", c_int64), ("real", c_double), ("text", c_void_p), ("length", c_size_t),
        ("generation", c_uint64),
    ]


class GivenValue(Structure):
    """A value for the library, which keeps the bytes that it points to."""

    _fields_ = [
        ("type", c_int32), ("integer", c_int64), ("real", c_double), ("text", c_char_p), ("length", c_size_t),
        ("generation", c_uint64),
    ]


class KeyChange(Structure):
    _fields_ = [
        ("key", c_char_p), ("suite", c_char_p), ("old_value", POINTER(Value)), ("new_value", POINTER(Value)),
        ("generation", c_uint64), ("author_process", c_int32), ("author_purpose", c_char_p), ("cursor", c_char_p),
        ("kind", c_int32),
    ]


class Message(Structure):
    _fields_ = [
        ("number", c_uint64), ("data", c_void_p), ("length", c_size_t), ("time", c_int64), ("author_process", c_int32),
        ("author_purpose", c_char_p),
    ]


TransactionFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
DeliverFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)

_error = POINTER(POINTER(_Error))
_result = POINTER(Result)
_options = POINTER(Options)
_contents = POINTER(POINTER(Content))
_items = POINTER(POINTER(Item))

# The arguments of each function that returns a status, without the error at the end.
_SIGNATURES: Dict[str, List[Any]] = {
    "cancellation_create": [POINTER(c_void_p)],
    "open": [c_char_p, POINTER(OpenOptions), POINTER(c_void_p)],
    "open_identifier": [c_char_p, POINTER(OpenOptions), POINTER(c_void_p)],
    "container_path": [c_void_p, POINTER(c_void_p)],
    "container_is_read_only": [c_void_p, POINTER(c_bool)],
    "read": [c_void_p, c_char_p, _options, _contents],
    "write": [c_void_p, c_char_p, c_char_p, c_size_t, _options, _result],
    "remove": [c_void_p, c_char_p, _options, _result],
    "move": [c_void_p, c_char_p, c_char_p, _options, _result],
    "copy": [c_void_p, c_char_p, c_char_p, _options, _result],
    "create_directory": [c_void_p, c_char_p, _options, _result],
    "list": [c_void_p, c_char_p, POINTER(POINTER(Items))],
    "lock": [c_void_p, POINTER(Intent), c_size_t, _options, POINTER(c_void_p)],
    "unlock": [c_void_p],
    "transaction": [c_void_p, POINTER(Intent), c_size_t, TransactionFunction, c_void_p, _options, _result],
    "access_read": [c_void_p, c_char_p, _contents],
    "access_write": [c_void_p, c_char_p, c_char_p, c_size_t, _options, _result],
    "access_remove": [c_void_p, c_char_p, _options, _result],
    "access_move": [c_void_p, c_char_p, c_char_p, _options, _result],
    "access_copy": [c_void_p, c_char_p, c_char_p, _options, _result],
    "access_create_directory": [c_void_p, c_char_p, _options, _result],
    "follow": [c_void_p, POINTER(FollowOptions), POINTER(c_void_p)],
    "note_uncoordinated_changes": [c_void_p],
    "follower_next": [c_void_p, c_int64, c_void_p, POINTER(POINTER(Change))],
    "follower_cursor": [c_void_p, POINTER(c_void_p)],
    "defaults_open": [c_void_p, c_char_p, POINTER(c_void_p)],
    "defaults_get": [c_void_p, c_char_p, POINTER(POINTER(Value))],
    "defaults_set": [c_void_p, c_char_p, POINTER(GivenValue), _options, POINTER(c_uint64)],
    "defaults_compare_and_set": [c_void_p, c_char_p, POINTER(GivenValue), POINTER(GivenValue), _options],
    "defaults_increment": [c_void_p, c_char_p, c_int64, _options, POINTER(c_int64)],
    "defaults_keys": [c_void_p, POINTER(POINTER(Items))],
    "defaults_follow": [c_void_p, POINTER(c_char_p), c_char_p, POINTER(c_void_p)],
    "key_follower_next": [c_void_p, c_int64, c_void_p, POINTER(POINTER(KeyChange))],
    "channel_open": [c_void_p, c_char_p, POINTER(c_void_p)],
    "channel_post": [c_void_p, c_char_p, c_size_t, _options, POINTER(c_uint64)],
    "channel_listen": [c_void_p, c_char_p, c_bool, POINTER(c_void_p)],
    "listener_next": [c_void_p, c_int64, c_void_p, POINTER(POINTER(Message))],
    "listener_acknowledge": [c_void_p, c_uint64, _options],
    "refresh_begin": [
        c_void_p, c_char_p, POINTER(c_char_p), c_bool, _options, POINTER(c_void_p), POINTER(c_bool),
    ],
    "refresh_last": [c_void_p, _contents],
    "refresh_finish": [c_void_p, c_char_p, c_size_t, DeliverFunction, c_void_p, POINTER(c_bool)],
}
_CLOSING = [
    "close", "cancellation_cancel", "cancellation_close", "follower_close", "key_follower_close", "defaults_close",
    "channel_close", "listener_close", "refresh_close", "free", "error_free", "content_free", "items_free", "change_free",
    "value_free", "key_change_free", "message_free",
]
_DESCRIPTORS = ["follower_descriptor", "key_follower_descriptor", "listener_descriptor"]


def _load() -> ctypes.CDLL:
    """Loads the library: of GROUP_CONTAINER_LIBRARY, else the one beside this module, else the system's."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libgroupcontainer.so.0")
    name = os.environ.get("GROUP_CONTAINER_LIBRARY") or (beside if os.path.exists(beside) else "libgroupcontainer.so.0")
    library = ctypes.CDLL(name)
    for function, arguments in _SIGNATURES.items():
        bound = getattr(library, "group_" + function)
        bound.argtypes, bound.restype = arguments + [_error], c_int32
    for function in _CLOSING:
        bound = getattr(library, "group_" + function)
        bound.argtypes, bound.restype = [c_void_p], None
    for function in _DESCRIPTORS:
        bound = getattr(library, "group_" + function)
        bound.argtypes, bound.restype = [c_void_p], c_int
    library.group_defaults_generation.argtypes, library.group_defaults_generation.restype = [c_void_p], c_uint64
    library.group_status_name.argtypes, library.group_status_name.restype = [c_int32], c_char_p
    library.group_thread.argtypes, library.group_thread.restype = [], c_uint64
    library.group_call_for.argtypes, library.group_call_for.restype = [c_uint64], None
    library.group_version.argtypes, library.group_version.restype = [], c_char_p
    return library


library = _load()
#: The functions that `call` calls, and the type of an error's place: found once, as a call of a key takes microseconds.
functions: Dict[str, Any] = {function: getattr(library, "group_" + function) for function in _SIGNATURES}
ErrorPointer = POINTER(_Error)
version: str = library.group_version().decode()


class Holder(NamedTuple):
    """A process that is in the way."""

    process: int
    purpose: str
    item: str
    is_writing: bool
    command: Optional[str]
    #: "running", "stopped" or "zombie"; None where the system does not say.
    condition: Optional[str]


class GroupError(OSError):
    """A call of a container has failed. `code` says how: "lockTimedOut", "conflict", "notFound", …"""

    #: The number of the system for errors that the system has, too.
    _number: Optional[int] = None

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.errno, self.strerror = self._number, message
        self.code = code
        self.message = message
        self.operation: Optional[str] = None
        self.item: Optional[str] = None
        self.reason: Optional[str] = None
        self.remedy: Optional[str] = None
        #: With "conflict": the present generation; 0 where there is no item.
        self.generation = 0
        self.holders: List[Holder] = []

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Any:
        return _restored, (type(self), self.code, self.message, self.__dict__)


def _restored(kind: Any, code: str, message: str, attributes: Dict[str, Any]) -> Any:
    """Returns an error that was pickled."""
    error = kind(code, message)
    error.__dict__.update(attributes)
    return error


class LockTimeout(GroupError, TimeoutError):
    """The items stayed locked by other processes, which `holders` names."""

    _number = errno.ETIMEDOUT


class Conflict(GroupError):
    """The condition of a write does not hold: another process was faster."""


class NotFound(GroupError, FileNotFoundError):
    """There is no such item or container."""

    _number = errno.ENOENT


class Cancelled(GroupError):
    """The wait was cancelled."""


class NotPermitted(GroupError, PermissionError):
    """This user may not do that."""

    _number = errno.EACCES


_CLASSES = {
    "lockTimedOut": LockTimeout, "conflict": Conflict, "notFound": NotFound, "cancelled": Cancelled,
    "notPermitted": NotPermitted,
}


def _text(raw: Optional[bytes]) -> Optional[str]:
    return None if raw is None else raw.decode("utf-8", "surrogateescape")


def exception(status: int, error: Any) -> GroupError:
    code = _text(library.group_status_name(status)) or str(status)
    if not error:
        return _CLASSES.get(code, GroupError)(code, code)
    try:
        given = error.contents
        raised = _CLASSES.get(code, GroupError)(code, _text(given.message) or code)
        raised.operation, raised.item, raised.reason, raised.remedy = (
            _text(given.operation), _text(given.item), _text(given.reason), _text(given.remedy),
        )
        raised.generation = given.generation
        for index in range(given.holder_count):
            one = given.holders[index]
            raised.holders.append(
                Holder(
                    one.process, _text(one.purpose) or "", _text(one.item) or "", one.is_writing, _text(one.command),
                    _text(one.condition),
                ))
    finally:
        library.group_error_free(error)
    return raised


def call(function: str, *arguments: Any) -> int:
    """Calls a function, and returns its status: OK, NOTHING or REFUSED. Raises GroupError otherwise."""
    error = ErrorPointer()
    status: int = functions[function](*arguments, byref(error))
    if status > REFUSED:
        raise exception(status, error)
    return status


class Handle:
    """An object of the library, which is closed with the last reference to it, or before."""

    _handle: Any
    #: The function that closes it.
    _closing: str
    _is_closed = False

    def close(self) -> None:
        """Ends what this object does; a second call does nothing."""
        # The handle stays: it is never used again, so that a later call says that it is closed.
        self._is_closed = True
        getattr(library, "group_" + self._closing)(self._handle)

    def __enter__(self: Opened) -> Opened:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        # At the end of the interpreter the module may be gone.
        if library is not None and hasattr(self, "_handle"):
            self.close()


def path_bytes(path: PathLike) -> bytes:
    """Returns a path as the bytes that the kernel has. Raises ValueError where it has a NUL."""
    raw = os.fsencode(path)
    if b"\0" in raw:
        raise ValueError("a path has no NUL: %r" % (path,))
    return raw


def text_bytes(text: str) -> bytes:
    """Returns text as C has it. Raises ValueError where it has a NUL, or a half of a surrogate pair."""
    if not isinstance(text, str):
        raise TypeError("a name is text, not %s" % type(text).__name__)
    raw = text.encode()
    if b"\0" in raw:
        raise ValueError("a name has no NUL: %r" % text)
    return raw


def path_text(raw: Optional[bytes]) -> str:
    """Returns a path as text, as os.fsdecode does."""
    return os.fsdecode(raw or b"")


def milliseconds(seconds: Optional[float]) -> int:
    """Returns a time limit of Python, in seconds or None, as one of C."""
    if seconds is None or seconds == float("inf"):
        return FOREVER
    if seconds < 0:
        raise ValueError("a timeout is not negative: %r" % (seconds,))
    return min(int(seconds * 1000 + 0.999), 2**62)


def whole(number: int, bits: int, signed: bool = False) -> int:
    """Returns a whole number that fits. Raises OverflowError for another one, which ctypes would cut."""
    lowest, end = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if signed else (0, 2**bits)
    if not lowest <= number < end:
        raise OverflowError("a whole number beyond %d bits: %d" % (bits, number))
    return number


def copied(pointer: Any, length: int) -> bytes:
    """Returns a copy of memory of the library."""
    if not pointer:
        return b""
    if length < 2**31:
        return ctypes.string_at(pointer, length)
    # The length of string_at has 31 bits.
    raw: bytes = ctypes.cast(pointer, POINTER(ctypes.c_char * length)).contents.raw
    return raw
