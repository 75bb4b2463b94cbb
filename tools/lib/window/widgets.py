"""Containers, manifests, and widgets of the check."""

import json

from .patience import DIRECTORY, run

WIDGET = """
import json, os, sys
def say(**message): print(json.dumps(message), flush=True)
say(say="hello", version=2, kind=os.environ["WIDGET_KIND"], interests=["none"])
lines = %s
for line in sys.stdin:
    message = json.loads(line)
    if message["do"] == "update":
        say(say="answer", id=message["id"], result="newData", timeline={"entries": [{"snapshot": {"lines": lines}}]})
    elif message["do"] == "suspend":
        say(say="suspended", id=message["id"])
    elif message["do"] == "end":
        break
"""

GAUGES = [
    {"text": "Disk", "style": "normal", "gauge": 0.63}, {"text": "Memory", "style": "warning", "gauge": 0.9},
    {"text": "10:00", "style": "normal", "columns": ["Dentist", "Main Street"]},
    {"text": "9:30", "style": "normal", "columns": ["Call", "Office"]},
    {"text": "Rain", "style": "secondary", "image": {"icon": "weather-showers", "label": "rain"}}]

BAD = [
    {"text": "<b>not bold</b> &amp; <i", "style": "normal"},
    {"text": "\x07\x1b[31m\u202ered\0", "style": "good"},
    {"text": "x" * 5000, "style": "prominent"}, {"text": "wide " + "\u6f22" * 300, "style": "normal"},
    {"text": "lost", "style": "normal", "image": {"path": "Library/lost.png", "label": "lost"}},
    {"text": "icon", "style": "normal", "image": {"icon": "no-such-icon", "label": "none"}}]


def manifest(directory, kind, title, executable, *arguments, **fields):
    directory.mkdir(exist_ok=True)
    modes = {"compact": {"maximum": {"columns": 40, "rows": 6}}, "expanded": {"preferred": {"columns": 60, "rows": 12}}}
    text = dict(kind=kind, title=title, executable=executable, arguments=list(arguments), displayModes=modes)
    (directory / f"{kind}.json").write_text(json.dumps(dict(text, **fields)))


def where(program):
    return run("sh", "-c", f"command -v {program}").decode().strip()


def new_container(name, *entries):
    shared = DIRECTORY / name
    run("groupctl", "create", str(shared))
    for entry in entries:
        run("todo", "--group", str(shared), "add", entry)
    return shared


def todo(shared):
    return json.loads((shared / "Library" / "todo.json").read_text())


def is_done(shared, title):
    return any(entry["title"] == title and entry["done"] for entry in todo(shared))
