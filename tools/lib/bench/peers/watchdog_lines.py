"""Prints a line for each event of watchdog below a directory, with its recursion and pairing of moves."""

import sys

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer


class Lines(FileSystemEventHandler):
    """Prints changes. Leaves out watchdog's other events, of opened and closed files, because reading is no change."""

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in ("opened", "closed_no_write"):
            return
        sys.stdout.write(f"{event.event_type} {event.src_path} {event.dest_path}\n")
        sys.stdout.flush()


observer = Observer()
observer.schedule(Lines(), sys.argv[1], recursive=True)
observer.start()
observer.join()
