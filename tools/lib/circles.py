"""Finds circles of files: files of a module that name each other's types, directly or by way of others.

usage: circles.py [--all] DIRECTORY...

Prints for each directory, which is a module's, the number of files and lines in its longest circle, or with --all the
files of each circle. A file names a type by its name; types of one name in several places, nested types, and functions
of one name are left out. Exits with 1 if a circle is longer than LONGEST.
"""

import re
import sys
from collections import Counter
from pathlib import Path

LONGEST = 10

MODIFIERS = r"(?:(?:public|package|final|indirect|@\w+(?:\([^)]*\))?) +)*"
DEFINITION = re.compile(rf"^{MODIFIERS}(?:struct|enum|class|protocol|actor|typealias|func) (\w+)", re.M)
NESTED = re.compile(r"^ +(?:\w+ +)*(?:struct|enum|class|protocol|actor|typealias) (\w+)", re.M)


def code(file):
    """The text of a file without comments and strings."""
    text = re.sub(r"//[^\n]*", "", file.read_text())
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', text)


def uses(files):
    """Which files each file names a definition of."""
    counts = Counter(name for text in files.values() for name in DEFINITION.findall(text))
    nested = {name for text in files.values() for name in NESTED.findall(text)}
    places = {
        name: file
        for file, text in files.items()
        for name in DEFINITION.findall(text)
        if counts[name] == 1 and name not in nested
    }
    return {
        file: {places[word] for word in set(re.findall(r"\w+", text)) if word in places} - {file}
        for file, text in files.items()
    }


def reached(start, edges):
    """All files that can be reached from one."""
    found, rest = set(), [start]
    while rest:
        for file in edges[rest.pop()] - found:
            found.add(file)
            rest.append(file)
    return found


def circles(edges):
    """The sets of files that reach each other, the longest first."""
    ways = {file: reached(file, edges) for file in edges}
    found = {frozenset(other for other in ways[file] if file in ways[other]) for file in edges if file in ways[file]}
    return sorted(found, key=lambda circle: (-len(circle), min(circle)))


def main(arguments):
    lists_all = "--all" in arguments
    status = 0
    for directory in (Path(argument) for argument in arguments if argument != "--all"):
        files = {str(file.relative_to(directory)): code(file) for file in sorted(directory.rglob("*.swift"))}
        found = circles(uses(files))
        longest = found[0] if found else frozenset()
        lines = sum((directory / file).read_text().count("\n") for file in longest)
        if lists_all or len(longest) > LONGEST:
            for circle in found if lists_all else found[:1]:
                print(f"{directory.name}: {len(circle)}: {', '.join(sorted(circle))}")
        else:
            print(f"{directory.name}: {len(longest)} files, {lines} lines")
        if len(longest) > LONGEST:
            status = 1
    return status


if len(sys.argv) < 2:
    print(__doc__)
    sys.exit(64)
sys.exit(main(sys.argv[1:]))
