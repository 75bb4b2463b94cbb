"""From the start of a relaxed coordinated write to its line; theirs: from the start of a write and rename."""

from .. import latency
from ..changes import COORDINATED
from ..figures import median
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, add_delays, cells, gathered, one_each
from ..table import Table
from ..watchers import FLOOR, OURS, PEERS

AFTER = "from the end of the rename: median, µs"


class Coordinated(Row):
    name = "coordinated"
    title = "a coordinated write of 120 bytes until its line; theirs: a file written and renamed"
    places = ("memory", "disk")
    rounds = 10
    sizes = {"samples": (60, 15)}

    def goals(self) -> list[Goal]:
        return [
            Goal("from the end of the rename: within 1.5 of bare inotify's", AFTER, OURS.name, most=1.5, of=(FLOOR.name,))
        ]

    def contenders(self) -> list[Contender]:
        return [Contender(OURS.name, OURS, COORDINATED), *one_each([FLOOR, *PEERS])]

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        return latency.delays(bench, place, contender, self.size("samples"), "pause:5000000")

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        add_delays(table, gathered(findings, "delays"))
        after = table.add(AFTER, cells(gathered(findings, "after"), median))
        table.add_ratio(after, FLOOR.name)
        table.add("the writer's call took, median, µs", cells(gathered(findings, "taken"), median))
        table.add("samples", {column: len(values) for column, values in gathered(findings, "delays").items()})
        table.add("lost", {column: sum(values) for column, values in gathered(findings, "lost").items()})
