"""A new store in a directory, and the processes that use it: the beginning of every round of a store."""

import os
import subprocess
import time

from . import processes
from .failures import Failed
from .stores import StoreContender


class StoreSession:
    """Used with `with`. Makes the store, unless it exists. Touches no file of the user: `run` in the directory is the
    stores' home directory. (Not the directory itself: no container is made of a home directory.)"""

    def __init__(
        self, bench, contender: StoreContender, directory: str, limit: float = 300, is_made: bool = False
    ) -> None:
        self.is_made, self.is_quick = is_made, bench.is_quick
        self.found, self.contender, self.directory, self.limit = bench.found(contender.store), contender, directory, limit
        run = os.path.join(directory, "run")
        os.mkdir(run, mode=0o700)
        homes = dict.fromkeys(("HOME", "CFFIXED_USER_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"), run)
        self.environment = {**os.environ, **homes}
        self.started: list[subprocess.Popen] = []

    def __enter__(self) -> "StoreSession":
        try:
            if self.contender.store.is_on_bus:
                self.start_bus()
            if not self.is_made:
                self.numbers("create")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        # The bus last, because its services end with it.
        for process in reversed(self.started):
            processes.end([process])
            if process.stdout is not None:
                process.stdout.close()

    def start_bus(self) -> None:
        bus = self.popen(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address"])
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()

    def popen(self, command: list[str]) -> subprocess.Popen:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=self.environment,
        )  # fmt: skip
        self.started.append(process)
        return process

    def start(self, word: str, *more: object) -> subprocess.Popen:
        return self.popen([*self.found, word, self.directory, *map(str, more)])

    def finish(self, process: subprocess.Popen, word: str) -> list[list[float]]:
        """The lines of its output, as numbers."""
        try:
            out, _ = process.communicate(timeout=self.limit)
        except subprocess.TimeoutExpired:
            raise Failed(f"did not end '{word}' within {self.limit:.0f} s") from None
        if process.returncode != 0:
            raise Failed(f"'{word}' failed with {process.returncode}: {out.strip()[-200:]}")
        return [[float(field) for field in line.split()] for line in out.splitlines()]

    def numbers(self, word: str, *more: object) -> list[list[float]]:
        return self.finish(self.start(word, *more), word)

    def increments(self, count: int, seconds: float) -> list[tuple[int, float]]:
        """Runs a number of processes at once. Returns for each the number of its operations, and the longest in nanoseconds."""
        begin = time.monotonic_ns() + (300_000_000 if self.is_quick else 1_000_000_000)
        words = (begin, int(seconds * 1e9), self.contender.durability)
        workers = [self.start("increment", *words) for _ in range(count)]
        lines = [self.finish(worker, "increment")[0] for worker in workers]
        return [(int(made), longest) for made, longest in lines]
