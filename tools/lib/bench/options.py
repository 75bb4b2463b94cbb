"""The command line."""

import argparse

from .report import DOCUMENT
from .rows import ROWS

DESCRIPTION = """\
Measures writes, locks, watch-group and group defaults beside what people use instead, alternately in one run, and
prints Markdown. With --write it also writes docs/benchmarks.md and its picture: on a machine that does nothing else.

Builds ours with optimisation, and installs what it is compared with where it is missing (inotify-tools, fswatch,
watchman, and what SQLite, LMDB and dconf are compiled with, by apt-get; watchfiles, watchdog and filelock into
.build/bench). Only what the chosen rows need. What cannot be installed is said in its column. dconf gets a D-Bus session
of its own. Nothing here is a test: compare numbers of one run only, taken while nothing else runs. The whole takes about
an hour.
"""


class Parser(argparse.ArgumentParser):
    """Wrong usage is one line and status 64, as with all our commands."""

    def error(self, message: str):
        self.exit(64, f"{self.prog}: {message}; see {self.prog} --help\n")


def parse(words: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="tools/bench", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [row.name for row in ROWS]
    parser.add_argument("--quick", action="store_true", help="small sizes, one place, one round: within a minute")
    parser.add_argument("--rounds", type=int, metavar="N", help="at most so many rounds of each row (1 to 10 of them)")
    parser.add_argument("--row", nargs="+", action="extend", choices=names, metavar="NAME", help="only these rows")
    parser.add_argument("--list", action="store_true", help="print the rows, and measure nothing")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to FILE, too")
    parser.add_argument(
        "--write", nargs="?", const=DOCUMENT, metavar="FILE", help="write a document, too (docs/benchmarks.md)"
    )
    parser.add_argument("--from", dest="source", metavar="FILE", help="--write what --json has kept; measure nothing")
    parser.add_argument("--directory", metavar="DIRECTORY", help="where the disk is measured (TMPDIR or /tmp)")
    choices = parser.parse_args(words)
    if choices.source and not choices.write:
        parser.error("--from is for --write")
    if choices.write == DOCUMENT and (choices.quick or choices.row):
        parser.error("docs/benchmarks.md is of a whole run: with --quick or --row, name another FILE to --write")
    return choices
