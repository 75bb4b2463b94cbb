"""What a watcher does while nothing happens."""

import time

from .. import processes
from ..figures import median
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, gathered, one_each
from ..session import Session
from ..table import Table
from ..watchers import EVERYONE, OURS

WAKEUPS = "wake-ups a second"


class Idle(Row):
    name = "idle"
    title = "a watcher of a directory of 100 files, while nothing happens for {seconds} s"
    places = ("memory",)
    rounds = 3
    sizes = {"seconds": (10, 10)}

    def goals(self) -> list[Goal]:
        return [Goal("at most one wake-up in ten seconds", WAKEUPS, OURS.name, most=0.1)]

    def contenders(self) -> list[Contender]:
        return one_each(EVERYONE)

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        directory = bench.container(contender.watcher, place.fresh())
        bench.changes.make_files(directory, "sample", 0, 100)
        with Session(bench, contender.watcher, directory) as session:
            session.await_watching()
            # Threads that are kept for later work end after five seconds.
            time.sleep(7)
            before = self.switches(session)
            time.sleep(self.size("seconds"))
            return {"wakeups": [(self.switches(session) - before) / self.size("seconds")]}

    @staticmethod
    def switches(session: Session) -> int:
        return sum(processes.switches(watcher.pid) for watcher in session.watchers)

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        table.add(WAKEUPS, {c: median(values) for c, values in gathered(findings, "wakeups").items()})
