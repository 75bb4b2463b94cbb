"""One file is replaced by one process, again and again."""

from ..failures import Unavailable
from ..figures import median, percentile
from ..file_peers import BARE, COORDINATOR, DATA
from ..goals import Goal
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import StoreContender
from ..table import Table

SIZES = {"1 KiB": 1 << 10, "64 KiB": 64 << 10, "1 MiB": 1 << 20}
DURABLE, RELAXED = "ours, durable", "ours, relaxed"
SYNCED, UNSYNCED = "C, fsync of both", "C, no fsync"


class Replace(Row):
    name = "replace"
    title = "a file is replaced as a whole; {replacements} replacements of each size a round"
    places = ("memory", "disk")
    rounds = 10
    sizes = {"replacements": (40, 10)}

    def goals(self) -> list[Goal]:
        return [
            Goal("1 KiB, durable: within 1.15 of the C program", "1 KiB: median, µs", DURABLE, most=1.15, of=(SYNCED,)),
            Goal("1 MiB, durable: within 1.25 of the C program", "1 MiB: median, µs", DURABLE, most=1.25, of=(SYNCED,)),
            Goal("1 KiB, relaxed: within 2 of the C program", "1 KiB: median, µs", RELAXED, most=2, of=(UNSYNCED,)),
        ]

    def contenders(self) -> list[StoreContender]:
        parties = [
            (DURABLE, COORDINATOR, "durable"), (RELAXED, COORDINATOR, "relaxed"), (DATA.name, DATA, "atomic"),
            (SYNCED, BARE, "durable"), (UNSYNCED, BARE, "relaxed"),
        ]  # fmt: skip
        return [StoreContender(column, party, way, size) for size in SIZES for column, party, way in parties]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        if place.type == "tmpfs" and contender.durability == "durable":
            raise Unavailable("nothing is durable in memory; name a disk with --directory")
        with StoreSession(bench, contender, place.fresh()) as session:
            words = (SIZES[contender.variant], self.size("replacements"), contender.durability)
            lines = session.numbers("replace", *words)
        return {"times": [nanoseconds / 1000 for (nanoseconds,) in lines]}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        for size in SIZES:
            times = gathered(findings, "times", size)
            middle = table.add(f"{size}: median, µs", cells(times, median))
            late = table.add(f"{size}: p99, µs", cells(times, lambda samples: percentile(samples, 99)))
            for measure in (middle, late):
                for base in (SYNCED, UNSYNCED):
                    table.add_ratio(measure, base)
