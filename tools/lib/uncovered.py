"""Reads lcov from standard input; prints for each file the share of its lines that was run, and the lines that were not."""

import sys


def ranges(lines):
    """[3, 4, 5, 9] as "3-5 9"."""
    parts = []
    for line in lines:
        if parts and parts[-1][1] == line - 1:
            parts[-1][1] = line
        else:
            parts.append([line, line])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def main(root):
    counts, name = {}, ""
    for record in sys.stdin:
        word, _, rest = record.strip().partition(":")
        if word == "SF":
            name = rest.removeprefix(root)
            counts.setdefault(name, {})
        elif word == "DA":
            line, count = rest.split(",")[:2]
            known = counts[name]
            known[int(line)] = max(known.get(int(line), 0), int(count))
    total = covered = 0
    for name, lines in sorted(counts.items()):
        missed = sorted(line for line, count in lines.items() if count == 0)
        total += len(lines)
        covered += len(lines) - len(missed)
        share = 100 * (len(lines) - len(missed)) / max(1, len(lines))
        print(f"{share:6.1f} %  {name}  {ranges(missed)}".rstrip())
    if total == 0:
        sys.exit("no lines at all")
    print(f"{100 * covered / total:6.1f} %  in all: {covered} of {total} lines")


main(sys.argv[1])
