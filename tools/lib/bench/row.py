"""What every row is: contenders that take turns on a place, and what their rounds amount to."""

from dataclasses import dataclass
from typing import Any

from . import changes
from .figures import Cell, median, percentile
from .goals import Goal
from .places import Place
from .table import Measure, Table
from .watchers import FLOOR, OURS, Watcher

# What one round found, by whatever name the row gives it.
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
    """A row implements `contenders`, `round` and `summarise`, and `prepare` where something is made once a place.
    Its subclass says the rest in these:"""

    name = ""
    title = ""
    # Of the places: where the file system matters, both.
    places: tuple[str, ...] = ("memory",)
    rounds = 1
    # How many of what, and with --quick; the title may name them in braces.
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
        """What is to be reached, by the names of the measures."""
        return []

    def contenders(self) -> list[Contender]:
        raise NotImplementedError

    def prepare(self, bench, place: Place) -> None:
        """Once a place, before the rounds."""

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        """One round of a contender. Raises Unavailable or Failed, and its cell says so."""
        raise NotImplementedError

    def summarise(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        """Adds the measures. Contenders without a finding are not in it."""
        raise NotImplementedError


def gathered(findings: dict[Contender, list[Finding]], name: str, variant: str = "") -> dict[str, list]:
    """By column: what all rounds have under a name, lists put together."""
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
    """Median and 99th percentile, and how both compare with the floor and with ours."""
    middle = table.add(f"{prefix}median, µs", cells(delays, median))
    late = table.add(f"{prefix}p99, µs", cells(delays, lambda samples: percentile(samples, 99)))
    for measure in (middle, late):
        for base in (FLOOR.name, OURS.name):
            if base in delays:
                table.add_ratio(measure, base)
    return middle


def cells(columns: dict[str, list], figure) -> dict[str, Cell]:
    return {column: figure(values) for column, values in columns.items()}
