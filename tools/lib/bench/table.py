"""The results of a row: measures by contender, as Markdown and as values for JSON."""

from dataclasses import dataclass, field

from .figures import Cell, ratio, written


@dataclass
class Measure:
    """One line of a table."""

    label: str
    cells: dict[str, Cell]


@dataclass
class Table:
    """The columns are the contenders, in the order in which they take part."""

    row: str
    file_system: str
    title: str
    columns: list[str]
    measures: list[Measure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # One line for each goal, with its result first.
    goals: list[str] = field(default_factory=list)
    # The texts for the cells of a column without numbers.
    excuses: dict[str, str] = field(default_factory=dict)

    def add(self, label: str, cells: dict[str, Cell]) -> Measure:
        measure = Measure(label, cells)
        self.measures.append(measure)
        return measure

    def add_ratio(self, measure: Measure, base: str) -> None:
        """Adds the measure of each contender, divided by that of one of them."""
        cells: dict[str, Cell] = {
            column: ratio(cell, measure.cells.get(base)) for column, cell in measure.cells.items() if column != base
        }
        self.add(f"{measure.label.split(',')[0]} ÷ {base}", cells)

    def excuse(self, column: str, measure: Measure) -> Cell:
        return None if "÷" in measure.label else self.excuses.get(column)

    def markdown(self) -> str:
        return f"### {self.row}: {self.title} ({self.file_system})\n\n{self.body()}"

    def body(self) -> str:
        """The table without its heading, as Markdown."""
        lines = ["| | " + " | ".join(self.columns) + " |"]
        lines.append("|---" * (len(self.columns) + 1) + "|")
        for measure in self.measures:
            cells = (written(measure.cells.get(column, self.excuse(column, measure))) for column in self.columns)
            lines.append(f"| {measure.label} | " + " | ".join(cells) + " |")
        for items in (self.goals, self.notes):
            if items:
                lines.append("")
                lines += [f"- {item}" for item in items]
        return "\n".join(lines) + "\n"

    def values(self) -> dict[str, object]:
        return {
            "row": self.row,
            "file system": self.file_system,
            "title": self.title,
            "columns": self.columns,
            "measures": {measure.label: measure.cells for measure in self.measures},
            "goals": self.goals,
            "notes": self.notes,
            "excuses": self.excuses,
        }

    @staticmethod
    def of(values: dict) -> "Table":
        """Makes a table from what `values` has returned."""
        table = Table(values["row"], values["file system"], values["title"], values["columns"])
        table.measures = [Measure(label, cells) for label, cells in values["measures"].items()]
        table.goals, table.notes, table.excuses = values["goals"], values["notes"], values["excuses"]
        return table
