"""Several processes replace files durably at the same time, each its own file."""

import time

from ..figures import median, percentile
from ..file_peers import BARE, COORDINATOR
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import StoreContender
from ..table import Table

OURS, SYNCED = "ours, durable", "C, fsync of both"


class DurableWriters(Row):
    name = "durable-writers"
    title = "{processes} processes replace a file of 1 KiB each, durably, {replacements} times each"
    places = ("disk",)
    rounds = 5
    sizes = {"processes": (8, 8), "replacements": (500, 20)}

    def contenders(self) -> list[StoreContender]:
        return [StoreContender(OURS, COORDINATOR, "durable"), StoreContender(SYNCED, BARE, "durable")]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        count, each = self.size("processes"), self.size("replacements")
        with StoreSession(bench, contender, place.fresh()) as session:
            began = time.monotonic()
            writers = [session.start("replace", 1 << 10, each, "durable", f"item{number}") for number in range(count)]
            lines = [line for writer in writers for line in session.finish(writer, "replace")]
            taken = time.monotonic() - began
        return {"rate": count * each / taken, "times": [nanoseconds / 1000 for (nanoseconds,) in lines]}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        rate = table.add("replacements a second, median", cells(gathered(findings, "rate"), median))
        table.add_ratio(rate, SYNCED)
        table.add("one replacement: median, µs", cells(gathered(findings, "times"), median))
        table.add("one replacement: p99, µs", cells(gathered(findings, "times"), lambda samples: percentile(samples, 99)))
