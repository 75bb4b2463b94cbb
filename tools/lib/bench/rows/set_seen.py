"""From the start of a set in one process until another process, which waits for it, has it."""

from ..failures import Failed
from ..figures import median, percentile
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import DCONF, INOTIFY, OURS, StoreContender
from ..table import Table


class SetSeen(Row):
    name = "set-seen"
    title = "from the start of a set until a waiting process has it; {sets:,} sets, about 500 a second"
    places = ("disk",)
    rounds = 5
    sizes = {"sets": (1000, 100)}

    def contenders(self) -> list[StoreContender]:
        return [StoreContender(store.name, store) for store in (OURS, INOTIFY, DCONF)]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        with StoreSession(bench, contender, place.fresh(), limit=60) as session:
            follower = session.start("follow")
            if follower.stdout.readline() != "ready\n":
                raise Failed("the follower did not start")
            session.numbers("send", self.size("sets"), 2_000_000)
            reported = [nanoseconds / 1000 for (nanoseconds,) in session.finish(follower, "follow")]
        return {"delays": reported, "missed": self.size("sets") - len(reported)}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        delays = gathered(findings, "delays")
        middle = table.add("median, µs", cells(delays, median))
        late = table.add("p99, µs", cells(delays, lambda samples: percentile(samples, 99)))
        for measure in (middle, late):
            table.add_ratio(measure, INOTIFY.name)
        table.add("1st percentile, µs", cells(delays, lambda samples: percentile(samples, 1)))
        table.add("sets not reported one by one", cells(gathered(findings, "missed"), sum))
