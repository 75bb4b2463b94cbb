"""Waits that a signal ends, as KeyboardInterrupt does: ctypes calls return to Python only when they are done."""

from __future__ import annotations

import select
import threading
import time
from ctypes import byref, c_void_p
from typing import Any, Callable, Optional, TypeVar

from ._library import LockTimeout, call, library, milliseconds

Answer = TypeVar("Answer")


class Cancellation:
    """Ends waits from another thread: pass it as `cancellation`, and call `cancel()`."""

    def __init__(self) -> None:
        handle = c_void_p()
        call("cancellation_create", byref(handle))
        self._handle = handle
        self._is_cancelled = False

    def cancel(self) -> None:
        """Ends the waits that are going on, and those that begin later, with Cancelled."""
        self._is_cancelled = True
        library.group_cancellation_cancel(self._handle)

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
    begin = time.monotonic()
    if not calls_back:
        try:
            return work(0, cancellation)
        except LockTimeout:
            pass
    rest = None if timeout is None else max(0.0, timeout - (time.monotonic() - begin))
    ended = cancellation or Cancellation()
    answers: "list[Any]" = []
    errors: "list[BaseException]" = []
    done = threading.Event()

    def run() -> None:
        try:
            answers.append(work(rest, ended))
        except BaseException as error:  # noqa: B036 - raised again on the main thread
            errors.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=run, name="group-container wait", daemon=True)
    try:
        # A handler may raise in here, too, when the thread has begun.
        thread.start()
        done.wait()
    except BaseException:
        ended.cancel()
        if thread.ident is not None:
            thread.join()
        if answers:
            undo(answers[0])
        raise
    thread.join()
    if errors:
        # No local refers to the error, whose traceback refers to this frame.
        raise errors.pop()
    return answers[0]  # type: ignore[no-any-return]


def await_descriptor(descriptor: int, deadline: Optional[float]) -> bool:
    """Waits until a descriptor can be read, or the deadline of time.monotonic(). Returns whether it can be read."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    rest = None if deadline is None else min(max(0.0, (deadline - time.monotonic()) * 1000), 1e6)
    return bool(poll.poll(rest))
