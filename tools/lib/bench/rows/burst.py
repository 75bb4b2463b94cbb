"""Directories that arrive with contents, and are changed then: copied, moved in, renamed."""

import os
import re
import shutil
import subprocess

from ..changes import RENAME
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, cells, gathered, one_each
from ..session import Session
from ..table import Table
from ..watchers import EVERYONE, OURS

# The first number of the samples of each step.
COPIED, AFTER_COPY, MOVED, AFTER_MOVE, AFTER_RENAME = range(0, 500_000, 100_000)
WORDS = {
    COPIED: "cp -r: files missed",
    AFTER_COPY: "cp -r: directories where the next file is missed",
    MOVED: "moved in: files missed",
    AFTER_MOVE: "moved in: directories where the next file is missed",
    AFTER_RENAME: "renamed: directories where the next file is missed",
}


class Burst(Row):
    name = "burst"
    title = "{directories:,} directories with 3 files each: copied, moved in, renamed; afterwards a file written in each directory"
    sizes = {"directories": (1000, 40)}

    def goals(self) -> list[Goal]:
        labels = [*WORDS.values(), "renamed: reported only with a wrong path"]
        return [Goal(f"none: {label}", label, OURS.name, most=0) for label in labels]

    def contenders(self) -> list[Contender]:
        return one_each(EVERYONE, RENAME)

    def prepare(self, bench, place: Place) -> None:
        self.directories, self.outside = self.size("directories"), place.fresh("outside")
        self.source = os.path.join(self.outside, "copied")
        self.make(self.source, COPIED)

    def make(self, top: str, first: int) -> None:
        for directory in range(self.directories):
            path = os.path.join(top, f"directory-{directory:06}")
            os.makedirs(path)
            for file in range(3):
                touch(path, first + directory * 3 + file)

    def write_in_each(self, top: str, first: int) -> None:
        for directory in range(self.directories):
            touch(os.path.join(top, f"directory-{directory:06}"), first + directory)

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        directory = bench.container(contender.watcher, place.fresh())
        coming = os.path.join(self.outside, "moved")
        self.make(coming, MOVED)
        copied, moved, renamed = (os.path.join(directory, name) for name in ("copied", "moved", "renamed"))
        files, expected = self.directories * 3, 0
        finding: Finding = {}

        def rename_and_write() -> None:
            os.rename(moved, renamed)
            self.write_in_each(renamed, AFTER_RENAME)

        steps = [
            (COPIED, files, lambda: subprocess.run(["cp", "-r", self.source, directory], check=True)),
            (AFTER_COPY, self.directories, lambda: self.write_in_each(copied, AFTER_COPY)),
            (MOVED, files, lambda: os.rename(coming, moved)),
            (AFTER_MOVE, self.directories, lambda: self.write_in_each(moved, AFTER_MOVE)),
            (AFTER_RENAME, self.directories, rename_and_write),
        ]
        try:
            with Session(bench, contender.watcher, directory, keeps_text=True) as session:
                session.await_watching()
                for first, count, make in steps:
                    make()
                    session.await_told(expected + count, quiet=0.3 if self.is_quick else 2, limit=30)
                    reported = sum(first <= number < first + count for number in session.arrivals.dump())
                    finding[WORDS[first]] = count - reported
                    expected += reported
                finding["wrong"] = wrong_paths(session.raw)
                finding["ended"] = int(session.arrivals.report().open == 0)
        finally:
            shutil.rmtree(coming, ignore_errors=True)
        return finding

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        for label in WORDS.values():
            table.add(label, cells(gathered(findings, label), max))
        table.add("renamed: reported only with a wrong path", cells(gathered(findings, "wrong"), max))
        table.add("ended by itself", cells(gathered(findings, "ended"), lambda v: "yes" if any(v) else "no"))


def touch(directory: str, number: int) -> None:
    with open(os.path.join(directory, f"sample-{number:06}"), "w", encoding="ascii") as file:
        file.write("burst\n")


def wrong_paths(raw: str | None) -> int:
    """The number of files, written after the renaming, that were reported only by a wrong path."""
    if raw is None or not os.path.exists(raw):
        return 0
    with open(raw, encoding="utf-8", errors="replace") as file:
        text = file.read()
    reported = set(re.findall(rf"sample-({AFTER_RENAME // 100_000}\d{{5}})", text))
    right = {number for _, number in re.findall(r"renamed/(directory-\d{6})\\?/sample-(\d{6})", text)}
    return len(reported - right)
