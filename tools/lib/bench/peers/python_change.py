"""The observer of our package for Python, and watchdog's.

usage: python_change.py PARTY create DIRECTORY
       python_change.py PARTY change DIRECTORY COUNT   replace a file; print nanoseconds until the handler ran

PARTY is group or watchdog.
"""

import os
import queue
import sys
import time


def change(party, count):
    if party == "group":
        from group_container import Container

        Container(".", create=True, adopt=True)
        from group_container.watchdog import FileSystemEventHandler, Observer
    else:
        from watchdog.events import FileSystemEventHandler
        from watchdog.observers import Observer
    moments = queue.Queue()

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event):
            # The last event of a replacement: watchdog reports the rename as one.
            if (event.dest_path or event.src_path).endswith("/item"):
                moments.put(time.monotonic_ns())

    observer = Observer()
    observer.schedule(Handler(), ".", recursive=True)
    observer.start()
    time.sleep(0.5)
    for number in range(count):
        with open(".item.new" if party == "watchdog" else "item.new", "w", encoding="ascii") as file:
            file.write("%d" % number)
        while not moments.empty():
            moments.get()
        began = time.monotonic_ns()
        os.rename(file.name, "item")
        print(moments.get(timeout=10) - began)
        time.sleep(0.005)
    observer.stop()
    observer.join()


def main(words):
    party, word, directory = words[:3]
    os.chdir(directory)
    if word == "change":
        change(party, int(words[3]))


main(sys.argv[1:])
