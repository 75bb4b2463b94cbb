#!/usr/bin/env python3
"""The public declarations of a module, one a line, from the symbol graphs that the compiler makes of it.

usage: api.py list MODULE GRAPHS            prints them
       api.py compare RECORDED LISTED       prints additions, and changes that would break a user's code; status 1 if
                                            there are such changes, 2 if there are only additions
       api.py forms LISTED                  prints calls whose blocking form throws another type than the async form;
                                            status 1 if there are such calls

A line is a declaration's place, and the declaration as it is written, without the values of default arguments; or a
conformance. An addition breaks a user's code, too, if users implement it (a requirement without a default), or switch
over it (a case).
"""
import json
import pathlib
import re
import sys


def read(directory, module):
    symbols, relationships = {}, []
    for file in sorted(pathlib.Path(directory).glob("*.symbols.json")):
        if file.name.split("@")[0].split(".")[0] != module:
            continue
        graph = json.loads(file.read_text())
        for symbol in graph["symbols"]:
            identifier = symbol["identifier"]["precise"]
            # Members that a type has only by conformance to a protocol of another module belong to that module.
            if "::SYNTHESIZED::" not in identifier and symbol["kind"]["identifier"] != "swift.extension":
                symbols[identifier] = symbol
        relationships += graph["relationships"]
    if not symbols:
        sys.exit(f"{directory}: no symbols of {module}")
    return symbols, relationships


def constraints(extension):
    return [f"{c['lhs']} {'==' if c['kind'] == 'sameType' else ':'} {c['rhs']}" for c in extension.get("constraints", [])]


def line(symbol, marks):
    declaration = " ".join("".join(f["spelling"] for f in symbol["declarationFragments"]).split())
    extension = symbol.get("swiftExtension", {})
    # The conditions of a generic type are in the type's own line.
    where = f" [where {', '.join(constraints(extension))}]" if constraints(extension) else ""
    note = f" [{', '.join(marks)}]" if marks else ""
    return f"{'.'.join(symbol['pathComponents'])}: {declaration}{where}{note}"


def declarations(symbols, relationships):
    marks, lines = {}, set()
    defaults = {r["target"] for r in relationships if r["kind"] == "defaultImplementationOf"}
    defaulted = {place(symbols[r["source"]]) for r in relationships
                 if r["kind"] == "memberOf" and r["source"] in symbols
                 and symbols[r["source"]].get("swiftExtension", {}).get("typeKind") == "swift.protocol"}
    for relation in relationships:
        if relation["kind"] == "requirementOf":
            source = relation["source"]
            if source in symbols:
                has_default = source in defaults or place(symbols[source]) in defaulted
                marks.setdefault(source, []).append("has a default" if has_default else "required")
    for identifier, symbol in symbols.items():
        lines.add(line(symbol, marks.get(identifier, [])))
    for relation in relationships:
        if relation["kind"] == "conformsTo" and relation["source"] in symbols:
            where = relation.get("swiftConstraints", [])
            target = symbols.get(relation["target"], {}).get("names", {}).get("title", relation.get("targetFallback"))
            name = ".".join(symbols[relation["source"]]["pathComponents"])
            condition = f" [where {', '.join(constraints({'constraints': where}))}]" if where else ""
            # The compiler reports these for every type; no user needs them in the list.
            if target not in ("Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"):
                lines.add(f"{name} conforms to {target}{condition}")
    return sorted(lines)


def place(symbol):
    return tuple(symbol["pathComponents"])


def breaks(added):
    return added.endswith("[required]") or ": case " in added


def compare(recorded, listed):
    old, new = (set(pathlib.Path(p).read_text().splitlines()[1:]) for p in (recorded, listed))
    gone, added = sorted(old - new), sorted(new - old)
    for text in gone:
        print(f"  removed or changed: {text}")
    for text in added:
        print(f"  added{', which users must heed' if breaks(text) else ''}: {text}")
    return 1 if gone or any(map(breaks, added)) else 2 if added else 0


def forms(listed):
    """The last `throws` of a declaration is the call's own: those before it are of closures that it takes."""
    thrown = {}
    for text in pathlib.Path(listed).read_text().splitlines():
        name, _, declaration = text.partition("): ")
        if clauses := re.findall(r"throws(?:\([^)]*\))?", declaration):
            thrown.setdefault(name, set()).add(clauses[-1])
    different = [name for name, types in thrown.items()
                 if "Blocking" in name and thrown.get(name.replace("Blocking", ""), types) != types]
    for name in different:
        print(f"  {name}): not the error type of the async form")
    return 1 if different else 0


def main(words):
    if len(words) == 3 and words[0] == "list":
        print("\n".join(declarations(*read(words[2], words[1]))))
        return 0
    if len(words) == 3 and words[0] == "compare":
        return compare(words[1], words[2])
    if len(words) == 2 and words[0] == "forms":
        return forms(words[1])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
