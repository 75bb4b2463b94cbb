"""200 changes a second without a pause: no program may wait for silence."""

from .. import latency
from ..changes import COORDINATED, RENAME
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, add_delays, cells, gathered, one_each
from ..table import Table
from ..watchers import FLOOR, OURS, PEERS


class Steady(Row):
    name = "steady"
    title = "{changes:,} changes, 200 a second, steadily, until the line of each"
    sizes = {"changes": (1000, 40)}

    def goals(self) -> list[Goal]:
        ours, seconds = (f"{OURS.name}, coordinated", OURS.name), self.size("changes") / 200
        return [
            Goal("no line is held back until the changes pause: none waits for a tenth of the run", "worst, µs", ours, most=seconds * 1e5),
            Goal("none is lost", "lost", ours, most=0),
        ]

    def contenders(self) -> list[Contender]:
        coordinated = Contender(f"{OURS.name}, coordinated", OURS, COORDINATED)
        return [coordinated, *one_each([OURS, FLOOR, *PEERS], RENAME)]

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        return latency.delays(bench, place, contender, self.size("changes"), "steady:5000000")

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        delays = gathered(findings, "delays")
        add_delays(table, delays)
        table.add("worst, µs", cells(delays, lambda values: max(values, default=None)))
        table.add("lost", cells(gathered(findings, "lost"), sum))
