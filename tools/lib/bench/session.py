"""One or more copies of a watcher on a directory, and the reader of their pipes: the beginning of every round."""

import os
import subprocess
import tempfile
import time

from . import processes
from .arrivals import Arrivals, Report
from .errors_pipe import ErrorsPipe
from .failures import Failed
from .watchers import Watcher

# The line of watch-group --verbose after which it reports every change, also an uncoordinated one.
WATCHING = "watching"


class Session:
    """Used with `with`. For our watcher, the directory is a container already."""

    def __init__(self, bench, watcher: Watcher, directory: str, copies: int = 1, keeps_text: bool = False) -> None:
        self.directory, self.watcher, self.copies, self.program = directory, watcher, copies, bench.programs["arrivals"]
        self.found = bench.found(watcher)
        self.scratch = tempfile.mkdtemp(prefix="session.", dir=bench.scratch)
        self.raw = os.path.join(self.scratch, "raw") if keeps_text else None
        self.probe_directory = directory
        self.probes = 0
        # The time without work after which a watcher counts as idle.
        self.idle_seconds = 0.1 if bench.is_quick else 0.3
        self.watchers: list[subprocess.Popen] = []
        self.began = 0
        self.errors = ErrorsPipe()

    def __enter__(self) -> "Session":
        ends = [os.pipe() for _ in range(self.copies)]
        self.arrivals = Arrivals(self.program, self.scratch, [reading for reading, _ in ends], self.raw)
        for reading, _ in ends:
            os.close(reading)
        self.began = time.monotonic_ns()
        try:
            for _, writing in ends:
                self.watchers += self.watcher.start(self.found, self.directory, self.scratch, writing, self.errors.writing)
        except BaseException:
            self.__exit__()
            raise
        finally:
            for _, writing in ends:
                os.close(writing)
        return self

    def __exit__(self, *_) -> None:
        processes.end(self.watchers)
        self.arrivals.close()
        self.errors.close()

    def add_copy(self) -> subprocess.Popen:
        """Starts one more copy, whose lines are not read."""
        with open(os.devnull, "wb") as nowhere:
            started = self.watcher.start(self.found, self.directory, self.scratch, nowhere.fileno(), self.errors.writing)
        self.watchers += started
        return started[0]

    def probe(self) -> None:
        path = os.path.join(self.probe_directory, f"probe-{self.probes:06}")
        with open(path, "w", encoding="ascii") as file:
            file.write("probe\n")
        self.probes += 1

    def await_watching(self, limit: float = 60, tolerant: bool = False) -> Report:
        """Makes small changes until all copies have reported one, then one more until all have reported that: nothing is
        on its way any more, and the reports until then are dropped. Tolerant: of copies that end by themselves, as long
        as there is one."""
        deadline = time.monotonic() + limit
        if self.watcher.is_ours:
            self.await_said(1, limit)
        pause = 0.01
        last = None
        while time.monotonic() < deadline:
            report = self.checked_report(tolerant)
            if last is None and 0 < report.ready == report.open:
                last = self.probes
                pause = 0.01
            if last is not None and last <= report.lowest_probe:
                self.await_idle()
                self.arrivals.command("forget")
                return report
            self.probe()
            time.sleep(pause)
            # Some programs wait for a quiet moment before they report.
            pause = min(pause * (1.05 if last is None else 2), 0.5)
        raise Failed(f"was not watching within {limit:.0f} s ({self.errors.last()})")

    def await_idle(self, limit: float = 20) -> None:
        """Waits until the watchers use at most a tenth of a processor: a program that watches may still be comparing."""
        deadline = time.monotonic() + limit
        before, used = -1.0, self.processor_seconds()
        while time.monotonic() < deadline and used - before > self.idle_seconds / 10:
            time.sleep(self.idle_seconds)
            before, used = used, self.processor_seconds()

    def await_said(self, number: int = 1, limit: float = 120) -> int:
        """The time at which a number of our copies have reported that they watch."""
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            moment = self.errors.moment(WATCHING, number)
            if moment is not None:
                return moment
            self.checked_report(tolerant=True)
            time.sleep(0.005)
        raise Failed(f"was not watching within {limit:.0f} s ({self.errors.last()})")

    def checked_report(self, tolerant: bool = False) -> Report:
        report = self.arrivals.report()
        if report.open == 0 or (report.open < self.copies and not tolerant):
            raise Failed(f"ended by itself ({self.errors.last()})")
        return report

    def await_told(self, samples: int, befores: int = 0, quiet: float = 2, limit: float = 60) -> Report:
        """Waits until a number of changes were reported, or none for some seconds."""
        deadline = time.monotonic() + limit
        report = self.checked_report(tolerant=True)
        changed = time.monotonic()
        while time.monotonic() < deadline and time.monotonic() - changed < quiet:
            if report.samples >= samples and report.befores >= befores:
                break
            time.sleep(0.01)
            before, report = report, self.arrivals.report()
            if report.bytes != before.bytes:
                changed = time.monotonic()
        return report

    def processor_seconds(self) -> float:
        """The processes that have not ended."""
        return sum(processes.processor_seconds(process.pid) for process in self.watchers if process.poll() is None)

    def resident_mebibytes(self) -> float:
        return sum(processes.resident_mebibytes(process.pid) for process in self.watchers)

    def peak_mebibytes(self) -> float:
        return sum(processes.peak_mebibytes(process.pid) for process in self.watchers)
