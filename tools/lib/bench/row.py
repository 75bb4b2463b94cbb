"""The base of all rows: contenders that take turns on a place, and the results of their rounds."""

from dataclasses import dataclass
from typing import Any

from . import changes
from .figures import Cell, median, percentile
from .goals import Goal
from .places import Place
from .table import Measure, Table
from .watchers import FLOOR, OURS, Watcher

# The results of one round, by names that the row gives them.
Finding = dict[str, Any]


@dataclass(frozen=True)
class Contender:
    """A column of the table, or, with a variant, a part of one."""

    column: str
    watcher: Watcher
    way: str = changes.RENAME
    variant: str = ""

    @property
    def party(self) -> Watcher:
        return self.watcher

    @property
    def name(self) -> str:
        return f"{self.column}, {self.variant}" if self.variant else self.column


def one_each(watchers: list[Watcher], way: str = changes.RENAME, variant: str = "") -> list[Contender]:
    return [Contender(watcher.name, watcher, way, variant) for watcher in watchers]


class Row:
    """A row implements `contenders`, `round` and `summarize`, and `prepare` if it makes something once a place. Its
    subclass sets these, too:"""

    name = ""
    title = ""
    # The places: both, if the file system matters.
    places: tuple[str, ...] = ("memory",)
    rounds = 1
    # The numbers, and those with --quick; the title may have their names in braces.
    sizes: dict[str, tuple[int, int]] = {}

    def __init__(self, is_quick: bool) -> None:
        self.is_quick = is_quick
        if is_quick:
            self.rounds = 1

    def size(self, name: str) -> int:
        return self.sizes[name][1 if self.is_quick else 0]

    @property
    def heading(self) -> str:
        return self.title.format(**{name: self.size(name) for name in self.sizes})

    def goals(self) -> list[Goal]:
        """The goals, by the names of the measures."""
        return []

    def contenders(self) -> list[Contender]:
        raise NotImplementedError

    def prepare(self, bench, place: Place) -> None:
        """Runs once a place, before the rounds."""

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        """Runs one round of a contender. Raises Unavailable or Failed, whose text is put into the cell."""
        raise NotImplementedError

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        """Adds the measures. `findings` has no contenders without results."""
        raise NotImplementedError


def gathered(findings: dict[Contender, list[Finding]], name: str, variant: str = "") -> dict[str, list]:
    """The values of all rounds under a name, by column; lists are joined."""
    columns: dict[str, list] = {}
    for contender, rounds in findings.items():
        if contender.variant == variant:
            values: list = []
            for finding in rounds:
                value = finding.get(name)
                values += value if isinstance(value, list) else [value] if value is not None else []
            columns[contender.column] = values
    return columns


def add_delays(table: Table, delays: dict[str, list], prefix: str = "") -> Measure:
    """Adds median and 99th percentile, and the ratios of both to the floor and to ours."""
    middle = table.add(f"{prefix}median, µs", cells(delays, median))
    late = table.add(f"{prefix}p99, µs", cells(delays, lambda samples: percentile(samples, 99)))
    for measure in (middle, late):
        for base in (FLOOR.name, OURS.name):
            if base in delays:
                table.add_ratio(measure, base)
    return middle


def cells(columns: dict[str, list], figure) -> dict[str, Cell]:
    return {column: figure(values) for column, values in columns.items()}
