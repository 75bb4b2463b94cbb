"""A request whose item another process presents, which answers at once."""

from ..failures import Failed
from ..figures import median, percentile
from ..file_peers import COORDINATOR, ROUND_TRIPS
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import StoreContender
from ..table import Table

PRESENTED, ALONE, ROUND_TRIP = "read, with a presenter", "read, without one", "C: futex round trip"


class Presenter(Row):
    name = "presenter"
    title = "a read of 1 KiB that asks a presenter, which answers at once; {reads} reads a round"
    places = ("memory",)
    rounds = 10
    sizes = {"reads": (500, 100)}

    def contenders(self) -> list[StoreContender]:
        return [
            StoreContender(PRESENTED, COORDINATOR), StoreContender(ALONE, COORDINATOR), StoreContender(ROUND_TRIP, ROUND_TRIPS)
        ]  # fmt: skip

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        with StoreSession(bench, contender, place.fresh()) as session:
            if contender.column == ROUND_TRIP:
                lines = session.numbers("ask", self.size("reads"))
            else:
                if contender.column == PRESENTED and session.start("present").stdout.readline() != "ready\n":
                    raise Failed("the presenter did not start")
                lines = session.numbers("items", 1024, self.size("reads"))
        return {"times": [nanoseconds / 1000 for (nanoseconds,) in lines]}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        times = gathered(findings, "times")
        middle = table.add("median, µs", cells(times, median))
        late = table.add("p99, µs", cells(times, lambda samples: percentile(samples, 99)))
        for measure in (middle, late):
            table.add_ratio(measure, ROUND_TRIP)
