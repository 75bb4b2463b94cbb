"""The cost of one set in a small and in a large suite."""

from ..figures import median, percentile, ratio
from ..goals import Goal
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import LMDB, OURS, SQLITE, StoreContender
from ..table import Table


class SuiteSize(Row):
    name = "suite-size"
    title = "one set in a suite of {small} and of {large:,} keys; {sets:,} sets"
    places = ("disk",)
    rounds = 5
    sizes = {"small": (10, 10), "large": (100_000, 10_000), "sets": (20_000, 2_000)}

    def goals(self) -> list[Goal]:
        median_label = "median of the large ÷ the small"
        return [
            Goal("a set in the large suite takes at most 1.5 times as long", median_label, OURS.name, most=1.5),
            Goal("the mean of a set, too", "mean of the large ÷ the small", OURS.name, most=1.5),
        ]

    def counts(self) -> list[str]:
        return [str(self.size("small")), str(self.size("large"))]

    def contenders(self) -> list[StoreContender]:
        columns = {OURS.name: OURS, "SQLite NORMAL": SQLITE, "LMDB NOSYNC": LMDB}
        return [
            StoreContender(column, store, variant=count) for column, store in columns.items() for count in self.counts()
        ]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        with StoreSession(bench, contender, place.fresh()) as session:
            lines = session.numbers("set", contender.variant, self.size("sets"))
        times = [nanoseconds / 1000 for (nanoseconds,) in lines]
        return {"times": times, "mean": sum(times) / len(times)}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        small, large = self.counts()
        middles, means = [], []
        for count in (small, large):
            times = gathered(findings, "times", count)
            middles.append(table.add(f"{int(count):,} keys: a set, median, µs", cells(times, median)))
            table.add(f"{int(count):,} keys: p99, µs", cells(times, lambda samples: percentile(samples, 99)))
            rounds = gathered(findings, "mean", count)
            means.append(table.add(f"{int(count):,} keys: mean, µs", cells(rounds, median)))
        for word, (few, many) in (("median", middles), ("mean", means)):
            quotients = {column: ratio(many.cells.get(column), cell) for column, cell in few.cells.items()}
            table.add(f"{word} of the large ÷ the small", quotients)
