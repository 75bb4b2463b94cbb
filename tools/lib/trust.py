"""The command tools/trust: the tests of each fault, and their results."""

import argparse
import datetime
import glob
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PAGE = os.path.join(ROOT, "docs", "internals", "trust.md")

HELP = """\
Runs the tests, and writes the tests of each fault and their results into docs/internals/trust.md.

A comment `// fault: flipped-bit` before a test, or before a suite, marks it as a test of the fault of that name in the
page's table. The table's other columns are written by hand, and so is the last one of a fault that has a command instead of a test."""

FAULT = re.compile(r"^\s*// fault: ([a-z0-9, -]+)(?: \(.*\))?$")
NAMED = re.compile(r"\b(?:func|struct|class|enum|extension) (`[^`]+`|\w+)")


def tests_of_file(path):
    """The tests of a file: the suite, the test's name, and the names of its faults."""
    suite, of_suite, pending, is_test = "", set(), set(), False
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = FAULT.match(line)
            if found:
                pending |= set(found[1].split(", "))
            is_test = is_test or "@Test" in line
            named = NAMED.search(line)
            if not named or line.lstrip().startswith("//"):
                continue
            name = named[1].strip("`")
            if re.search(r"\bfunc\b", line):
                if is_test:
                    yield suite, name, pending | of_suite
                    pending, is_test = set(), False
            elif not line.startswith(" "):
                suite, of_suite, pending = name, pending, set()


def tests():
    """The tests, as (suite, test), by the name of their fault."""
    by_fault = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "Tests", "**", "*Tests.swift"), recursive=True)):
        for suite, name, faults in tests_of_file(path):
            for fault in faults:
                by_fault.setdefault(fault, []).append((suite, name))
    return by_fault


def results(path):
    """The result of each test, by (suite, test)."""
    ended = {}
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        suite = case.get("classname", "").split(".", 1)[-1].strip("`")
        name = re.sub(r"\(.*?\)$", "", case.get("name", "")).strip("`")
        kinds = {child.tag for child in case}
        ended[suite, name] = "failed" if "failure" in kinds else "skipped" if "skipped" in kinds else "passed"
    return ended


def verdict(names, ended):
    """The results of a fault's tests, in a few words."""
    counts = {}
    for name in names:
        how = ended.get(name, "not run")
        counts[how] = counts.get(how, 0) + 1
    if set(counts) == {"passed"}:
        return f"{counts['passed']} passed"
    return ", ".join(f"{counts[how]} {how}" for how in ["**failed**", "failed", "passed", "skipped", "not run"]
                     if how in counts)


def written(text, by_fault, ended, title):
    """The page with a new last column and a new list."""
    def row(match):
        fault = match[1]
        if fault not in by_fault:
            return match[0]
        cells = match[0].rstrip(" |").split(" | ")
        # The text behind a semicolon is written by hand.
        by_hand = cells[3].partition("; ")[2] if len(cells) > 3 else ""
        text = verdict(by_fault[fault], ended) + (f"; {by_hand}" if by_hand else "")
        return " | ".join(cells[:3] + [text]) + " |"

    text = re.sub(r"^\| `([a-z0-9-]+)` \|.*$", row, text, flags=re.MULTILINE)
    lines = [title, ""]
    # In the order of the table.
    for fault in sorted(by_fault, key=lambda name: text.find(f"| `{name}` |")):
        lines.append(f"- `{fault}`: " + "; ".join(f"{suite} › {name}" for suite, name in by_fault[fault]))
    start, end = "<!-- tests -->", "<!-- end of tests -->"
    return text[: text.index(start) + len(start)] + "\n" + "\n".join(lines) + "\n" + text[text.index(end):]


def main():
    """0: the page is written; 1: a test failed."""
    parser = argparse.ArgumentParser(
        prog="tools/trust", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", metavar="FILE", help="use the results of an earlier run: the file that tools/test --results has written")
    parser.add_argument("--of", metavar="COMMIT", help="the commit of these results, with --results (default: the present one)")
    # Wrong usage exits with status 64, as in all our commands.
    parser.error = lambda message: parser.exit(64, f"tools/trust: {message}; see tools/trust --help\n")
    options = parser.parse_args()
    if options.of and not options.results:
        parser.error("--of needs --results")
    with tempfile.TemporaryDirectory() as directory:
        path = options.results or os.path.join(directory, "results.xml")
        status = 0
        if not options.results:
            command = [os.path.join(ROOT, "tools", "test"), "--results", path]
            status = subprocess.run(command, check=False, stdout=sys.stderr).returncode
        try:
            ended = results(path)
        except (OSError, xml.etree.ElementTree.ParseError) as reason:
            print(f"tools/trust: {path}: {reason}; nothing was written", file=sys.stderr)
            return 1
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    title = (f"{len(ended)} tests on {datetime.date.today()}, at commit {options.of or commit.stdout.strip() or 'no commit'}: "
             f"{sum(how == 'passed' for how in ended.values())} passed, "
             f"{sum(how == 'failed' for how in ended.values())} failed, "
             f"{sum(how == 'skipped' for how in ended.values())} skipped.")
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(written(text, tests(), ended, title))
    print(title)
    return 1 if status != 0 or "failed" in ended.values() else 0
