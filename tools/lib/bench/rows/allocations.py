"""How often an operation asks the allocator for memory."""

import os
import subprocess

from ..failures import Failed
from ..places import Place
from ..row import Contender, Finding, Row, cells, gathered
from ..session import WATCHING
from ..table import Table
from ..watchers import OURS

COUNT = "allocations"
LOCK, READ, WRITE = "lock and its end", "read of 1 KiB", "relaxed write of 1 KiB"
SET, EXTERNAL = "set", "external change"


class Allocations(Row):
    name = "allocations"
    title = "calls of the allocator by one operation of ours, from {operations:,} and twice as many of them"
    places = ("memory",)
    sizes = {"operations": (2_000, 500)}

    def contenders(self) -> list[Contender]:
        return [Contender(name, OURS) for name in (LOCK, READ, WRITE, SET, EXTERNAL)]

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        few = self.size("operations")
        counts = [self.count(bench, place.fresh(), contender.column, number) for number in (few, 2 * few)]
        return {COUNT: (counts[1] - counts[0]) / few}

    def count(self, bench, directory: str, operation: str, number: int) -> int:
        """The allocations of a process that does so many operations, with those of its start and end."""
        result = os.path.join(bench.scratch, "allocations")
        words = ["env", f"LD_PRELOAD={bench.programs['allocations.so']}", f"BENCH_ALLOCATIONS={result}"]
        if os.path.exists(result):
            os.unlink(result)
        bench.changes.make_container(directory)
        if operation == EXTERNAL:
            self.follow(bench, directory, words, number)
        else:
            worker = bench.programs["bench-worker"]
            words += {
                LOCK: [worker, "lock", directory, "a", "write", "1", str(number)],
                READ: [worker, "items", directory, "1024", str(number)],
                WRITE: [worker, "replace", directory, "1024", str(number), "relaxed"],
                SET: [worker, "set", directory, "10", str(number)],
            }[operation]
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
            if done.returncode != 0:
                raise Failed(f"'{operation}' failed with {done.returncode}")
        with open(result, encoding="ascii") as file:
            return int(file.read())

    @staticmethod
    def follow(bench, directory: str, words: list[str], number: int) -> None:
        """Runs watch-group until it has printed so many changes."""
        command = [*words, bench.programs["dynamic watch-group"], "--verbose", "--count", str(number), directory + "/"]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as watcher:
            for line in watcher.stderr:
                if WATCHING in line:
                    break
            bench.changes.make_files(directory, "sample", 0, number)
            try:
                watcher.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                watcher.kill()
                raise Failed("a change was not reported") from None

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        table.add(COUNT, cells(gathered(findings, COUNT), lambda counts: round(counts[0], 1)))
        table.notes.append("those of the measuring program are among them: one for its line of output, or none")
