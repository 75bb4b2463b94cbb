"""Programs in C and Python: each call beside Swift's, and the Python package beside others for Python."""

import os
import time

from .. import packages, programs
from ..failures import Failed
from ..figures import median, percentile
from ..goals import Goal
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..store_session import StoreSession
from ..stores import Store, StoreContender
from ..table import Table
from ..watchers import module_version, script
from .increments import highest, middle

LIBRARY = os.path.join(programs.ROOT, ".build", "library", "files")
WORK, CHANGE = "python_work.py", "python_change.py"


def library() -> None:
    programs.run([os.path.join(programs.ROOT, "tools", "library")])
    os.environ["GROUP_CONTAINER_LIBRARY"] = os.path.join(LIBRARY, "lib", "libgroupcontainer.so.0")
    os.environ["LD_LIBRARY_PATH"] = os.path.join(LIBRARY, "lib")


def in_c(_: dict[str, str]) -> list[str]:
    library()
    path = os.path.join(programs.KEPT, "language-calls")
    flags = [f"-I{LIBRARY}/include", f"-L{LIBRARY}/lib", "-lgroupcontainer"]
    programs.compile_c(path, [os.path.join(programs.HERE, "language-calls.c")], flags)
    return [path]


def ours(work: str):
    def find(_: dict[str, str]) -> list[str]:
        library()
        os.environ["PYTHONPATH"] = os.path.join(programs.ROOT, "Sources", "Languages", "Python")
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        return [packages.python("filelock"), script(work), "group"]

    return find


def peer(party: str, module: str = "filelock", work: str = WORK):
    return lambda _: [packages.python(module), script(work), party]


def version(module: str):
    return lambda found: module_version(module)(found[:1])


SWIFT = Store("in Swift", lambda found: [found["bench-worker"]])
C = Store("in C", in_c)
PYTHON = Store("in Python", ours(WORK))
OURS = Store("group_container", ours(WORK))
OBSERVER = Store("group_container.watchdog", ours(CHANGE))
FILELOCK = Store("filelock", peer("filelock", "filelock"), version=version("filelock"))
WATCHDOG = Store("watchdog", peer("watchdog", "watchdog", CHANGE), version=version("watchdog"))
SHELVE = Store("shelve", peer("shelve"))
LMDB = Store("lmdb, without sync", peer("lmdb", "lmdb"))
SQLITE = Store("sqlite3, NORMAL", peer("sqlite"))
NAIVE = Store("temporary file and rename", peer("naive"))


class Calls(Row):
    """Rows of calls: each contender makes each operation in batches."""

    places = ("memory",)
    rounds = 5
    sizes = {"batches": (30, 10)}
    operations: tuple[str, ...] = ()
    parties: tuple[Store, ...] = ()
    batch = 100

    def contenders(self) -> list[StoreContender]:
        return [
            StoreContender(store.name, store, variant=operation) for operation in self.operations for store in self.parties
        ]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        with StoreSession(bench, contender, place.fresh()) as session:
            lines = session.numbers("calls", contender.variant, self.batch, self.size("batches"))
        return {"times": [nanoseconds / 1000 for (nanoseconds,) in lines]}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        for operation in self.operations:
            times = gathered(findings, "times", operation)
            measure = table.add(f"{operation}: median, µs", cells(times, median))
            table.add(f"{operation}: p99, µs", cells(times, lambda samples: percentile(samples, 99)))
            table.add_ratio(measure, self.parties[0].name)
        table.notes.append(f"each sample is a batch of {self.batch}, divided by that")


class LanguageCalls(Calls):
    name = "language-calls"
    title = "a call in Swift, in C and in Python: {batches} batches a round"
    operations = ("lock", "read", "write", "get", "set", "increment", "post")
    parties = (SWIFT, C, PYTHON)

    def goals(self) -> list[Goal]:
        return [
            Goal(f"{operation}: C within 1.5 of Swift", f"{operation}: median, µs", C.name, most=1.5, of=(SWIFT.name,))
            for operation in self.operations
        ]


class PythonLock(Calls):
    name = "python-lock"
    title = "Python: an uncontended lock, and its end; {batches} batches a round"
    operations = ("file lock",)
    parties = (OURS, FILELOCK)

    def goals(self) -> list[Goal]:
        return [Goal("ahead of filelock", "file lock: median, µs", OURS.name, most=1, of=(FILELOCK.name,))]


class PythonKeys(Calls):
    name = "python-keys"
    title = "Python: a key is read, and set; {batches} batches a round"
    operations = ("get", "set")
    parties = (OURS, SHELVE, LMDB, SQLITE)

    def goals(self) -> list[Goal]:
        theirs = tuple(store.name for store in self.parties[1:])
        return [
            Goal(f"{operation}: ahead of each", f"{operation}: median, µs", OURS.name, most=1, of=theirs)
            for operation in self.operations
        ]


class PythonUpdates(Row):
    name = "python-updates"
    title = "Python: {processes} processes add to a number in one JSON file for {seconds} s"
    places = ("disk",)
    rounds = 3
    sizes = {"processes": (8, 8), "seconds": (5, 0.5)}

    def goals(self) -> list[Goal]:
        return [Goal("none is lost", "lost", OURS.name, most=0)]

    def contenders(self) -> list[StoreContender]:
        return [StoreContender(store.name, store) for store in (OURS, FILELOCK, SQLITE, NAIVE)]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        seconds = self.size("seconds")
        with StoreSession(bench, contender, place.fresh()) as session:
            # Python starts slowly.
            begin = time.monotonic_ns() + 2_000_000_000
            words = ("work", begin, begin + int(seconds * 1e9))
            workers = [session.start(*words) for _ in range(self.size("processes"))]
            counts = [int(session.finish(worker, "work")[0][0]) for worker in workers]
            total = int(session.numbers("sum")[0][0])
        if not sum(counts):
            raise Failed("no process has added anything")
        return {"rate": sum(counts) / seconds, "lost": abs(sum(counts) - total)}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        rate = table.add("additions a second, median", cells(gathered(findings, "rate"), middle))
        for store in (FILELOCK, SQLITE):
            table.add_ratio(rate, store.name)
        table.add("lost", cells(gathered(findings, "lost"), highest))


class PythonChange(Row):
    name = "python-change"
    title = "Python: a file is replaced, until the handler runs; {changes} changes a round"
    places = ("memory",)
    rounds = 5
    sizes = {"changes": (200, 30)}

    def goals(self) -> list[Goal]:
        return [Goal("ahead of watchdog", "median, µs", OBSERVER.name, most=1, of=(WATCHDOG.name,))]

    def contenders(self) -> list[StoreContender]:
        return [StoreContender(store.name, store) for store in (OBSERVER, WATCHDOG)]

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        with StoreSession(bench, contender, place.fresh()) as session:
            lines = session.numbers("change", self.size("changes"))
        return {"delays": [nanoseconds / 1000 for (nanoseconds,) in lines]}

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        delays = gathered(findings, "delays")
        measure = table.add("median, µs", cells(delays, median))
        late = table.add("p99, µs", cells(delays, lambda samples: percentile(samples, 99)))
        for one in (measure, late):
            table.add_ratio(one, WATCHDOG.name)
