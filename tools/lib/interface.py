"""Prints the functions and numbers of a C header, from the JSON of clang's -ast-dump, for tools/library."""

import json
import sys


def value(node):
    """Returns the value of a constant; None where the header leaves it to the compiler."""
    if "value" in node:
        return node["value"]
    for inner in node.get("inner", []):
        found = value(inner)
        if found is not None:
            return found
    return None


for declaration in json.load(sys.stdin)["inner"]:
    name = declaration.get("name", "")
    if declaration["kind"] == "FunctionDecl" and name.startswith("group_"):
        print("function", name, declaration["type"]["qualType"])
    if declaration["kind"] == "TypedefDecl" and name.startswith("group_"):
        print("type", name, declaration["type"]["qualType"])
    if declaration["kind"] == "EnumDecl":
        for constant in declaration.get("inner", []):
            if constant.get("name", "").startswith("GROUP_"):
                print("number", constant["name"], value(constant))
