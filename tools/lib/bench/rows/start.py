"""The time from the start of a program until it reports changes in a large tree, and the memory that it takes."""

import glob
import os
import shutil
import time

from .. import processes
from ..changes import COORDINATED, RENAME
from ..failures import Failed
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, cells, gathered, one_each
from ..session import Session
from ..table import Table
from ..watchers import FLOOR, OURS, PEERS

KNOWN, NEW = "seen before", "never seen"
PEAK, FOLLOWER = "peak memory, MiB (ours: of the leader)", "peak memory of a further follower, MiB"


class Start(Row):
    name = "start"
    title = "start on {directories:,} directories with {files:,} files"
    places = ("memory", "disk")
    rounds = 3
    sizes = {"directories": (10_000, 300), "files": (100_000, 3_000)}

    def goals(self) -> list[Goal]:
        ours = tuple(f"{OURS.name}, {state}" for state in (KNOWN, NEW))
        watching, peers = "watching everything, ms", tuple(peer.name for peer in PEERS)
        first = "first coordinated change reported, ms"
        return [
            Goal("we watch everything before the quickest peer", watching, ours, most=1, of=peers),
            Goal("a coordinated change is reported before that", first, ours, most=1, of=peers, of_measure=watching),
        ]

    def contenders(self) -> list[Contender]:
        ours = [Contender(f"{OURS.name}, {state}", OURS, COORDINATED) for state in (KNOWN, NEW)]
        return [*ours, *one_each([FLOOR, *PEERS], RENAME)]

    def prepare(self, bench, place: Place) -> None:
        self.directories, self.files = self.size("directories"), self.size("files")
        bench.progress.show(f"{self.name} ({place.type}): making two trees")
        self.ours, self.theirs = place.fresh("tree"), place.fresh("tree")
        for directory in (self.ours, self.theirs):
            bench.changes.make_tree(directory, self.directories, self.files)

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        if not contender.watcher.is_ours:
            return self.start_of_theirs(bench, contender)
        shutil.rmtree(os.path.join(self.ours, ".group"), ignore_errors=True)
        # Left by the round before; a program that has never seen the tree would report them.
        for path in glob.glob(os.path.join(self.ours, "sample-*")):
            os.unlink(path)
        bench.changes.make_container(self.ours)
        if contender.column.endswith(KNOWN):
            bench.learn(OURS, self.ours)
        return self.start_of_ours(bench)

    def start_of_ours(self, bench) -> Finding:
        """A process that is no follower writes all the time, so there is no leader before."""
        first = os.path.join(self.ours, "sample-000010")
        writer = bench.changes.start(COORDINATED, self.ours, 0, 900_000, "steady:2000000")
        try:
            while not os.path.exists(first):
                if writer.process.poll() is not None:
                    raise Failed(f"the writer ended: {writer.process.communicate()[0].strip()[-200:]}")
                time.sleep(0.001)
            with Session(bench, OURS, self.ours) as session:
                watching = session.await_said()
                session.await_told(1)
                arrivals = session.arrivals.dump()
                processes.end([writer.process])
                # It watches, and now compares the tree with what it knew.
                session.await_idle(60)
                leader = session.peak_mebibytes()
                follower = session.add_copy()
                session.await_said(2)
                follower_peak = processes.peak_mebibytes(follower.pid)
        finally:
            processes.end([writer.process])
        reported = min((arrival.first for arrival in arrivals.values()), default=None)
        return {
            "first": (reported - session.began) / 1e6 if reported else None,
            "watching": (watching - session.began) / 1e6,
            "peak": leader,
            "follower": follower_peak,
        }

    def start_of_theirs(self, bench, contender: Contender) -> Finding:
        with Session(bench, contender.watcher, self.theirs) as session:
            # In the directory that was made last of all.
            session.probe_directory = os.path.join(self.theirs, f"directory-{self.directories - 1:06}")
            report = session.await_watching(limit=3 if self.is_quick else 120)
            peak = session.peak_mebibytes()
        return {"watching": (report.first_probe - session.began) / 1e6, "peak": peak}

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        measures = {
            "first": "first coordinated change reported, ms",
            "watching": "watching everything, ms",
            "peak": PEAK,
            "follower": FOLLOWER,
        }
        for name, label in measures.items():
            values = gathered(findings, name)
            if name != "follower" or any(values.values()):
                measure = table.add(label, cells(values, lambda v: sum(v) / len(v) if v else None))
            if name == "watching":
                table.add_ratio(measure, FLOOR.name)
