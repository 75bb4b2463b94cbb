"""Waiting with a bound, other programs, and what the check prints."""

import pathlib
import subprocess
import sys
import time

from gi.repository import GLib

PATIENCE = 60.0  # seconds
DIRECTORY = pathlib.Path(sys.argv[1])
PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] else None


def fail(text):
    if PICTURES is not None:
        run("import", "-silent", "-window", "root", f"png:{PICTURES}/failed.png")
    print(f"tools/window-check: {text}", file=sys.stderr)
    sys.exit(1)


def holds(text):
    print(f"  {text}", flush=True)


def eventually(what, question):
    """Asks until the answer is not false, and returns it. An item of the window that goes away while it is asked for
    its name is no answer yet."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            answer, fault = question(), ""
        except GLib.Error as error:
            answer, fault = None, f" ({error.message})"
        if answer:
            return answer
        if time.monotonic() > end:
            fail(f"waited in vain: {what}{fault}")
        time.sleep(0.02)


def run(*command, **options):
    return subprocess.run(command, check=True, timeout=PATIENCE, stdout=subprocess.PIPE, **options).stdout
