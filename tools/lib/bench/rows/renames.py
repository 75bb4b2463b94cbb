"""Many renames as fast as two processes can make them: losses, stale names, and the cost."""

import os

from ..changes import MOVE
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, cells, gathered, one_each
from ..session import Session
from ..table import Table
from ..watchers import EVERYONE, INOTIFYWAIT, OURS


class Renames(Row):
    name = "renames"
    title = "2 times {half:,} files renamed once, by two processes, as fast as they can"
    rounds = 3
    sizes = {"half": (50_000, 1_500)}

    def goals(self) -> list[Goal]:
        return [
            Goal("none is lost", "lost, most of a round", OURS.name, most=0),
            Goal("no old name stays", "stale: removal of the old name never reported", OURS.name, most=0),
        ]

    def contenders(self) -> list[Contender]:
        return one_each(EVERYONE, MOVE)

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        half = self.size("half")
        directory = bench.container(contender.watcher, place.fresh())
        parts = [(os.path.join(directory, name), number * half) for number, name in enumerate("ab")]
        for part, first in parts:
            os.mkdir(part)
            bench.changes.make_files(part, "before", first, half)
        bench.learn(contender.watcher, directory)
        with Session(bench, contender.watcher, directory) as session:
            session.await_watching(limit=120)
            before = session.processor_seconds()
            writers = [bench.changes.start(MOVE, part, first, half, "none") for part, first in parts]
            made = [change for writer in writers for change in writer.wait()]
            report = session.await_told(2 * half, 2 * half, quiet=0.5 if self.is_quick else 10, limit=120)
            arrivals = session.arrivals.dump()
            used = session.processor_seconds() - before if report.open else None
        began = min(change.began for change in made)
        last = max((arrival.last for arrival in arrivals.values()), default=None)
        return {
            "lost": 2 * half - report.samples,
            "stale": 2 * half - report.befores,
            "marked": report.is_marked,
            "ended": int(report.open == 0),
            "used": used,
            "made": (max(change.done for change in made) - began) / 1e9,
            "reported": (last - began) / 1e9 if last else None,
        }

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        table.add("lost, most of a round", cells(gathered(findings, "lost"), lambda v: max(v, default=None)))
        table.add("stale: removal of the old name never reported", cells(gathered(findings, "stale"), lambda v: max(v, default=None)))
        table.add("said that it lost some", cells(gathered(findings, "marked"), lambda v: "yes" if any(v) else "no"))
        table.add("ended by itself", cells(gathered(findings, "ended"), lambda v: "yes" if any(v) else "no"))
        used = table.add("processor time, s", cells(gathered(findings, "used"), mean))
        table.add_ratio(used, INOTIFYWAIT.name)
        table.add("renamed within, s", cells(gathered(findings, "made"), mean))
        table.add("last one reported after, s", cells(gathered(findings, "reported"), mean))


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
