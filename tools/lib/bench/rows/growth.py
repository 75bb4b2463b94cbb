"""The cost of a start, a change and a write, as the tree and the journal grow."""

import os
import re
import shutil

from ..changes import COORDINATED, RENAME
from ..failures import Failed
from ..figures import median, percentile, ratio
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, cells, gathered
from ..session import Session
from ..table import Table
from ..watchers import FLOOR, INOTIFYWAIT, OURS, WATCHDOG

START, LINE, LATE, WRITE = "start, ms", "a change until its line, µs", "of that p99, µs", "a write, µs"
PEAK = "peak memory, MiB"


class Growth(Row):
    """The base of both rows, which implement `steps` and `directory`."""

    rounds = 3
    unit = ""

    def __init__(self, is_quick: bool) -> None:
        super().__init__(is_quick)
        self.next_sample = 0

    def steps(self) -> list[int]:
        raise NotImplementedError

    def directory(self, bench, place: Place, contender: Contender) -> str:
        """The directory to measure, which our watcher knows already."""
        raise NotImplementedError

    def label(self, count: int, what: str) -> str:
        return f"{count:,} {self.unit}: {what}"

    def changed(self, directory: str) -> str:
        """The directory below that one in which the changes are made."""
        return directory

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        directory, samples = self.directory(bench, place, contender), self.size("samples")
        with Session(bench, contender.watcher, directory) as session:
            if contender.watcher.is_ours:
                began = session.await_said()
            session.probe_directory = last_directory(self.changed(directory))
            report = session.await_watching(limit=4 if self.is_quick else 60)
            if not contender.watcher.is_ours:
                began = report.first_probe
            changed = self.changed(directory)
            made = bench.changes.run(contender.way, changed, self.next_sample, samples, "pause:5000000")
            self.next_sample += samples
            session.await_told(samples)
            arrivals = session.arrivals.dump()
            peak = session.peak_mebibytes()
        reported = [(arrivals[change.number].first - change.began) / 1000 for change in made if change.number in arrivals]
        if any(delay < 0 for delay in reported):
            raise Failed("a file was reported before it was changed: its delay is unknown")
        return {
            "start": (began - session.began) / 1e6,
            "delays": reported,
            "writes": [(change.done - change.began) / 1000 for change in made],
            "peak": peak,
        }

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        for count in self.steps():
            found = {name: gathered(findings, name, str(count)) for name in ("start", "delays", "writes", "peak")}
            table.add(self.label(count, START), cells(found["start"], median))
            table.add(self.label(count, LINE), cells(found["delays"], median))
            table.add(self.label(count, LATE), cells(found["delays"], lambda samples: percentile(samples, 99)))
            table.add(self.label(count, WRITE), cells(found["writes"], median))
            table.add(self.label(count, PEAK), cells(found["peak"], max))
        few, many = self.steps()[0], self.steps()[-1]
        by_label = {measure.label: measure.cells for measure in table.measures}
        for what in (START, LINE, WRITE):
            small, large = (by_label[self.label(count, what)] for count in (few, many))
            ratios = {column: ratio(large.get(column), cell) for column, cell in small.items()}
            table.add(f"{what.rpartition(',')[0]}: {many:,} ÷ {few:,}", ratios)


class GrowthOfTree(Growth):
    name = "growth-tree"
    title = "a container with ever more files, ten a directory: start until everything is watched, changes, writes"
    unit = "files"
    sizes = {"samples": (100, 10)}

    def steps(self) -> list[int]:
        return [100, 1_000] if self.is_quick else [100, 1_000, 10_000, 100_000, 1_000_000]

    def goals(self) -> list[Goal]:
        few, many = self.steps()[0], self.steps()[-1]
        start = self.label(many, START)
        return [
            Goal(f"on {many:,} files we watch before inotifywait", start, OURS.name, most=1, of=(INOTIFYWAIT.name,)),
            *steady_goals(self, few, many),
        ]

    def contenders(self) -> list[Contender]:
        ours = [Contender(OURS.name, OURS, COORDINATED, str(count)) for count in self.steps()]
        # The watcher in Python takes minutes for a million.
        theirs = [(w, count) for w in (FLOOR, INOTIFYWAIT, WATCHDOG) for count in self.steps()]
        return ours + [
            Contender(w.name, w, RENAME, str(count)) for w, count in theirs if w is not WATCHDOG or count <= 100_000
        ]

    def prepare(self, bench, place: Place) -> None:
        self.trees = {}
        for is_ours in (True, False):
            for count in self.steps():
                self.trees[is_ours, count] = place.fresh("tree")
                bench.changes.make_tree(self.trees[is_ours, count], count // 10, count)

    def directory(self, bench, place: Place, contender: Contender) -> str:
        tree = self.trees[contender.watcher.is_ours, int(contender.variant)]
        if contender.watcher.is_ours:
            shutil.rmtree(os.path.join(tree, ".group"), ignore_errors=True)
            bench.changes.make_container(tree)
            bench.learn(OURS, tree)
        return tree


class GrowthOfJournal(Growth):
    name = "growth-journal"
    title = "a container whose journal has ever more records: start until everything is watched, changes, writes"
    unit = "records"
    sizes = {"samples": (100, 10)}

    def steps(self) -> list[int]:
        return [1_000, 10_000] if self.is_quick else [1_000, 10_000, 100_000, 1_000_000]

    def goals(self) -> list[Goal]:
        few, many = self.steps()[0], self.steps()[-1]
        first, last, ours = self.label(few, START), self.label(many, START), (OURS.name,)
        return [
            Goal("a follower starts as quickly", last, OURS.name, most=1.5, of=ours, of_measure=first),
            *steady_goals(self, few, many),
        ]

    def contenders(self) -> list[Contender]:
        ours = [Contender(OURS.name, OURS, COORDINATED, str(count)) for count in self.steps()]
        # It has no journal, so its differences are the machine's.
        return ours + [Contender(FLOOR.name, FLOOR, RENAME, str(count)) for count in self.steps()]

    def prepare(self, bench, place: Place) -> None:
        self.containers = {}
        for count in self.steps():
            bench.progress.show(f"{self.name} ({place.type}): making a journal of {count:,} records")
            self.containers[count] = directory = place.fresh("journal")
            bench.changes.make_container(directory, keeping=1 << 33)
            bench.changes.replace(directory, count)
            bench.learn(OURS, directory)

    def directory(self, bench, place: Place, contender: Contender) -> str:
        return self.containers[int(contender.variant)] if contender.watcher.is_ours else place.fresh()


def steady_goals(row: Growth, few: int, many: int) -> list[Goal]:
    names = {LINE: "a change is reported as quickly", WRITE: "a write is as quick"}
    return [
        Goal(text, row.label(many, what), OURS.name, most=1.5, of=(OURS.name,), of_measure=row.label(few, what))
        for what, text in names.items()
    ]


def last_directory(top: str) -> str:
    """The directory that was made last, if any."""
    directories = [entry for entry in os.listdir(top) if re.fullmatch(r"directory-\d{6}", entry)]
    return os.path.join(top, max(directories)) if directories else top


