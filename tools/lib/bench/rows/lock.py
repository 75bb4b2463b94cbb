"""The cost of an uncontended lock, and of a contended one."""

import os
import time

from ..failures import Failed
from ..figures import median, percentile
from ..file_peers import BARE, FILELOCK, LOCK
from ..goals import Goal
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import StoreContender
from ..table import Table
from .increments import highest, lowest, middle

PATHS = {1: "a", 3: "a/b/c", 8: "a/b/c/d/e/f/g/h"}
OFD, FLOCK = "bare OFD lock", "flock(2)"


def column(mode: str, depth: int) -> str:
    return f"{mode} lock, depth {depth}"


class Lock(Row):
    name = "lock"
    title = "an uncontended lock, and its end; {batches} batches a round"
    places = ("disk",)
    rounds = 10
    sizes = {"batches": (50, 20)}
    ours = {column(mode, depth): (path, mode) for depth, path in PATHS.items() for mode in ("write", "read")}

    def goals(self) -> list[Goal]:
        goals = [
            Goal(f"{name}: within 1.4 of a bare lock and unlock", "median, ns", name, most=1.4, of=(OFD,))
            for name in (column("write", 1), column("read", 1), column("write", 8))
        ]
        return [*goals, Goal("far below py-filelock", "median, ns", column("write", 1), most=0.2, of=(FILELOCK.name,))]

    def contenders(self) -> list[StoreContender]:
        theirs = [StoreContender(OFD, BARE), StoreContender(FLOCK, BARE), StoreContender(FILELOCK.name, FILELOCK)]
        return [*(StoreContender(name, LOCK) for name in self.ours), *theirs]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        batches = self.size("batches")
        words: dict[str, tuple] = {OFD: ("ofd", 200, batches), FLOCK: ("flock", 200, batches)}
        words[FILELOCK.name] = (20, batches)
        if contender.column in self.ours:
            directory = place.fresh()
            bench.changes.make_container(directory)
            with StoreSession(bench, contender, directory, is_made=True) as session:
                lines = session.numbers("lock", *self.ours[contender.column], 200, batches)
        else:
            with StoreSession(bench, contender, place.fresh()) as session:
                lines = session.numbers("lock", *words[contender.column])
        return {"times": [nanoseconds for (nanoseconds,) in lines]}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        times = gathered(findings, "times")
        for label, percent in (("median", 50), ("p99", 99)):
            measure = table.add(f"{label}, ns", cells(times, lambda samples: percentile(samples, percent)))
            for base in (OFD, FILELOCK.name):
                table.add_ratio(measure, base)
        table.notes.append("each sample is a batch of 200, of py-filelock's 20, divided by that")


class Contended(Row):
    name = "lock-contended"
    title = "{processes} processes add to a number in one file, each under a lock, for {seconds} s"
    places = ("disk",)
    rounds = 3
    sizes = {"processes": (8, 8), "seconds": (5, 0.4)}
    # With its default delay, and with the shortest one.
    polls = {FILELOCK.name: "0.05", f"{FILELOCK.name}, polling each ms": "0.001"}

    def goals(self) -> list[Goal]:
        rate, least = "additions a second, median", "operations of the slowest process ÷ of the fastest, lowest round"
        wait = "the longest wait, ms"
        return [
            Goal("none is lost", "lost", LOCK.name, most=0),
            Goal("fair: the slowest process makes at least half as many as the fastest", least, LOCK.name, least=0.5),
            Goal("no wait above 150 ms", wait, LOCK.name, most=150),
            Goal("no wait longer than py-filelock's", wait, LOCK.name, most=1, of=tuple(self.polls)),
            Goal("half of py-filelock's rate, with each write recorded", rate, LOCK.name, least=0.5, of=tuple(self.polls)),
        ]

    def contenders(self) -> list[StoreContender]:
        theirs = [StoreContender(name, FILELOCK) for name in self.polls]
        return [StoreContender(LOCK.name, LOCK), *theirs, StoreContender(FLOCK, BARE)]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        directory, count, seconds = place.fresh(), self.size("processes"), self.size("seconds")
        is_ours = contender.party is LOCK
        number = os.path.join(directory, "n")
        with open(number, "w", encoding="ascii") as file:
            file.write("0\n")
        if is_ours:
            bench.changes.make_container(directory)
        with StoreSession(bench, contender, directory, is_made=is_ours) as session:
            # Python starts slowly.
            seconds_before = (1 if contender.party is FILELOCK else 0.3) if self.is_quick else 2
            begin = time.monotonic_ns() + int(seconds_before * 1e9)
            words = ("work", directory, 0, begin, begin + int(seconds * 1e9))
            poll = [self.polls[contender.column]] if contender.column in self.polls else []
            workers = [session.popen([*session.found, *poll, *map(str, words), str(seed + 1)]) for seed in range(count)]
            lines = [session.finish(worker, "work")[0] for worker in workers]
        with open(number, encoding="ascii") as file:
            total = int(file.read())
        counts = [int(line[0]) for line in lines]
        if not all(counts):
            raise Failed("a process added nothing: it got no turn, or started too late on a busy machine")
        return {
            "rate": sum(counts) / seconds,
            "least": min(counts) / max(counts) if max(counts) else None,
            "longest": max(line[2] for line in lines) / 1000,
            "lost": abs(sum(counts) - total),
            "faults": int(sum(line[4] for line in lines)),
        }

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        rate = table.add("additions a second, median", cells(gathered(findings, "rate"), middle))
        table.add_ratio(rate, FILELOCK.name)
        table.add_ratio(rate, FLOCK)
        table.add("operations of the slowest process ÷ of the fastest, lowest round", cells(gathered(findings, "least"), lowest))
        wait = table.add("the longest wait, ms", cells(gathered(findings, "longest"), highest))
        table.add("the longest wait of a round, ms, median", cells(gathered(findings, "longest"), median))
        table.add_ratio(wait, FILELOCK.name)
        table.add("lost", cells(gathered(findings, "lost"), sum))
        table.add("went back", cells(gathered(findings, "faults"), sum))
