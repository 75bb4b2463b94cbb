"""What it takes to open a container: in a process that goes on, and in a command that reads one item."""

import os
import subprocess
import time

from ..failures import Failed
from ..figures import median, percentile
from ..file_peers import COORDINATOR
from ..goals import Goal
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import StoreContender
from ..table import Table

ALONE, AGAIN, MADE, KEPT = "open, read, close", "open what is open", "set, object made for it", "set, object kept"
WORDS = {ALONE: "open-read", AGAIN: "open-again", MADE: "set-made", KEPT: "set-kept"}
GROUPCTL, CAT = "groupctl read", "cat"
MEDIAN = "median, µs"


class Opening(Row):
    name = "opening"
    title = "a container is opened; {times} times a round"
    places = ("disk",)
    rounds = 5
    sizes = {"times": (200, 50)}

    def goals(self) -> list[Goal]:
        return [
            Goal("open, read and close within 1 ms", MEDIAN, ALONE, most=1000),
            Goal("a container that is open: within 10 µs", MEDIAN, AGAIN, most=10),
            Goal("an object made for each set: within 1.5 of one that is kept", MEDIAN, MADE, most=1.5, of=(KEPT,)),
            Goal("groupctl read: within 4 of cat", MEDIAN, GROUPCTL, most=4, of=(CAT,)),
        ]

    def contenders(self) -> list[StoreContender]:
        return [StoreContender(name, COORDINATOR) for name in (*WORDS, GROUPCTL, CAT)]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        directory = place.fresh()
        with StoreSession(bench, contender, directory) as session:
            if contender.column in WORDS:
                lines = session.numbers(WORDS[contender.column], self.size("times"))
                return {"times": [nanoseconds / 1000 for (nanoseconds,) in lines]}
        bench.changes.replace(directory, 1)
        command = [bench.programs["groupctl"], "read", directory + "/", "item"]
        if contender.column == CAT:
            command = ["cat", os.path.join(directory, "item")]
        return {"times": [self.run(command) for _ in range(self.size("times"))]}

    @staticmethod
    def run(command: list[str]) -> float:
        began = time.monotonic_ns()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{command[0]} failed with {done.returncode}: {done.stderr.decode()[-200:]}")
        return (time.monotonic_ns() - began) / 1000

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        times = gathered(findings, "times")
        middle = table.add(MEDIAN, cells(times, median))
        table.add("p99, µs", cells(times, lambda samples: percentile(samples, 99)))
        table.add_ratio(middle, CAT)
        table.notes.append("the last two with the time that Python takes to start a process")
