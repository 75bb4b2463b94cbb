"""From the start of an external change to its line."""

from .. import latency
from ..changes import RENAME, WRITE
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, add_delays, gathered, one_each
from ..table import Table
from ..watchers import EVERYONE, FLOOR, OURS, SAME_WORK


class External(Row):
    name = "external"
    title = "a plain change of 120 bytes until its line: written and renamed, and written in place"
    places = ("memory", "disk")
    rounds = 10
    sizes = {"samples": (60, 10)}

    def goals(self) -> list[Goal]:
        goals = []
        for way in (RENAME, WRITE):
            label = f"{way}: median, µs"
            goals += [
                Goal(f"{way}: our median within 2.5 of bare inotify's", label, OURS.name, most=2.5, of=(FLOOR.name,)),
                Goal(f"{way}: our median within 1.5 of the same work in C", label, OURS.name, most=1.5, of=(SAME_WORK.name,)),
            ]
        return goals

    def contenders(self) -> list[Contender]:
        watchers = [*EVERYONE, SAME_WORK]
        return one_each(watchers, RENAME, RENAME) + one_each(watchers, WRITE, WRITE)

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        return latency.delays(bench, place, contender, self.size("samples"), "pause:5000000")

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        for way in (RENAME, WRITE):
            add_delays(table, gathered(findings, "delays", way), f"{way}: ")
            table.add(f"{way}: lost", {c: sum(values) for c, values in gathered(findings, "lost", way).items()})
