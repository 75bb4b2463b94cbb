"""Prints a line a change that watchfiles sees below a directory, set for the shortest delay that it can do."""

import sys

from watchfiles import watch

for changes in watch(sys.argv[1], watch_filter=None, debounce=1, step=1, recursive=True):
    sys.stdout.write("".join(f"{change.name} {path}\n" for change, path in changes))
    sys.stdout.flush()
