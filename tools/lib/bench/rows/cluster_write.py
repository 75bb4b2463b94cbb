"""A strict write in a container of a cluster, beside the put into etcd without which there is none."""

from ..etcd import CLUSTER, ETCD, Etcd, Machine
from ..figures import median, percentile
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import StoreContender
from ..table import Table

NODES = {"one node": 1, "three nodes": 3}
OURS, BARE = "replicated write", "bare etcd put"


class ClusterWrite(Row):
    name = "cluster-write"
    title = "a replicated write of 120 bytes; theirs: a put of 120 bytes by the same client of etcd; {writes} a round"
    places = ("memory", "disk")
    rounds = 3
    sizes = {"writes": (200, 20)}

    def contenders(self) -> list[StoreContender]:
        parties = [(OURS, CLUSTER), (BARE, ETCD)]
        return [StoreContender(column, party, variant=nodes) for nodes in NODES for column, party in parties]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        bench.found(contender.store)
        with Etcd(place, NODES[contender.variant]) as etcd:
            if contender.store is ETCD:
                with StoreSession(bench, contender, place.fresh(), is_made=True) as session:
                    lines = session.finish(session.popen([*session.found, "put", etcd.endpoints, str(self.size("writes"))]), "put")
            else:
                with Machine(bench, place, etcd, "a") as machine:
                    machine.await_connected()
                    with StoreSession(bench, contender, machine.directory, is_made=True) as session:
                        lines = session.numbers("write", 1, self.size("writes"), "replicated")
        return {"times": [nanoseconds / 1e6 for (nanoseconds,) in lines]}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        for nodes in NODES:
            times = gathered(findings, "times", nodes)
            for measure in (
                table.add(f"{nodes}: median, ms", cells(times, median)),
                table.add(f"{nodes}: p99, ms", cells(times, lambda samples: percentile(samples, 99))),
            ):
                table.add_ratio(measure, BARE)
