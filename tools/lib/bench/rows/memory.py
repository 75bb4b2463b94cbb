"""The memory of a watcher of many files, and what a command takes to start."""

import subprocess
import time

from ..figures import median
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, cells, gathered, one_each
from ..session import Session
from ..table import Table
from ..watchers import EVERYONE, INOTIFYWAIT, OURS, PEERS

PEAK = "peak memory, MiB"


class Memory(Row):
    name = "memory"
    title = "the memory of a watcher of {files:,} files, 100 a directory"
    places = ("memory",)
    sizes = {"files": (1_000_000, 20_000)}

    def goals(self) -> list[Goal]:
        return [Goal("at most 250 MiB", PEAK, OURS.name, most=250)]

    def contenders(self) -> list[Contender]:
        return one_each([OURS, *PEERS])

    def prepare(self, bench, place: Place) -> None:
        bench.progress.show(f"{self.name} ({place.type}): making a tree")
        self.tree = place.fresh("tree")
        bench.changes.make_tree(self.tree, self.size("files") // 100, self.size("files"))

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        bench.container(contender.watcher, self.tree)
        with Session(bench, contender.watcher, self.tree) as session:
            session.await_watching(limit=30 if self.is_quick else 300)
            session.await_idle(limit=300)
            return {"peak": session.peak_mebibytes(), "idle": session.resident_mebibytes()}

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        table.add(PEAK, cells(gathered(findings, "peak"), max))
        table.add("memory when nothing happens, MiB", cells(gathered(findings, "idle"), max))


class CommandStart(Row):
    name = "command-start"
    title = "a command is started and prints its help, {starts} times a round"
    places = ("memory",)
    rounds = 10
    sizes = {"starts": (50, 20)}

    def goals(self) -> list[Goal]:
        return [Goal("at most 3 ms", "median, ms", OURS.name, most=3)]

    def contenders(self) -> list[Contender]:
        return one_each([watcher for watcher in EVERYONE if watcher in (OURS, INOTIFYWAIT)])

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        command = [*bench.found(contender.watcher), "--help"]
        times = []
        for _ in range(self.size("starts")):
            began = time.monotonic_ns()
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            times.append((time.monotonic_ns() - began) / 1e6)
        return {"times": times}

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        table.add("median, ms", cells(gathered(findings, "times"), median))
        table.notes.append("with the time that Python takes to start a process")
