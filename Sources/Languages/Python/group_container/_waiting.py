"""Waits that a signal ends, as KeyboardInterrupt does: ctypes calls return to Python only when they are done."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import threading
import time
from ctypes import byref, c_void_p
from typing import Any, Callable, Generic, Iterator, Optional, TypeVar

from ._library import LockTimeout, call, library, milliseconds

Answer = TypeVar("Answer")
#: After a try that has failed, the main thread makes none for so long, in seconds.
_PATIENCE = 0.1
_contended_until = 0.0


class Cancellation:
    """Ends waits from another thread: pass it as `cancellation`, and call `cancel()`."""

    def __init__(self) -> None:
        handle = c_void_p()
        call("cancellation_create", byref(handle))
        self._handle = handle
        self._is_cancelled = False
        self._parts: "list[Cancellation]" = []
        self._guard = threading.Lock()

    def cancel(self) -> None:
        """Ends the waits that are going on, and those that begin later, with Cancelled."""
        with self._guard:
            self._is_cancelled = True
            parts = list(self._parts)
        library.group_cancellation_cancel(self._handle)
        for part in parts:
            part.cancel()

    @contextlib.contextmanager
    def _ending(self, wait: "Cancellation") -> "Iterator[None]":
        """Cancels a wait's own cancellation, too, if this one is cancelled meanwhile or already."""
        with self._guard:
            self._parts.append(wait)
            is_cancelled = self._is_cancelled
        if is_cancelled:
            wait.cancel()
        try:
            yield
        finally:
            with self._guard:
                self._parts.remove(wait)

    def __del__(self) -> None:
        if library is not None and hasattr(self, "_handle"):
            library.group_cancellation_close(self._handle)


def waiting(
    timeout: Optional[float], cancellation: Optional[Cancellation],
    work: Callable[[Optional[float], Optional[Cancellation]], Answer],
    undo: Callable[[Answer], Any] = lambda answer: None, calls_back: bool = False,
) -> Answer:
    """Does work that may wait for locks, and returns its answer.

    On the main thread, which alone runs signal handlers, the work is tried first. If it would have to wait, another
    thread waits, so that a handler runs at once; if the handler raises, the wait is cancelled, and work that was done
    at the same moment is undone. Work that calls back is not tried first: what a handler raises at the beginning of a
    callback, ctypes would drop.
    """
    milliseconds(timeout)
    if (timeout == 0 and not calls_back) or threading.current_thread() is not threading.main_thread():
        return work(timeout, cancellation)
    global _contended_until
    begin = time.monotonic()
    # A try that fails costs more than the thread: the error names the processes in the way.
    if not calls_back and begin >= _contended_until:
        try:
            return work(0, cancellation)
        except LockTimeout:
            _contended_until = begin + _PATIENCE
    rest = None if timeout is None else max(0.0, timeout - (time.monotonic() - begin))
    return _on_a_thread(lambda ended: work(rest, ended), cancellation, undo)


class _Wait(Generic[Answer]):
    """A wait, and how it has ended."""

    def __init__(self, work: Callable[[Cancellation], Answer], ended: Cancellation) -> None:
        self.work = work
        self.ended = ended
        #: Locks count as taken by the thread that waits for this one.
        self.caller = library.group_thread()
        self.answers: "list[Answer]" = []
        self.errors: "list[BaseException]" = []
        self.done: "queue.SimpleQueue[None]" = queue.SimpleQueue()


class _Waiter:
    """A thread that does one wait after the other, as starting one takes longer than most waits."""

    def __init__(self) -> None:
        self.waits: "queue.SimpleQueue[Optional[_Wait[Any]]]" = queue.SimpleQueue()
        self.cancellation = Cancellation()
        self.thread = threading.Thread(target=self._run, name="group-container wait", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while True:
            wait = self.waits.get()
            if wait is None:
                return
            library.group_call_for(wait.caller)
            try:
                wait.answers.append(wait.work(wait.ended))
            except BaseException as error:  # noqa: B036 - raised again on the main thread
                wait.errors.append(error)
            done = wait.done
            # What a wait refers to is not kept until the next one.
            del wait
            done.put(None)


#: The waiters without a wait. A child of os.fork() has none of their threads.
_idle: "list[_Waiter]" = []
os.register_at_fork(after_in_child=_idle.clear)


def _on_a_thread(
    work: Callable[[Cancellation], Answer], cancellation: Optional[Cancellation], undo: Callable[[Answer], Any],
) -> Answer:
    # The handler of a signal that waits, too, gets another one.
    waiter = _idle.pop() if _idle else _Waiter()
    # A signal ends this wait only, and leaves the caller's cancellation alone. That one may be cancelled when the wait
    # is over already: then it must not end the waiter's next wait.
    wait = _Wait(work, Cancellation() if cancellation else waiter.cancellation)
    try:
        # A handler may raise at any place in here.
        with cancellation._ending(wait.ended) if cancellation else contextlib.nullcontext():
            waiter.waits.put(wait)
            wait.done.get()
    except BaseException:
        wait.ended.cancel()
        waiter.waits.put(None)
        waiter.thread.join()
        if wait.answers:
            undo(wait.answers[0])
        raise
    _idle.append(waiter)
    if wait.errors:
        # No local refers to the error, whose traceback refers to this frame.
        raise wait.errors.pop()
    return wait.answers[0]


class Wake:
    """Ends the waits for a descriptor, from then on. Its own descriptor reports its end."""

    def __init__(self) -> None:
        self.descriptor, self._writer = os.pipe()
        self._guard = threading.Lock()

    def end(self) -> None:
        """Ends the waits; a second call does nothing."""
        with self._guard:
            writer, self._writer = self._writer, -1
        if writer >= 0:
            os.close(writer)

    def __del__(self) -> None:
        if os is not None and hasattr(self, "_guard"):
            self.end()
            os.close(self.descriptor)


def await_descriptor(descriptor: int, wake: Wake, deadline: Optional[float]) -> bool:
    """Waits until a descriptor can be read, the wake has ended, or until the deadline of time.monotonic(). Returns
    whether something has come."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    # The end of a pipe is reported in any case.
    poll.register(wake.descriptor, 0)
    rest = None if deadline is None else min(max(0.0, (deadline - time.monotonic()) * 1000), 1e6)
    return bool(poll.poll(rest))
