"""Changes while the reader of the lines does not read for a while."""

import time

from ..changes import COORDINATED, RENAME
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, cells, gathered, one_each
from ..session import Session
from ..table import Table
from ..watchers import FLOOR, OURS, PEERS


class Stall(Row):
    name = "stall"
    title = "{changes:,} files made while the reader of the lines does not read for {seconds} s"
    # Fewer would fit into the kernel's queue, and no program would lose any.
    sizes = {"changes": (30_000, 2_000), "seconds": (5, 0.4)}

    def goals(self) -> list[Goal]:
        return [Goal("none is lost", "lost", (f"{OURS.name}, coordinated", OURS.name), most=0)]

    def contenders(self) -> list[Contender]:
        coordinated = Contender(f"{OURS.name}, coordinated", OURS, COORDINATED)
        return [coordinated, *one_each([OURS, FLOOR, *PEERS], RENAME)]

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        count, seconds = self.size("changes"), self.size("seconds")
        directory = bench.container(contender.watcher, place.fresh())
        with Session(bench, contender.watcher, directory) as session:
            session.await_watching()
            session.arrivals.command("stall")
            end = time.monotonic() + seconds
            pace = f"steady:{int(seconds * 900_000_000) // count}"
            bench.changes.run(contender.way, directory, 0, count, pace)
            time.sleep(max(0, end - time.monotonic()))
            session.arrivals.command("go")
            report = session.await_told(count, quiet=0.4 if self.is_quick else 4, limit=90)
        return {"lost": count - report.samples, "marked": report.is_marked, "ended": int(report.open == 0)}

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        table.add("lost", cells(gathered(findings, "lost"), lambda v: max(v, default=None)))
        table.add("said that it lost some", cells(gathered(findings, "marked"), lambda v: "yes" if any(v) else "no"))
        table.add("ended by itself", cells(gathered(findings, "ended"), lambda v: "yes" if any(v) else "no"))
