"""Prints a line for each change that watchfiles reports below a directory, with its shortest delay."""

import sys

from watchfiles import watch

for changes in watch(sys.argv[1], watch_filter=None, debounce=1, step=1, recursive=True):
    sys.stdout.write("".join(f"{change.name} {path}\n" for change, path in changes))
    sys.stdout.flush()
