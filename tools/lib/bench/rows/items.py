"""One file is read by one process, again and again."""

from ..figures import median, percentile
from ..file_peers import BARE, COORDINATOR
from ..goals import Goal
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import StoreContender
from ..table import Table

SIZES = {"1 KiB": 1 << 10, "64 KiB": 64 << 10}
OURS, BARE_READ = "coordinated read", "C: open, fstat, read, close"


class Items(Row):
    name = "items"
    title = "a file is read as a whole; {reads} reads of each size a round"
    places = ("disk",)
    rounds = 10
    sizes = {"reads": (2_000, 500)}

    def goals(self) -> list[Goal]:
        return [Goal("1 KiB: within 4 of the C program", "1 KiB: median, µs", OURS, most=4, of=(BARE_READ,))]

    def contenders(self) -> list[StoreContender]:
        parties = [(OURS, COORDINATOR), (BARE_READ, BARE)]
        return [StoreContender(column, party, variant=size) for size in SIZES for column, party in parties]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        with StoreSession(bench, contender, place.fresh()) as session:
            lines = session.numbers("items", SIZES[contender.variant], self.size("reads"))
        return {"times": [nanoseconds / 1000 for (nanoseconds,) in lines]}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        for size in SIZES:
            times = gathered(findings, "times", size)
            middle = table.add(f"{size}: median, µs", cells(times, median))
            late = table.add(f"{size}: p99, µs", cells(times, lambda samples: percentile(samples, 99)))
            for measure in (middle, late):
                table.add_ratio(measure, BARE_READ)
