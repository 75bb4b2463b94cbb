"""docs/internals/benchmarks.md: the machine, the goals, every table, and the explanations of them."""

import os
import sys

from .growth_plot import growth
from .programs import HERE, ROOT
from .rows import SECTIONS
from .summary import summary
from .table import Table

NOTES = os.path.join(HERE, "notes")
DOCUMENT = os.path.join(ROOT, "docs", "internals", "benchmarks.md")
PICTURES = os.path.join(ROOT, "docs", "images")

HEADING = "# Benchmarks\n"
INTRODUCTION = """\
## How to read this page

`tools/bench --write` has written this page from one run. In each row, our programs and the others run in turns, in
small rounds, so that other work of the machine affects all of them alike. Compare only numbers of one run, and rather
ratios than numbers. `÷` is a ratio; `–` means that a value does not apply; *ours* are this package's programs, *theirs*
or *peers* the others. *p99* is the 99th percentile, and *lost* the number of changes that were never reported, or of
additions that are missing. The time *until its line* ends when the program has printed the line of the change. A line
with ✓ or ✗ has a goal, then the measured value, the limit, and what the limit comes from.
"""
REPRODUCE = """\
## How to reproduce

```sh
tools/bench --write              # all rows; installs what it needs; writes this page. On a machine that does nothing else
tools/bench --quick              # all rows, small, within a minute: tests whether they work
tools/bench --row lock replace   # some rows; --list prints their names
tools/bench --json all.json      # writes the numbers, too; --write --from all.json writes the page again
```

The rows are modules in `tools/lib/bench/rows/`, with their goals; the explanations are in `tools/lib/bench/notes/`.
"""


def write(path: str, values: dict) -> None:
    """Writes the document, and the picture beside it. A file that cannot be written ends the run."""
    tables = [Table.of(table) for table in values["tables"]]
    picture = growth(tables)
    directory = os.path.dirname(os.path.abspath(path))
    pictures = PICTURES if os.path.abspath(path) == DOCUMENT else os.path.join(directory, "images")
    place = os.path.join(pictures, "growth.svg")
    if picture is not None:
        os.makedirs(pictures, exist_ok=True)
        save(place, picture)
    link = None if picture is None else os.path.relpath(place, directory)
    save(path, document(values["machine"], tables, values["is quick"], link))


def save(path: str, text: str) -> None:
    """Writes the file whole or not at all."""
    try:
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{path}.new", path)
    except OSError as reason:
        sys.exit(f"tools/bench: {path}: {reason.strerror}")


def document(machine: dict[str, str], tables: list[Table], is_quick: bool, picture: str | None) -> str:
    parts = [HEADING, summary(tables, picture), INTRODUCTION]
    if float(machine["load before"].split()[0]) > (os.cpu_count() or 1):
        parts.append("**The machine was busy: measure again.**\n")
    if is_quick:
        parts.append("**With `--quick`: shows that the rows work, and nothing else.**\n")
    parts.append("\n".join(["## Machine", "", *(f"- {name}: {fact}" for name, fact in machine.items()), ""]))
    parts.append(goals(tables))
    for heading, kinds in SECTIONS.items():
        shown = [(kind.name, [table for table in tables if table.row == kind.name]) for kind in kinds]
        if any(of_row for _, of_row in shown):
            parts.append(f"## {heading}\n")
        parts += [section(name, of_row) for name, of_row in shown if of_row]
    return "\n".join([*filter(None, parts), REPRODUCE])


def goals(tables: list[Table]) -> str:
    """The number of goals that are reached, and those that are not."""
    goals = [(table, goal) for table in tables for goal in table.goals]
    reached = sum(goal.startswith("✓") for _, goal in goals)
    missed = [f"- {goal} ([{t.row}](#{t.row}), {t.file_system})" for t, goal in goals if not goal.startswith("✓")]
    lines = ["## Goals", "", f"{reached} of {len(goals)} are reached." + (" The others:" if missed else "")]
    return "\n".join([*lines, *([""] if missed else []), *missed, ""])


def section(name: str, tables: list[Table]) -> str:
    parts = [f"### {name}", "", tables[0].title[0].upper() + tables[0].title[1:] + ".", ""]
    for table in tables:
        if len(tables) > 1:
            parts += [f"On {table.file_system}:", ""]
        parts.append(table.body())
    note = noted(name)
    if note:
        parts += [note, ""]
    elif any(goal.startswith("✗") for table in tables for goal in table.goals):
        print(f"tools/bench: {name} misses a goal, and {NOTES}/{name}.md has no explanation", file=sys.stderr)
        parts += ["The reason for a missed goal here is not known yet.", ""]
    return "\n".join(parts)


def noted(name: str) -> str:
    """The explanation of a row."""
    try:
        with open(os.path.join(NOTES, f"{name}.md"), encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""
