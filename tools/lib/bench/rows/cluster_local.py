"""Local writes in a container that a program keeps in a cluster, beside those in one that is in none, watched or not."""

from ..etcd import CLUSTER, Etcd, Machine
from ..failures import Unavailable
from ..figures import median, percentile
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import StoreContender
from ..session import Session
from ..table import Table
from ..watchers import OURS as WATCH_GROUP

INSIDE, WATCHED, OUTSIDE = "in a cluster", "in none, with watch-group", "in none"
ITEMS = 100


class ClusterLocal(Row):
    name = "cluster-local"
    title = (
        "one process writes 100 items of 120 bytes in turns, {writes} writes a round, while the program of the cluster sends "
        "them; and in containers that are in no cluster"
    )
    places = ("memory", "disk")
    rounds = 5
    sizes = {"writes": (4_000, 300)}

    def contenders(self) -> list[StoreContender]:
        return [
            StoreContender(column, CLUSTER, durability, durability)
            for durability in ("relaxed", "durable")
            for column in (INSIDE, WATCHED, OUTSIDE)
        ]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        if place.type == "tmpfs" and contender.durability == "durable":
            raise Unavailable("nothing is durable in memory; name a disk with --directory")
        bench.found(contender.store)
        if contender.column == OUTSIDE:
            directory = place.fresh()
            bench.changes.make_container(directory)
            return self.writes(bench, contender, directory)
        if contender.column == WATCHED:
            directory = place.fresh()
            bench.changes.make_container(directory)
            # Any program that follows the container costs this: each change is told to it.
            with Session(bench, WATCH_GROUP, directory) as session:
                session.await_watching()
                return self.writes(bench, contender, directory)
        with Etcd(place) as etcd, Machine(bench, place, etcd, "a") as machine:
            machine.await_connected()
            before, etcd_before = machine.status().get("index", 0), etcd.processor_seconds()
            finding = self.writes(bench, contender, machine.directory)
            machine.await_done(1)
            finding["entries"] = machine.status()["index"] - before
            finding["etcd"] = etcd.processor_seconds() - etcd_before
        return finding

    def writes(self, bench, contender: StoreContender, directory: str) -> Finding:
        with StoreSession(bench, contender, directory, is_made=True) as session:
            lines = session.numbers("write", ITEMS, self.size("writes"), contender.durability)
        times = [nanoseconds / 1000 for (nanoseconds,) in lines]
        return {"times": times, "rate": len(times) / sum(times) * 1e6}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        for durability in ("relaxed", "durable"):
            times = gathered(findings, "times", durability)
            for measure in (
                table.add(f"{durability}: writes a second", cells(gathered(findings, "rate", durability), median)),
                table.add(f"{durability}: median, µs", cells(times, median)),
                table.add(f"{durability}: p99, µs", cells(times, lambda samples: percentile(samples, 99))),
            ):
                table.add_ratio(measure, OUTSIDE)
            table.add(f"{durability}: entries sent a round", cells(gathered(findings, "entries", durability), median))
