"""Files that are changed one after the other, with pauses, and the time until each change is reported."""

import os
import time

from .changes import COORDINATED, Change
from .failures import Failed
from .places import Place
from .row import Contender, Finding
from .session import Session

# By how much a time of one clock may be wrong on another one, in nanoseconds.
CLOCKS_DIFFER = 20_000


def delays(bench, place: Place, contender: Contender, count: int, pace: str) -> Finding:
    """One round: every file exists before, and is changed once. In microseconds from the start of a change."""
    directory = bench.container(contender.watcher, place.fresh())
    bench.changes.make_files(directory, "sample", 0, count)
    bench.learn(contender.watcher, directory)
    with Session(bench, contender.watcher, directory) as session:
        session.await_watching()
        made = bench.changes.run(contender.way, directory, 0, count, pace)
        session.await_told(count)
        arrivals = session.arrivals.dump()
    reported = [(arrivals[change.number].first - change.began) / 1000 for change in made if change.number in arrivals]
    if any(delay < 0 for delay in reported):
        raise Failed("a file was reported before it was changed: its delay is unknown")
    taken = [(change.done - change.began) / 1000 for change in made]
    moments = {change.number: renamed(change, directory, contender) for change in made if change.number in arrivals}
    after = [(arrivals[number].first - moment) / 1000 for number, moment in moments.items() if moment is not None]
    if len(after) * 2 < len(moments):
        raise Failed("files have no exact time of their last change: this kernel or file system keeps none")
    return {"delays": reported, "taken": taken, "after": after, "lost": len(made) - len(reported)}


def wall_clock_ahead() -> int:
    """By how much the wall clock is ahead of the monotonic one, as exactly as Python can read both."""
    tries = []
    for _ in range(20):
        before, wall, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        tries.append((after - before, wall - (before + after) // 2))
    return min(tries)[1]


def renamed(change: Change, directory: str, contender: Contender) -> int | None:
    """The time at which a file was renamed into place. A coordinated call does more afterwards; there the file has it:
    the kernel sets the time of the last change, exactly, as the call looked at the file before. None where it has only
    that of the last clock tick."""
    if contender.way != COORDINATED:
        return change.done
    status = os.stat(os.path.join(directory, f"sample-{change.number:06}"))
    moment = status.st_ctime_ns - wall_clock_ahead()
    return moment if change.began - CLOCKS_DIFFER <= moment <= change.done + CLOCKS_DIFFER else None
