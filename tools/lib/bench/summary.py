"""The first table of docs/internals/benchmarks.md: a few rows for readers who want to know what the package costs."""

from dataclasses import dataclass

from .figures import Cell, ratio, written
from .table import Table


@dataclass(frozen=True)
class Fact:
    """A cell of ours and one of a peer's, in the table of a row on a file system, and what they mean."""

    row: str
    measure: str
    ours: str
    peer: str
    text: str
    means: str
    # The table on the disk, rather than the one in memory, where a row has both.
    memory = "tmpfs"

    def line(self, tables: list[Table]) -> str | None:
        """One line of Markdown; None where a cell was not measured."""
        found = [table for table in tables if table.row == self.row]
        table = next((table for table in found if table.file_system != self.memory), found[0] if found else None)
        cells = {m.label: m.cells for m in table.measures}.get(self.measure, {}) if table else {}
        ours, theirs = cells.get(self.ours), cells.get(self.peer)
        if not is_number(ours) or not is_number(theirs):
            return None
        quotient = written(ratio(ours, theirs))
        return f"| {self.text} | {written(ours)} | {written(theirs)} ({self.peer}) | {quotient} | {self.means} ([{self.row}](#{self.row})) |"


def is_number(cell: Cell) -> bool:
    return isinstance(cell, (int, float))


FACTS = [
    Fact("lock", "median, ns", "write lock, depth 1", "bare OFD lock", "an uncontended lock and its end, ns",
         "the same two system calls, and the bookkeeping that names holders and finds deadlocks"),
    Fact("lock-contended", "the longest wait, ms", "lock", "flock(2)", "the longest wait of 8 processes for one lock, ms",
         "a process that asks again queues behind the waiters, on every machine; flock(2) promises no order"),
    Fact("lock-contended", "additions a second, median", "lock", "flock(2)", "additions a second of these 8 processes",
         "the price of that, and of a record of each write in the journal"),
    Fact("replace", "1 KiB: median, µs", "ours, durable", "C, fsync of both", "a durable replacement of 1 KiB, µs",
         "one more sync, of the journal, and a record for followers"),
    Fact("external", "rename: median, µs", "watch-group", "inotifywait", "a change by another program until its line, µs",
         "the change is compared and recorded before it is reported"),
    Fact("renames", "lost, most of a round", "watch-group", "inotifywait", "of 100,000 quick renames, not reported",
         "no change is lost, at several times the processor time"),
    Fact("memory", "peak memory, MiB", "watch-group", "inotifywait", "memory of a watcher of 1,000,000 files, MiB",
         "the state of each file is kept, to find what has changed"),
    Fact("increments", "additions a second, median", "GroupDefaults", "SQLite NORMAL",
         "additions a second of 8 processes to one key", "a set takes no lock between processes"),
]  # fmt: skip


def summary(tables: list[Table], picture: str | None) -> str:
    """The section, or nothing where no row of it was measured."""
    lines = [line for fact in FACTS if (line := fact.line(tables))]
    if not lines:
        return ""
    parts = ["## In short", "", "| what | ours | the peer | ours ÷ the peer | what it means |", "|---|---|---|---|---|", *lines]
    if picture is not None:
        parts += ["", f"![How the costs grow with the number of files and changes]({picture})"]
        parts += ["", "The figures of this chart: [Growth](#growth)."]
    return "\n".join([*parts, ""])
