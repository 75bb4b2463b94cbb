"""A machine comes back after the other one has changed much, beside a copy of the same tree."""

import os
import shutil
import subprocess
import time

from .. import processes
from ..etcd import CLUSTER, Etcd, Machine, needed
from ..failures import Failed
from ..figures import median
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import Store, StoreContender
from ..table import Table

NEW, AGAIN = "new files", "the same 1,000 files"
# In each directory of the first form.
FILES = 1_000
# A machine is done when nothing has come for so many seconds.
QUIET = 2


def copier(_: dict[str, str]) -> list[str]:
    needed()
    path = shutil.which("rsync")
    return [path, "--archive"] if path else ["cp", "--archive"]


COPY = Store("rsync -a, or cp -a without rsync", copier)
OURS, PEER = "group-cluster", "a copy by " + ("rsync -a" if shutil.which("rsync") else "cp -a")


class ClusterCatchUp(Row):
    name = "cluster-catch-up"
    title = (
        "machine A makes {changes} changes while the program of machine B does not run, and B comes back: new files of 120 bytes, "
        "and relaxed writes of 1,000 files in turns; theirs: a copy of A's files"
    )
    places = ("disk",)
    rounds = 1
    sizes = {"changes": (100_000, 2_000)}

    def contenders(self) -> list[StoreContender]:
        return [
            StoreContender(column, store, variant=form)
            for form in (NEW, AGAIN)
            for column, store in ((OURS, CLUSTER), (PEER, COPY))
        ]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        found = bench.found(contender.store)
        if contender.store is COPY:
            return self.copied(bench, place, contender, found)
        with Etcd(place) as etcd, Machine(bench, place, etcd, "a") as first:
            second = Machine(bench, place, etcd, "b")
            with second:
                first.await_connected()
                second.await_connected()
            used, began = processes.processor_seconds(first.process.pid), time.monotonic()
            self.change(bench, contender, first.directory)
            made = time.monotonic() - began
            sent = first.await_done(1, seconds=QUIET) - began
            finding = {
                "made": made, "sent": sent, "sent a second": self.size("changes") / sent,
                "sender": processes.processor_seconds(first.process.pid) - used,
                "sender's memory": processes.peak_mebibytes(first.process.pid), "entries": first.status()["index"],
            }  # fmt: skip
            began, etcd_used = time.monotonic(), etcd.processor_seconds()
            with second:
                taken = second.await_done(finding["entries"], seconds=QUIET) - began
                finding |= {
                    "taken": taken, "rate": self.size("changes") / taken, "etcd": etcd.processor_seconds() - etcd_used,
                    "processor": processes.processor_seconds(second.process.pid),
                    "memory": processes.peak_mebibytes(second.process.pid), "etcd's memory": etcd.resident_mebibytes(),
                }  # fmt: skip
            difference = unlike(first.directory, second.directory)
            if difference:
                raise Failed(f"the machines differ: {difference}")
            return finding

    def change(self, bench, contender: StoreContender, directory: str) -> None:
        changes = self.size("changes")
        if contender.variant == NEW:
            bench.changes.make_tree(directory, max(1, changes // FILES), changes)
        else:
            with StoreSession(bench, StoreContender(OURS, CLUSTER), directory, limit=900, is_made=True) as session:
                session.numbers("write", 1_000, changes, "relaxed")

    def copied(self, bench, place: Place, contender: StoreContender, found: list[str]) -> Finding:
        source, goal = place.fresh("source"), place.fresh("copy")
        count = self.size("changes") if contender.variant == NEW else 1_000
        bench.changes.make_tree(source, max(1, count // FILES), count)
        subprocess.run(["sync", "--file-system", source], check=True)
        began = time.monotonic()
        started = subprocess.Popen([*found, source + "/.", goal], stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        subprocess.run(["sync", "--file-system", goal], check=True)
        taken = time.monotonic() - began
        if status != 0:
            raise Failed(f"the copy failed with {started.returncode}")
        return {
            "taken": taken, "rate": count / taken, "processor": usage.ru_utime + usage.ru_stime,
            "memory": usage.ru_maxrss / 1024,
        }  # fmt: skip

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        measures = {
            "until both are equal, s": "taken", "changes a second": "rate", "processor time, s": "processor",
            "memory at most, MiB": "memory", "etcd's processor time, s": "etcd", "etcd's memory, MiB": "etcd's memory",
            "A made them in, s": "made", "and had sent them after, s": "sent", "A's processor time, s": "sender",
            "A's memory at most, MiB": "sender's memory", "entries": "entries",
        }  # fmt: skip
        for form in (NEW, AGAIN):
            for label, name in measures.items():
                measure = table.add(f"{form}: {label}", cells(gathered(findings, name, form), median))
                if name == "taken":
                    table.add_ratio(measure, PEER)


def unlike(first: str, second: str) -> str:
    """The first difference of two trees; nothing if they are equal. The containers' own directories are left out."""
    one, other = contents(first), contents(second)
    for path in sorted(one.keys() | other.keys()):
        if one.get(path) != other.get(path):
            return path
    return ""


def contents(root: str) -> dict[str, bytes]:
    found = {}
    for directory, directories, names in os.walk(root):
        directories[:] = [name for name in directories if name not in (".group", "run")]
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read()
    return found
