"""The cost of opening, of a write and of a change, as more processes have a container open."""

from ..changes import COORDINATED
from ..figures import median
from ..goals import Goal
from ..places import Place
from ..processes import IdleMembers
from ..row import Contender, Finding, Row, cells, gathered
from ..session import Session
from ..table import Table
from ..watchers import OURS
from .growth import LINE, WRITE

OPENED = "open, read, close, µs"


class GrowthOfMembers(Row):
    name = "growth-members"
    title = "a container that ever more processes have open, all but one of which are idle"
    rounds = 3
    sizes = {"samples": (200, 20)}

    def steps(self) -> list[int]:
        """The member table has 1,024 slots; one is that of the process that is measured, and one of watch-group."""
        return [1, 16] if self.is_quick else [1, 100, 500, 1_022]

    def label(self, count: int, what: str) -> str:
        return f"{count:,} idle: {what}"

    def goals(self) -> list[Goal]:
        few, many = self.steps()[0], self.steps()[-1]
        return [
            Goal(f"{what} costs as much", self.label(many, what), OURS.name, most=1.5, of=(OURS.name,), of_measure=self.label(few, what))
            for what in (OPENED, WRITE, LINE)
        ]

    def contenders(self) -> list[Contender]:
        return [Contender(OURS.name, OURS, COORDINATED, str(count)) for count in self.steps()]

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        directory, samples = place.fresh(), self.size("samples")
        bench.changes.make_container(directory)
        bench.changes.replace(directory, 1)
        worker = bench.programs["bench-worker"]
        with IdleMembers([worker, "member", directory], int(contender.variant)):
            bench.learn(OURS, directory)
            with Session(bench, OURS, directory) as session:
                session.await_watching(limit=60)
                opened = bench.changes.lines(worker, "open-read", directory, str(samples))
                made = bench.changes.run(COORDINATED, directory, 0, samples, "pause:5000000")
                session.await_told(samples)
                arrivals = session.arrivals.dump()
        return {
            "opened": [int(line) / 1000 for line in opened],
            "writes": [(change.done - change.began) / 1000 for change in made],
            "delays": [(arrivals[change.number].first - change.began) / 1000 for change in made if change.number in arrivals],
        }

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        for count in self.steps():
            for name, what in (("opened", OPENED), ("writes", WRITE), ("delays", LINE)):
                table.add(self.label(count, what), cells(gathered(findings, name, str(count)), median))
