"""Many processes add to one number: additions a second, fairness, and losses."""

from ..failures import Unavailable
from ..goals import Goal
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import DCONF, FOUNDATION, LMDB, OURS, SQLITE, SWAP, StoreContender
from ..table import Table


class Increments(Row):
    name = "increments"
    title = "{processes} processes add to one number for {seconds} s"
    places = ("disk",)
    rounds = 3
    sizes = {"processes": (8, 8), "seconds": (10, 0.4)}
    bases = ("SQLite NORMAL", "LMDB NOSYNC")

    def goals(self) -> list[Goal]:
        rate, wait = "additions a second, median", "the longest wait, ms"
        least = "operations of the slowest process ÷ of the fastest, lowest round"
        return [
            Goal("10 × SQLite NORMAL", rate, OURS.name, least=10, of=("SQLite NORMAL",)),
            Goal("2 × LMDB NOSYNC", rate, OURS.name, least=2, of=("LMDB NOSYNC",)),
            Goal("fair: the slowest process makes at least half as many as the fastest", least, OURS.name, least=0.5),
            Goal("no wait above 150 ms", wait, OURS.name, most=150),
            Goal("none is lost", "lost, %", OURS.name, most=0),
        ]

    def contenders(self) -> list[StoreContender]:
        ours = StoreContender(OURS.name, OURS)
        theirs = [StoreContender("SQLite NORMAL", SQLITE), StoreContender("LMDB NOSYNC", LMDB)]
        lossy = [StoreContender(store.name, store) for store in (DCONF, FOUNDATION)]
        return [ours, *theirs, *lossy, StoreContender(SWAP.name, SWAP)]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        with StoreSession(bench, contender, place.fresh()) as session:
            made = session.increments(self.size("processes"), self.size("seconds"))
            total = int(session.numbers("sum")[0][0])
        counts = [count for count, _ in made]
        return {
            "rate": sum(counts) / self.size("seconds"),
            "least": min(counts) / max(counts) if max(counts) else None,
            "longest": max(longest for _, longest in made) / 1e6,
            # Also if the number is larger than the additions, which is a fault, too.
            "lost": 100 * abs(sum(counts) - total) / sum(counts) if sum(counts) else None,
        }

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        rate = table.add("additions a second, median", cells(gathered(findings, "rate"), middle))
        for base in self.bases:
            table.add_ratio(rate, base)
        table.add("operations of the slowest process ÷ of the fastest, lowest round", cells(gathered(findings, "least"), lowest))
        wait = table.add("the longest wait, ms", cells(gathered(findings, "longest"), highest))
        if SWAP.name in table.columns:
            table.add_ratio(wait, SWAP.name)
            table.notes.append(f"{SWAP.name} does not wait for other processes: its longest call is time without processor")
        table.add("lost, %", cells(gathered(findings, "lost"), highest))


class DurableIncrements(Increments):
    name = "durable-increments"
    title = "the same, each addition on the disk before the next: {processes} processes, {seconds} s"
    bases = ("SQLite FULL", "LMDB")

    def goals(self) -> list[Goal]:
        return [
            Goal("1.4 × SQLite FULL", "additions a second, median", OURS.name, least=1.4, of=("SQLite FULL",)),
            Goal("none is lost", "lost, %", OURS.name, most=0),
        ]

    def contenders(self) -> list[StoreContender]:
        parties = {OURS.name: OURS, "SQLite FULL": SQLITE, "LMDB": LMDB}
        return [StoreContender(column, store, "durable") for column, store in parties.items()]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        if place.type == "tmpfs":
            raise Unavailable("nothing is durable in memory; name a disk with --directory")
        return super().round(bench, place, contender)


def middle(values: list) -> float | None:
    return sorted(values)[len(values) // 2] if values else None


def lowest(values: list) -> float | None:
    return min(values, default=None)


def highest(values: list) -> float | None:
    return max(values, default=None)
