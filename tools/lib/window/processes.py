"""What the kernel tells of processes."""

import pathlib
import re


def children(process):
    found = []
    for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(word) for word in task.read_text().split()]
        except OSError:
            pass  # The thread has ended.
    return found


def state(process):
    try:
        text = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    return text[text.rindex(")") + 2]


def switches(process):
    """Returns how often each thread of a process has gone to sleep or was interrupted."""
    found = {}
    for thread in pathlib.Path(f"/proc/{process}/task").glob("*"):
        try:
            numbers = re.findall(r"ctxt_switches:\s+(\d+)", (thread / "status").read_text())
            found[(thread / "comm").read_text().strip(), thread.name] = sum(map(int, numbers))
        except OSError:
            pass  # The thread has ended.
    return found
