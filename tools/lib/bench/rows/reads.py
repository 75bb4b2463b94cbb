"""The cost of reading an unchanged key, and of a check for changes."""

from ..figures import median, percentile
from ..goals import Goal
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import DCONF, FOUNDATION, INOTIFY, LMDB, OURS, SQLITE, StoreContender
from ..table import Table


LABELS = {
    "read": "a read (ours: by typed key; inotify's: pread), ns",
    "named": "a read by name, ns",
    "asked": "has anything changed, ns",
}


class Reads(Row):
    name = "reads"
    title = "a read of an unchanged key, and a check for changes; {batches} times 1,000 of each"
    places = ("disk",)
    rounds = 5
    sizes = {"batches": (200, 50)}

    def goals(self) -> list[Goal]:
        read, asked = (f"{LABELS[name]}, median" for name in ("read", "asked"))
        return [
            Goal("a read within 50 ns", read, OURS.name, most=50),
            Goal("a check within 5 ns", asked, OURS.name, most=5),
        ]

    def contenders(self) -> list[StoreContender]:
        return [StoreContender(store.name, store) for store in (OURS, SQLITE, LMDB, DCONF, FOUNDATION, INOTIFY)]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        with StoreSession(bench, contender, place.fresh()) as session:
            lines = session.numbers("read", self.size("batches"))
        # Only ours has the third.
        names = ("read", "asked", "named")
        return {name: [line[index] for line in lines] for index, name in enumerate(names) if len(lines[0]) > index}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        for name, label in LABELS.items():
            values = gathered(findings, name)
            for column in [column for column, samples in values.items() if not samples]:
                del values[column]
            middle = table.add(f"{label}, median", cells(values, median))
            table.add(f"{label}, p99", cells(values, lambda samples: percentile(samples, 99)))
            if name != "named":
                table.add_ratio(middle, OURS.name)
        table.notes.append(
            "p99 is of batches of 1,000, each divided by 1,000; above 4,000 ns another process got the processor in one"
        )
