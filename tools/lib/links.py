"""Finds the links of documents that lead nowhere: to files that do not exist, and to headings that their files lack.

usage: links.py DOCUMENT...

Prints a line for each such link, and exits with 1 if there is one. The documents are Markdown. An anchor is the one that
GitHub gives a heading: the heading without its markup, in lower case, with a hyphen for each space, without any other
character than letters, digits, hyphens and underscores; the second heading of the same name ends in -1, and so on. An
`id` or `name` in HTML is an anchor, too. Links to other machines are not followed.
"""

import re
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote

# A link, the source of a picture, or the definition of a link that is named elsewhere.
LINK = re.compile(r"""\]\(<?([^)\s>]+)|\b(?:src|href)=["']([^"']+)|^ {0,3}\[[^\]]+\]: +<?([^\s>]+)""", re.M)
HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
UNDERLINE = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.I)


def prose(text):
    """The numbered lines of a document that are in no block of code."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                fence = None
        elif mark:
            fence = mark[1]
        else:
            yield number, line


def without_code(line):
    """A line without its spans of code, in which `](` is no link."""
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)


def anchor(heading):
    """The anchor of a heading, before it is numbered."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"<[^>`]+>(?![^`]*`)", "", text)
    text = re.sub(r"(?<!\w)_(.+?)_(?!\w)", r"\1", text)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


@cache
def anchors(file):
    """The anchors of a file."""
    found, counts, before = set(), {}, ""
    for _, line in prose(file.read_text(encoding="utf-8")):
        heading = HEADING.match(line)
        text = heading[2] if heading else before if UNDERLINE.match(line) and before else None
        if text is not None:
            name = anchor(text)
            count = counts[name] = counts.get(name, -1) + 1
            found.add(f"{name}-{count}" if count else name)
        found.update(re.findall(r"""<\w+[^>]*\b(?:id|name)=["']([^"']+)""", line))
        before = "" if heading or not re.match(r"^ {0,3}[^\s|>#-]", line) else line.strip()
    return found


def faults(document):
    """The links of a document that lead nowhere."""
    for number, line in prose(document.read_text(encoding="utf-8")):
        for link in LINK.finditer(without_code(line)):
            target = unquote(next(filter(None, link.groups())))
            if ELSEWHERE.match(target):
                continue
            path, _, name = target.partition("#")
            file = document.parent / path if path else document
            if not file.exists():
                yield f"{document}:{number}: there is no {path}"
            elif name and (file.suffix != ".md" or name not in anchors(file)):
                yield f"{document}:{number}: {path or document.name} has no heading #{name}"


def main():
    found = [fault for name in sys.argv[1:] for fault in faults(Path(name))]
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
