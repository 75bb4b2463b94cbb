"""The words of watchdog for directories of a container.

    from group_container.watchdog import FileSystemEventHandler, Observer

    class Printing(FileSystemEventHandler):
        def on_any_event(self, event):
            print(event.event_type, event.src_path)

    observer = Observer()
    observer.schedule(Printing(), "shared", recursive=True)
    observer.start()

The events come in order and once, also for changes that were made while the handler ran. Other than watchdog's: a file
that is replaced by a rename is modified, and no temporary file is seen; there are no events for opening and closing; an
event of a directory does not come for each file in it. Where watchdog is installed, the events are instances of its
classes, and its handlers can be used.
"""

from __future__ import annotations

import errno
import os
import select
import sys
import threading
from typing import Any, Callable, List, Optional, Tuple

from ._container import Container
from ._following import Change
from ._library import GroupError, NotFound, PathLike
from .filelock import _located

__all__ = ["FileSystemEvent", "FileSystemEventHandler", "Observer"]

try:  # pragma: no cover - depends on what is installed
    from watchdog import events as _events  # type: ignore[import-not-found,unused-ignore]
    from watchdog.events import FileSystemEvent, FileSystemEventHandler  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    _events = None

    class FileSystemEvent:  # type: ignore[no-redef,unused-ignore]
        """A change of a file or directory."""

        event_type = ""
        is_directory = False

        def __init__(self, src_path: str, dest_path: str = "") -> None:
            self.src_path = src_path
            self.dest_path = dest_path

        def __repr__(self) -> str:
            return "<%s %s %s%s>" % (
                type(self).__name__, self.event_type, self.src_path, " → " + self.dest_path if self.dest_path else "")

    class FileSystemEventHandler:  # type: ignore[no-redef,unused-ignore]
        """Gets events: overwrite `on_any_event`, `on_created`, `on_modified`, `on_deleted`, `on_moved`."""

        def dispatch(self, event: Any) -> None:
            """Calls `on_any_event`, and the method for the event's type."""
            self.on_any_event(event)
            getattr(self, "on_" + event.event_type)(event)

        def on_any_event(self, event: Any) -> None:
            """Called for each event."""

        def on_created(self, event: Any) -> None:
            """Called when a file or directory is created."""

        def on_modified(self, event: Any) -> None:
            """Called when a file's content or permissions change."""

        def on_deleted(self, event: Any) -> None:
            """Called when a file or directory is removed."""

        def on_moved(self, event: Any) -> None:
            """Called when a file or directory is moved or renamed."""


_TYPES = {
    "created": "created", "modified": "modified", "touched": "modified", "removed": "deleted", "moved": "moved",
    "exchanged": "modified",
}


def _event(event_type: str, is_directory: bool, source: str, destination: str) -> Any:
    name = ("Dir" if is_directory else "File") + event_type.capitalize() + "Event"
    if _events is not None:
        return getattr(_events, name)(*([source, destination] if event_type == "moved" else [source]))
    event = type(name, (FileSystemEvent,), {"event_type": event_type, "is_directory": is_directory})
    return event(source, destination)


class _Watch:
    """A scheduled handler."""

    def __init__(self, handler: Any, path: PathLike, recursive: bool) -> None:
        self.handler, self.path, self.recursive = handler, os.fsdecode(path), recursive
        if not os.path.isdir(self.path):
            missing = FileNotFoundError if not os.path.exists(self.path) else NotADirectoryError
            raise missing(errno.ENOENT if missing is FileNotFoundError else errno.ENOTDIR, "no directory", self.path)
        root, self.inside = _located(os.path.join(self.path, "_"))
        self.inside = os.path.dirname(self.inside)
        self.container = Container(root)
        self.follower = self.container.follow()

    def wants(self, path: str) -> bool:
        """Returns whether the handler gets the events of a path in the container."""
        directory = os.path.dirname(path)
        if directory == self.inside:
            return True
        return self.recursive and (not self.inside or path.startswith(self.inside + "/"))

    def shown(self, path: str) -> str:
        """Returns a path in the container as the caller sees it."""
        return os.path.join(self.path, os.path.relpath(path, self.inside or "."))

    def deliver(self, change: Change) -> None:
        """Gives a change to the handler."""
        event_type = _TYPES.get(change.kind)
        if event_type is None:
            return
        is_directory = change.type == "directory"
        source, destination = change.path, ""
        if change.kind == "moved" and change.other_path is not None:
            if not self.wants(change.path):
                event_type, source = "deleted", change.other_path
            elif not self.wants(change.other_path):
                event_type = "created"
            else:
                source, destination = change.other_path, self.shown(change.path)
        if self.wants(source):
            self.handler.dispatch(_event(event_type, is_directory, self.shown(source), destination))


class Observer(threading.Thread):
    """Calls handlers for the events of directories, on its own thread."""

    def __init__(self, timeout: float = 1) -> None:
        super().__init__(name="group-container observer", daemon=True)
        self._watches: List[_Watch] = []
        self._guard = threading.Lock()
        self._wake: Tuple[int, int] = os.pipe()
        self._stopped = False

    def schedule(self, event_handler: Any, path: PathLike, recursive: bool = False, **others: Any) -> _Watch:
        """Calls a handler for the events of a directory, with `recursive` also of those in it."""
        watch = _Watch(event_handler, path, recursive)
        with self._guard:
            self._watches.append(watch)
        self._look()
        return watch

    def unschedule(self, watch: _Watch) -> None:
        """Ends the calls of a handler."""
        with self._guard:
            if watch in self._watches:
                self._watches.remove(watch)
        self._look()

    def unschedule_all(self) -> None:
        """Ends the calls of all handlers."""
        with self._guard:
            self._watches.clear()
        self._look()

    def stop(self) -> None:
        """Ends the thread; `join` waits for that."""
        self._stopped = True
        self._look()

    def _look(self) -> None:
        """Makes the thread look what there is to do."""
        with self._guard:
            if self._wake[1] >= 0:
                os.write(self._wake[1], b"w")

    def run(self) -> None:
        """Waits for changes, and delivers them."""
        try:
            self._serve()
        finally:
            with self._guard:
                for descriptor in self._wake:
                    os.close(descriptor)
                self._wake = (-1, -1)

    def _serve(self) -> None:
        while not self._stopped:
            with self._guard:
                watches = list(self._watches)
            poll = select.poll()
            poll.register(self._wake[0], select.POLLIN)
            for watch in watches:
                poll.register(watch.follower.fileno(), select.POLLIN)
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self._wake[0] in ready:
                os.read(self._wake[0], 4096)
            for watch in watches:
                if watch.follower.fileno() not in ready:
                    continue
                while not self._stopped and watch in self._watches and self._deliver_next(watch):
                    pass

    def _deliver_next(self, watch: _Watch) -> bool:
        """Delivers what comes next. Returns false if there is nothing now."""
        try:
            change: Optional[Change] = watch.follower.next(0)
        except GroupError as error:
            # No more can be read: the container was removed, or is damaged.
            self.unschedule(watch)
            if isinstance(error, NotFound):
                self._deliver(lambda: watch.handler.dispatch(_event("deleted", True, watch.path, "")))
            else:
                self._report()
            return False
        if change is not None:
            self._deliver(lambda: watch.deliver(change))
        return change is not None

    def _deliver(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:  # noqa: B902 - what a handler raises for one event keeps it from no other
            self._report()

    def _report(self) -> None:
        """Reports the exception that is being handled."""
        threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), self)))
