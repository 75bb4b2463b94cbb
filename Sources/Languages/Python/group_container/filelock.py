"""The words of py-filelock for a file that lies in a container.

    from group_container.filelock import FileLock, Timeout

    with FileLock("shared/state.json", timeout=5):
        ...

The lock is the container's lock of that item: programs in any language wait for it, an error names the process that
holds it, and it ends with its process. No lock file is made; the item itself need not exist. Other than py-filelock's,
the lock is queued, not polled, so `poll_interval` has no meaning.
"""

from __future__ import annotations

import os
import threading
import types
from typing import Any, Callable, Optional, Tuple

from ._container import Container, Locks
from ._library import GroupError, PathLike

__all__ = ["FileLock", "Timeout"]


class Timeout(TimeoutError):
    """The lock was not granted in time; `__cause__` names the processes that hold it."""

    def __init__(self, lock_file: str) -> None:
        super().__init__("The file lock '%s' could not be acquired." % lock_file)
        self.lock_file = lock_file


def _located(path: PathLike) -> Tuple[str, str]:
    """Returns the container around a path, and the path in it. Raises ValueError where there is none."""
    whole = os.path.abspath(os.fsdecode(path))
    # A link in the path may lead into a container, or out of one; the item itself is not followed.
    directory = os.path.realpath(os.path.dirname(whole))
    whole = os.path.join(directory, os.path.basename(whole))
    while True:
        if os.path.isdir(os.path.join(directory, ".group")):
            return directory, os.path.relpath(whole, directory)
        if directory == os.path.dirname(directory):
            raise ValueError(
                "%s lies in no container: make one of a directory above it with group_container.Container(path, "
                "create=True)" % whole)
        directory = os.path.dirname(directory)


class FileLock:
    """An exclusive lock that its thread may acquire several times; with `thread_local=False`, each thread of the
    process. A negative timeout waits without end; where the wait could never end, GroupError says so. `mode` is that of a
    lock file, and has no meaning here."""

    def __init__(
        self, lock_file: PathLike, timeout: float = -1, mode: int = 0o644, thread_local: bool = True, *,
        blocking: bool = True, poll_interval: float = 0.05, purpose: Optional[str] = None,
    ) -> None:
        directory, self._item = _located(lock_file)
        self._container = Container(directory, purpose=purpose)
        self.lock_file = os.fsdecode(lock_file)
        self.timeout = timeout
        self.blocking = blocking
        self._new_own: Callable[[], Any] = threading.local if thread_local else types.SimpleNamespace
        self._own, self._process = self._new_own(), os.getpid()

    @property
    def is_locked(self) -> bool:
        """Whether this thread holds the lock by this object."""
        return self.lock_counter > 0

    @property
    def lock_counter(self) -> int:
        """How often this thread has acquired the lock and not released it."""
        if self._process != os.getpid():
            # What the parent holds, its child does not.
            self._own, self._process = self._new_own(), os.getpid()
        return getattr(self._own, "counter", 0)

    def acquire(
        self, timeout: Optional[float] = None, poll_interval: float = 0.05, *, blocking: Optional[bool] = None
    ) -> "_Acquired":
        """Acquires the lock. Raises Timeout."""
        if not self.is_locked:
            limit = self.timeout if timeout is None else timeout
            if not (self.blocking if blocking is None else blocking):
                limit = 0
            try:
                self._own.locks = self._container.lock(self._item, timeout=None if limit < 0 else limit)
            except GroupError as error:
                # A wait that would never end has no end to wait for.
                if error.code == "lockTimedOut" or error.code == "deadlock" and limit >= 0:
                    raise Timeout(self.lock_file) from error
                raise
        self._own.counter = self.lock_counter + 1
        return _Acquired(self)

    def release(self, force: bool = False) -> None:
        """Releases the lock when it is released as often as it was acquired; with `force` at once."""
        if not self.is_locked:
            return
        self._own.counter = 0 if force else self.lock_counter - 1
        if self._own.counter == 0:
            locks: Locks = self._own.locks
            del self._own.locks
            locks.unlock()

    def __enter__(self) -> "FileLock":
        self.acquire()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.release()

    def __repr__(self) -> str:
        return "FileLock(%r)" % self.lock_file


class _Acquired:
    """What `acquire` returns: releases the lock at the end of a `with` block."""

    def __init__(self, lock: FileLock) -> None:
        self.lock = lock

    def __enter__(self) -> FileLock:
        return self.lock

    def __exit__(self, *exception: Any) -> None:
        self.lock.release()
