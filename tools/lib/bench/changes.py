"""The programs that change files, and the times at which each change began and ended."""

import os
import subprocess
from dataclasses import dataclass

from .failures import Failed

# The ways to change a contender's files.
COORDINATED, RENAME, WRITE, MOVE = "coordinated", "rename", "write", "move"


@dataclass
class Change:
    number: int
    began: int
    done: int


@dataclass
class Changing:
    """A process that makes changes."""

    process: subprocess.Popen

    def wait(self) -> list[Change]:
        try:
            out, _ = self.process.communicate()
        except BaseException:
            # The run is about to end.
            self.process.kill()
            raise
        if self.process.returncode != 0:
            raise Failed(f"the writer failed: {out.strip()[-200:]}")
        return [Change(*map(int, line.split())) for line in out.splitlines()]


class Changes:
    """Starts the processes."""

    def __init__(self, programs: dict[str, str]) -> None:
        self.programs = programs

    def start(self, way: str, directory: str, first: int, count: int, pace: str) -> Changing:
        if way == COORDINATED:
            words = [self.programs["bench-worker"], "write"]
        else:
            words = [self.programs["plain-changes"], way]
        words += [directory, str(first), str(count), pace]
        return Changing(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True))

    def run(self, way: str, directory: str, first: int, count: int, pace: str) -> list[Change]:
        return self.start(way, directory, first, count, pace).wait()

    def make_files(self, directory: str, word: str, first: int, count: int) -> None:
        self.plain("make", directory, str(first), str(count), word)

    def make_tree(self, directory: str, directories: int, files: int) -> None:
        os.makedirs(directory, exist_ok=True)
        self.plain("tree", directory, str(directories), str(files))

    def make_container(self, directory: str, keeping: int | None = None) -> None:
        """Creates a container; with a limit of the journal in bytes, if one is given."""
        self.call(self.programs["bench-worker"], "create", directory, *([str(keeping)] if keeping else []))

    def replace(self, directory: str, count: int) -> None:
        """Writes one item a number of times, which makes as many records in the journal."""
        self.call(self.programs["bench-worker"], "replace", directory, "8", str(count), "relaxed")

    def plain(self, *words: str) -> None:
        self.call(self.programs["plain-changes"], *words)

    @staticmethod
    def call(*words: str) -> None:
        Changes.lines(*words)

    @staticmethod
    def lines(*words: str) -> list[str]:
        """The lines that a command prints."""
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{os.path.basename(words[0])} failed: {(done.stdout + done.stderr).strip()[-200:]}")
        return done.stdout.splitlines()
