"""Prints a line an event that watchdog sees below a directory, its recursion and pairing of moves included."""

import sys

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer


class Lines(FileSystemEventHandler):
    """Reading is no change: what watchdog tells of opened and closed files beyond that is left out."""

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in ("opened", "closed_no_write"):
            return
        sys.stdout.write(f"{event.event_type} {event.src_path} {event.dest_path}\n")
        sys.stdout.flush()


observer = Observer()
observer.schedule(Lines(), sys.argv[1], recursive=True)
observer.start()
observer.join()
