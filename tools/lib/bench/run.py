"""From the command line to the tables."""

import json
import os
import shlex
import signal
import sys
import time

from . import machine, options, report
from .bench import Bench
from .rows import ROWS


def main() -> int:
    choices = options.parse(sys.argv[1:])
    if choices.list:
        for row in ROWS:
            print(f"{row.name:18} {row(choices.quick).heading} (on {', '.join(row.places)})")
        return 0
    if choices.source:
        report.write(choices.write, kept(choices.source))
        return 0
    # When a user ends the run, its processes and files are removed, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return measure(choices)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # The reader of the output has closed it. Nothing more is written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def kept(path: str) -> dict:
    """Reads what --json has written."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as reason:
        sys.exit(f"tools/bench: {path}: {reason}")


def measure(choices) -> int:
    tables = []
    rows = [kind(choices.quick) for kind in ROWS if not choices.row or kind.name in choices.row]
    with Bench(choices.directory, choices.quick) as bench:
        facts = machine.facts(bench.places, bench.versions(rows))
        facts["command"] = f"`{shlex.join(['tools/bench', *sys.argv[1:]])}`"
        if choices.write and "-dirty" in facts["ours"]:
            sys.exit("tools/bench: commit first: --write names the commit that was measured")
        bench.progress.clear()
        print("## tools/bench" + (" --quick" if choices.quick else "") + "\n")
        for name, fact in facts.items():
            print(f"- {name}: {fact}")
        print(flush=True)
        began = time.monotonic()
        for row in rows:
            if choices.rounds:
                row.rounds = max(1, min(row.rounds, choices.rounds))
            places = [place for place in bench.places if place.name in row.places] or bench.places[:1]
            for place in places[:1] if choices.quick else places:
                table = bench.run(row, place)
                tables.append(table)
                print(table.markdown(), flush=True)
        print(f"Measured in {time.monotonic() - began:.0f} s.", flush=True)
        # Before the run's files are removed, which takes some time.
        values = {"machine": facts, "is quick": choices.quick, "tables": [table.values() for table in tables]}
        if choices.json:
            with open(choices.json, "w", encoding="utf-8") as file:
                json.dump(values, file, indent=1)
                file.write("\n")
        if choices.write:
            report.write(choices.write, values)
    return 0
