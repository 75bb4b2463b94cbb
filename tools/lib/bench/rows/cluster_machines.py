"""What one node of etcd has to do for a cluster of many machines: each is a session and a watch; ten of them commit."""

import subprocess
import time

from .. import processes
from ..etcd import ALL_DESCRIPTORS, CLUSTER, Etcd
from ..failures import Failed
from ..figures import median, percentile
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..stores import StoreContender
from ..table import Table

MACHINES = {"1 machine": 1, "10 machines": 10, "100 machines": 100, "1,000 machines": 1_000}
# Commits a second of all machines together.
RATES = {"10 a second": 10, "100 a second": 100}
LIMIT = 240


class ClusterMachines(Row):
    name = "cluster-machines"
    title = (
        "machines are simulated, each with its session and its watch at one node of etcd, and ten of them (or the one) commit a "
        "fixed number of entries a second in all, for {seconds} s"
    )
    places = ("disk",)
    rounds = 1
    sizes = {"seconds": (10, 2)}

    def contenders(self) -> list[StoreContender]:
        machines = list(MACHINES)[:3] if self.is_quick else MACHINES
        rates = list(RATES)[:1] if self.is_quick else RATES
        return [StoreContender(column, CLUSTER, variant=rate) for rate in rates for column in machines]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        found, seconds = bench.found(contender.store), self.size("seconds")
        words = ["machines", None, MACHINES[contender.column], RATES[contender.variant], seconds]
        with Etcd(place) as etcd:
            words[1] = etcd.endpoints
            command = [*ALL_DESCRIPTORS, *found, *map(str, words)]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
            try:
                standing = process.stdout.readline().split()
                if process.stdout.readline().strip() != "begin":
                    raise Failed(f"the machines did not begin: {standing}")
                began, used, ours = time.monotonic(), etcd.processor_seconds(), processes.processor_seconds(process.pid)
                if process.stdout.readline().strip() != "end":
                    raise Failed("the machines ended by themselves")
                taken = time.monotonic() - began
                finding = {
                    "etcd": (etcd.processor_seconds() - used) / taken, "memory": etcd.resident_mebibytes(),
                    "ours": (processes.processor_seconds(process.pid) - ours) / taken,
                }  # fmt: skip
                out, _ = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                raise Failed(f"the machines did not end within {LIMIT} s") from None
            finally:
                process.kill()
                process.wait()
                process.stdout.close()
        commits, failed, missing, *delays = [float(word) for word in out.split()]
        return finding | {
            "standing": int(standing[1]), "commits": commits / seconds, "failed": int(failed), "missing": int(missing),
            "delays": [delay / 1e6 for delay in delays],
        }  # fmt: skip

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        measures = {
            "commits a second": "commits", "etcd's processor time, s a second": "etcd", "etcd's memory, MiB": "memory",
            "the machines' processor time, s a second": "ours",
        }  # fmt: skip
        for rate in RATES:
            if not any(contender.variant == rate for contender in findings):
                continue
            for label, name in measures.items():
                table.add(f"{rate}: {label}", cells(gathered(findings, name, rate), median))
            delays = gathered(findings, "delays", rate)
            table.add(f"{rate}: until the last machine has it, median, ms", cells(delays, median))
            table.add(f"{rate}: p99, ms", cells(delays, lambda samples: percentile(samples, 99)))
            table.add(f"{rate}: failed requests", cells(gathered(findings, "failed", rate), median))
            table.add(f"{rate}: entries that a machine had not got 2 s later", cells(gathered(findings, "missing", rate), median))
