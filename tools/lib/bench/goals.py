"""The goals of a row, and their results: ✓, ✗, or – where they were not measured."""

from dataclasses import dataclass

from .figures import written
from .table import Table


@dataclass(frozen=True)
class Goal:
    """A goal for the cells of a measure in some columns: at most, or at least, a number; or that number times the best
    of other columns, of the same measure if no other one is named."""

    text: str
    measure: str
    columns: str | tuple[str, ...]
    most: float | None = None
    least: float | None = None
    of: tuple[str, ...] = ()
    of_measure: str = ""

    def applies(self, table: Table) -> bool:
        """Whether one of the columns is there: in memory, for instance, nothing is durable."""
        columns = (self.columns,) if isinstance(self.columns, str) else self.columns
        return any(table.excuses.get(column) != "not there" for column in columns)

    def verdict(self, table: Table) -> str:
        """One line of Markdown."""
        columns = (self.columns,) if isinstance(self.columns, str) else self.columns
        failed = [column for column in columns if table.excuses.get(column) == "failed"]
        if failed:
            return f"✗ {self.text}: {failed[0]} failed"
        found = [number(table, self.measure, column) for column in columns]
        bases = {column: number(table, self.of_measure or self.measure, column) for column in self.of}
        bases = {column: base for column, base in bases.items() if base is not None}
        if None in found or (self.of and not bases):
            return f"– {self.text}: not measured"
        worst = max(found) if self.most is not None else min(found)
        factor = self.most if self.most is not None else self.least
        pick = min if self.most is not None else max
        base = pick(bases, key=lambda column: bases[column]) if bases else None
        bound = factor * bases[base] if base is not None else factor
        reached = worst <= bound if self.most is not None else worst >= bound
        said = f"{written(worst)}, {'at most' if self.most is not None else 'at least'} {written(bound)}"
        if base is not None:
            said += f" = {factor:g} × {base}" + (f" ({self.of_measure})" if self.of_measure else "")
        return f"{'✓' if reached else '✗'} {self.text}: {said}"


def number(table: Table, label: str, column: str) -> int | float | None:
    for measure in table.measures:
        if measure.label == label:
            cell = measure.cells.get(column)
            return cell if isinstance(cell, (int, float)) else None
    return None
