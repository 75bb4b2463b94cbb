"""The command line."""

import argparse

from .report import DOCUMENT
from .rows import ROWS

DESCRIPTION = """\
Measures writes, locks, watch-group and group defaults beside their alternatives, in turns in one run, and prints
Markdown. With --write it also writes docs/internals/benchmarks.md and its picture: on a machine that does nothing else.

Builds this package with optimization, and installs the alternatives that the chosen rows need and that are missing
(inotify-tools, fswatch, watchman, and the development files of SQLite, LMDB and dconf, by apt-get; watchfiles, watchdog
and filelock into .build/bench). If one cannot be installed, its column has the reason. dconf gets a D-Bus session of its
own. Compare numbers of one run only, taken while nothing else runs; nothing here is a test. The whole takes about an
hour.
"""


class Parser(argparse.ArgumentParser):
    """Wrong usage prints one line and exits with status 64, as in all our commands."""

    def error(self, message: str):
        self.exit(64, f"{self.prog}: {message}; see {self.prog} --help\n")


def parse(words: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="tools/bench", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [row.name for row in ROWS]
    parser.add_argument("--quick", action="store_true", help="small sizes, one place, one round: within a minute")
    parser.add_argument("--rounds", type=int, metavar="N", help="at most N rounds of each row (1 to 10)")
    parser.add_argument("--row", nargs="+", action="extend", choices=names, metavar="NAME", help="only these rows")
    parser.add_argument("--list", action="store_true", help="print the rows, and measure nothing")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to FILE, too")
    parser.add_argument(
        "--write", nargs="?", const=DOCUMENT, metavar="FILE", help="write a document, too (docs/internals/benchmarks.md)"
    )
    parser.add_argument("--from", dest="source", metavar="FILE", help="use the numbers that --json wrote, for --write; measure nothing")
    parser.add_argument("--directory", metavar="DIRECTORY", help="the directory on the disk to measure (default: TMPDIR or /tmp)")
    choices = parser.parse_args(words)
    if choices.source and not choices.write:
        parser.error("--from is for --write")
    if choices.write == DOCUMENT and (choices.quick or choices.row):
        parser.error("docs/internals/benchmarks.md is of a whole run: with --quick or --row, name another FILE to --write")
    return choices
