"""Many followers of one container: when the last one knows, and what the writer pays for them."""

from ..changes import COORDINATED, RENAME
from ..figures import median, percentile, ratio
from ..places import Place
from ..row import Contender, Finding, Row, cells, gathered
from ..session import Session
from ..table import Table
from ..watchers import FLOOR, INOTIFYWAIT, OURS, WATCHDOG


class Followers(Row):
    name = "followers"
    title = "many followers of one container; theirs: as many copies"
    sizes = {"samples": (200, 30)}
    goal = "the 150th starts; the last of 64 knows before the last inotifywait does; the writer does not pay for them"

    def counts(self) -> list[int]:
        return [1, 10] if self.is_quick else [1, 10, 64, 150]

    def contenders(self) -> list[Contender]:
        # More than 128 instances of inotify are not given to a user.
        few = [count for count in self.counts() if count <= 64]
        ours = [Contender(OURS.name, OURS, COORDINATED, str(count)) for count in self.counts()]
        ends = sorted({few[0], few[-1]})
        theirs = [FLOOR, INOTIFYWAIT, WATCHDOG]
        return ours + [Contender(w.name, w, RENAME, str(count)) for w in theirs for count in ends]

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        copies, count = int(contender.variant), self.size("samples")
        folder = bench.container(contender.watcher, place.fresh())
        bench.changes.make_files(folder, "sample", 0, count)
        bench.learn(contender.watcher, folder)
        with Session(bench, contender.watcher, folder, copies) as session:
            ready = session.await_watching(limit=120, tolerant=True).ready
            made = bench.changes.run(contender.way, folder, 0, count, "pause:20000000")
            session.await_told(count)
            arrivals = session.arrivals.dump()
        told = [change for change in made if change.number in arrivals and arrivals[change.number].pipes == ready]
        return {
            "started": ready,
            "delays": [(arrivals[change.number].last - change.began) / 1000 for change in told],
            "writes": [(change.done - change.began) / 1000 for change in made],
            "lost": len(made) - len(told),
        }

    def summarise(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        alone = cells(gathered(findings, "writes", "1"), median)
        for count in map(str, self.counts()):
            delays, writes = gathered(findings, "delays", count), gathered(findings, "writes", count)
            table.add(f"{count}: started", cells(gathered(findings, "started", count), lambda v: min(v, default=None)))
            table.add(f"{count}: last one knows, median, µs", cells(delays, median))
            table.add(f"{count}: last one knows, p99, µs", cells(delays, lambda values: percentile(values, 99)))
            table.add(f"{count}: not told to all", cells(gathered(findings, "lost", count), sum))
            taken = table.add(f"{count}: a write takes, median, µs", cells(writes, median))
            if count != "1":
                pairs = {c: (value, alone.get(c)) for c, value in taken.cells.items()}
                table.add(f"{count}: a write ÷ with one", {c: ratio(value, one) for c, (value, one) in pairs.items()})
