#!/usr/bin/env python3
"""A widget in another language: the last line of Library/notes.txt, as docs/reference/widget-protocol.md asks for it.

Its host starts it with the container's path in GROUP_CONTAINER and its kind in WIDGET_KIND.
"""
import json
import os
import sys

NOTES = os.path.join(os.environ["GROUP_CONTAINER"], "Library", "notes.txt")
shown = None


def say(**message):
    print(json.dumps(message), flush=True)


def answer(update):
    """Exactly one answer to each update."""
    global shown
    try:
        with open(NOTES, encoding="utf-8") as file:
            last = (file.read().splitlines() or ["nothing noted"])[-1]
    except FileNotFoundError:
        last = "nothing noted"
    except (OSError, UnicodeDecodeError) as error:
        say(say="answer", id=update["id"], result="failed", cause=str(error))
        return
    if last == shown and not update.get("shows") and not update.get("reloads"):
        say(say="answer", id=update["id"], result="noData")
        return
    result, shown = ("noData" if last == shown else "newData"), last
    view = {"lines": [{"text": last, "style": "prominent"}]}
    say(say="answer", id=update["id"], result=result, timeline={"entries": [{"snapshot": view}]})


say(say="hello", version=2, kind=os.environ["WIDGET_KIND"])
for line in sys.stdin:
    message = json.loads(line)
    if message["do"] == "update":
        answer(message)
    elif message["do"] == "press":  # Its view has no button.
        say(say="pressed", id=message["id"], result="unknown" if message.get("asks") else "notDone", cause="there is nothing to press")
    elif message["do"] == "suspend":  # It holds no lock between updates.
        say(say="suspended", id=message["id"])
    elif message["do"] == "end":
        break
