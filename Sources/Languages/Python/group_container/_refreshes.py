"""Refreshes of widgets: what a program shows is drawn anew only if something that concerns it has changed."""

from __future__ import annotations

from ctypes import POINTER, byref, c_bool, c_char_p, c_void_p
from typing import Any, Callable, Iterable, List, Optional

from . import _library as c
from ._container import Text, _bytes, options
from ._library import NOTHING, REFUSED, DeliverFunction, call, library
from ._waiting import Cancellation, waiting


class Refresh:
    """A refresh of a widget, between `Container.refresh` and `finish`. One that is not finished has failed: the next
    one gets the same changes again."""

    def __init__(self, handle: Any, is_needed: bool) -> None:
        self._handle = handle
        #: Whether there is something to render. If not, the refresh has ended.
        self.is_needed = is_needed

    @property
    def last(self) -> Optional[bytes]:
        """The snapshot that was delivered last; None where none was, or where the refresh has ended."""
        snapshot = POINTER(c.Content)()
        if self._handle is None or call("refresh_last", self._handle, byref(snapshot)) == NOTHING:
            return None
        try:
            return c.copied(snapshot.contents.data, snapshot.contents.length)
        finally:
            library.group_content_free(snapshot)

    def finish(self, snapshot: Text, deliver: Callable[[bytes], Any] = lambda snapshot: None) -> bool:
        """Ends the refresh with what the widget shows. Calls `deliver` if that is new, and only then moves the widget's
        position: after a crash in between it is delivered again. Returns whether it is new."""
        raw, errors = _bytes(snapshot), []  # type: bytes, List[BaseException]

        def run(context: Any, data: Any, length: int) -> int:
            try:
                deliver(raw)
                return 0
            except BaseException as error:  # noqa: B036 - raised again below
                errors.append(error)
                return 1

        is_new = c_bool()

        def end(limit: Optional[float], token: Optional[Cancellation]) -> int:
            return call("refresh_finish", self._handle, raw, len(raw), DeliverFunction(run), None, byref(is_new))

        if waiting(None, None, end, calls_back=True) == REFUSED:
            self.close()
            raise errors.pop()
        self._handle = None
        return is_new.value

    def close(self) -> None:
        """Ends the refresh; if it is not finished, it has failed."""
        handle, self._handle = self._handle, None
        library.group_refresh_close(handle)

    def __enter__(self) -> "Refresh":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if library is not None and getattr(self, "_handle", None) is not None:
            self.close()


def begin(
    container: Any, kind: str, interests: Iterable[str], is_reload: bool, timeout: Optional[float],
    cancellation: Optional[Cancellation],
) -> Refresh:
    """Begins a refresh: see `Container.refresh`."""
    names = [c.text_bytes(interest) for interest in ([interests] if isinstance(interests, str) else interests)]

    def take(limit: Optional[float], token: Optional[Cancellation]) -> Refresh:
        handle, is_needed = c_void_p(), c_bool()
        texts = (c_char_p * (len(names) + 1))(*names, None)
        given = options(limit, token)
        call("refresh_begin", container, c.text_bytes(kind), texts, is_reload, given, byref(handle), byref(is_needed))
        return Refresh(handle if is_needed.value else None, is_needed.value)

    return waiting(timeout, cancellation, take, lambda refresh: refresh.close())
