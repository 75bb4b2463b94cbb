"""Many followers of one container: when the last one has a change, and what they cost the writer."""

from ..changes import COORDINATED, RENAME
from ..figures import median, percentile, ratio
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, cells, gathered
from ..session import Session
from ..table import Table
from ..watchers import FLOOR, INOTIFYWAIT, OURS, WATCHDOG


class Followers(Row):
    name = "followers"
    title = "many followers of one container; of theirs, as many copies"
    sizes = {"samples": (200, 5)}

    def goals(self) -> list[Goal]:
        many = self.counts()[-1]
        return [Goal(f"all {many} of ours start", f"{many}: started", OURS.name, least=many)]

    def counts(self) -> list[int]:
        return [1, 10, 50] if self.is_quick else [1, 10, 50, 64, 150, 256]

    def shared(self) -> list[int]:
        """A user gets at most 128 instances of inotify."""
        return [count for count in self.counts() if count <= 64]

    def contenders(self) -> list[Contender]:
        ours = [Contender(OURS.name, OURS, COORDINATED, str(count)) for count in self.counts()]
        theirs = [FLOOR, INOTIFYWAIT, WATCHDOG]
        return ours + [Contender(w.name, w, RENAME, str(count)) for w in theirs for count in self.shared()]

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        copies, count = int(contender.variant), self.size("samples")
        directory = bench.container(contender.watcher, place.fresh())
        bench.changes.make_files(directory, "sample", 0, count)
        bench.learn(contender.watcher, directory)
        with Session(bench, contender.watcher, directory, copies) as session:
            ready = session.await_watching(limit=120, tolerant=True).ready
            made = bench.changes.run(contender.way, directory, 0, count, "pause:20000000")
            session.await_told(count)
            arrivals = session.arrivals.dump()
        reported = [change for change in made if change.number in arrivals and arrivals[change.number].pipes == ready]
        return {
            "started": ready,
            "delays": [(arrivals[change.number].last - change.began) / 1000 for change in reported],
            "writes": [(change.done - change.began) / 1000 for change in made],
            "lost": len(made) - len(reported),
        }

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        alone = cells(gathered(findings, "writes", "1"), median)
        for count in map(str, self.counts()):
            delays, writes = gathered(findings, "delays", count), gathered(findings, "writes", count)
            table.add(f"{count}: started", cells(gathered(findings, "started", count), lambda v: min(v, default=None)))
            table.add(f"{count}: last follower has the change, median, µs", cells(delays, median))
            table.add(f"{count}: last follower has the change, p99, µs", cells(delays, lambda values: percentile(values, 99)))
            table.add(f"{count}: not reported to all", cells(gathered(findings, "lost", count), sum))
            taken = table.add(f"{count}: a write takes, median, µs", cells(writes, median))
            if count != "1":
                pairs = {c: (value, alone.get(c)) for c, value in taken.cells.items()}
                table.add(f"{count}: a write ÷ with one", {c: ratio(value, one) for c, (value, one) in pairs.items()})
