"""Rows are inserted into a database, each by a transaction of its own."""

from ..failures import Unavailable
from ..figures import median, percentile
from ..file_peers import DATABASE, SQLITE_INSERT
from ..goals import Goal
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import StoreContender
from ..table import Table

DURABLE, RELAXED = "ours, durable", "ours, relaxed"
FULL, NORMAL = "SQLite, FULL", "SQLite, NORMAL"


class Database(Row):
    name = "database"
    title = "a row is inserted into a database by a transaction of its own; {rows} rows a round"
    places = ("memory", "disk")
    rounds = 10
    sizes = {"rows": (1000, 50)}

    def goals(self) -> list[Goal]:
        return [Goal("durable: within 1.25 of SQLite by itself", "median, µs", DURABLE, most=1.25, of=(FULL,))]

    def contenders(self) -> list[StoreContender]:
        return [
            StoreContender(DURABLE, DATABASE, "durable"), StoreContender(RELAXED, DATABASE, "relaxed"),
            StoreContender(FULL, SQLITE_INSERT, "durable"), StoreContender(NORMAL, SQLITE_INSERT, "relaxed"),
        ]  # fmt: skip

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        if place.type == "tmpfs" and contender.durability == "durable":
            raise Unavailable("nothing is durable in memory; name a disk with --directory")
        with StoreSession(bench, contender, place.fresh()) as session:
            lines = session.numbers("insert", self.size("rows"), contender.durability)
        return {"times": [nanoseconds / 1000 for (nanoseconds,) in lines]}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        times = gathered(findings, "times")
        for measure in (
            table.add("median, µs", cells(times, median)),
            table.add("p99, µs", cells(times, lambda samples: percentile(samples, 99))),
        ):
            for base in (FULL, NORMAL):
                table.add_ratio(measure, base)
