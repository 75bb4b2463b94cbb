"""The picture of the rows growth-tree, growth-journal and growth-members, from their tables."""

import re

from .plot import Panel, Series, picture
from .table import Table
from .watchers import FLOOR, INOTIFYWAIT, OURS, WATCHDOG

TITLE = "What growth costs"
SUBTITLE = "medians; “start” is from the start of a program until it watches everything"
DOTTED, DASHED = "1 5", "7 5"
# The measures and the programs, with their colors.
TREE = {
    (OURS.name, "start"): ("blue", ""), (OURS.name, "a change until its line"): ("blue", DASHED),
    (OURS.name, "a write"): ("blue", DOTTED), (INOTIFYWAIT.name, "start"): ("orange", ""),
    (WATCHDOG.name, "start"): ("aqua", ""), (FLOOR.name, "start"): ("violet", ""),
}  # fmt: skip
JOURNAL = {
    (OURS.name, "start"): ("blue", ""), (OURS.name, "a change until its line"): ("blue", DASHED),
    (OURS.name, "a write"): ("blue", DOTTED),
}  # fmt: skip
MEMBERS = {
    (OURS.name, "open, read, close"): ("blue", ""), (OURS.name, "a change until its line"): ("blue", DASHED),
    (OURS.name, "a write"): ("blue", DOTTED),
}  # fmt: skip
SHORT = {
    "open, read, close": "open, read, close", "a change until its line": "change to line", "start": "start",
    "a write": "write",
}  # fmt: skip


def series(table: Table, kinds: dict[tuple[str, str], tuple[str, str]]) -> list[Series]:
    lines = {kind: Series(f"{kind[0]}: {SHORT[kind[1]]}", *style) for kind, style in kinds.items()}
    for measure in table.measures:
        matched = re.fullmatch(r"([\d,]+) (?:files|records|idle): (.*), (ms|µs)", measure.label)
        if matched is None:
            continue
        count, scale = int(matched[1].replace(",", "")), 1 if matched[3] == "ms" else 1000
        for (column, what), line in lines.items():
            cell = measure.cells.get(column)
            if what == matched[2] and isinstance(cell, (int, float)) and cell > 0:
                line.points.append((count, cell / scale))
    return list(lines.values())


def growth(tables: list[Table]) -> str | None:
    """The SVG; None unless all three rows were measured."""
    by_row = {table.row: table for table in tables}
    parts = [
        ("growth-tree", "the tree grows", "files", TREE),
        ("growth-journal", "the journal grows", "records", JOURNAL),
        ("growth-members", "more processes have it open", "processes", MEMBERS),
    ]
    panels = []
    for number, (row, title, label, kinds) in enumerate(parts):
        if row not in by_row:
            return None
        lines = series(by_row[row], kinds)
        if not any(line.points for line in lines):
            return None
        panels.append(Panel(number * 560, 560, title, label, lines))
    return picture(TITLE, SUBTITLE, panels, "milliseconds")
