"""From a plain program's rename on one machine until the line of watch-group on the other one."""

from ..changes import RENAME
from ..etcd import CLUSTER, ETCD, Etcd, Machine
from ..failures import Failed
from ..figures import median, percentile
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..session import Session
from ..store_session import StoreSession
from ..stores import StoreContender
from ..table import Table
from ..watchers import OURS as WATCH_GROUP

OURS, BARE = "rename on A until the line on B", "bare etcd put until a bare watch has it"
# Between two changes, in nanoseconds.
PAUSE = 30_000_000


class ClusterChange(Row):
    name = "cluster-change"
    title = (
        "a plain file is renamed into place on machine A until watch-group on machine B has printed its line; theirs: a put "
        "into etcd until a watch has it; {samples} a round"
    )
    places = ("memory", "disk")
    rounds = 3
    sizes = {"samples": (150, 15)}

    def contenders(self) -> list[StoreContender]:
        return [StoreContender(OURS, CLUSTER), StoreContender(BARE, ETCD)]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        bench.found(contender.store)
        with Etcd(place) as etcd:
            if contender.store is ETCD:
                with StoreSession(bench, contender, place.fresh(), is_made=True) as session:
                    words = ["watch", etcd.endpoints, str(self.size("samples")), str(PAUSE)]
                    lines = session.finish(session.popen([*session.found, *words]), "watch")
                return {"times": [nanoseconds / 1e6 for (nanoseconds,) in lines], "lost": 0}
            with Machine(bench, place, etcd, "a") as first, Machine(bench, place, etcd, "b") as second:
                return self.delays(bench, first.await_connected(), second.await_connected())

    def delays(self, bench, first: Machine, second: Machine) -> Finding:
        count = self.size("samples")
        # Every file exists before, on both machines.
        bench.changes.make_files(first.directory, "sample", 0, count)
        first.await_done(1)
        second.await_done(first.status()["index"])
        with Session(bench, WATCH_GROUP, second.directory) as session:
            session.await_watching()
            # The changes that showed that it watches go to the other machine first.
            second.await_done()
            first.await_done(second.status()["index"])
            session.await_idle()
            made = bench.changes.run(RENAME, first.directory, 0, count, f"pause:{PAUSE}")
            session.await_told(count, quiet=5)
            arrivals = session.arrivals.dump()
        reported = [(arrivals[change.number].first - change.began) / 1e6 for change in made if change.number in arrivals]
        if any(delay < 0 for delay in reported):
            raise Failed("a file was reported before it was changed: its delay is unknown")
        return {"times": reported, "lost": len(made) - len(reported)}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        times = gathered(findings, "times")
        for measure in (
            table.add("median, ms", cells(times, median)),
            table.add("p99, ms", cells(times, lambda samples: percentile(samples, 99))),
        ):
            table.add_ratio(measure, BARE)
        table.add("samples", {column: len(values) for column, values in times.items()})
        table.add("lost", {column: sum(values) for column, values in gathered(findings, "lost").items()})
