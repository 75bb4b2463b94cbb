#!/usr/bin/env python3
"""An extension in another language: counts the words of what it gets, as docs/reference/extension-protocol.md asks for it.

Its host starts it for one request, with the container's path, or nothing, in GROUP_CONTAINER.
"""
import base64
import json
import os
import sys


def say(**message):
    print(json.dumps(message), flush=True)


def content(attachment):
    """The bytes of an attachment, in whatever form the host passes them."""
    if "text" in attachment:
        return attachment["text"].encode()
    if "bytes" in attachment:
        return base64.b64decode(attachment["bytes"])
    if "descriptor" in attachment:
        with os.fdopen(attachment["descriptor"], "rb") as file:
            return file.read()
    if "item" in attachment and os.environ.get("GROUP_CONTAINER"):
        with open(os.path.join(os.environ["GROUP_CONTAINER"], attachment["item"]), "rb") as file:
            return file.read()
    return None


def answer(request):
    """Exactly one result: the number of words of each attachment."""
    results = []
    for attachment in (attachment for item in request["items"] for attachment in item.get("attachments", [])):
        data = content(attachment)
        if data is None:
            error = {"domain": "extension.py", "code": 1, "text": f"it cannot count the words of a {attachment['type']}"}
            say(say="cancel", error=error)
            return
        results.append({"title": attachment.get("name", "text"), "text": str(len(data.split()))})
    say(say="complete", items=results)


first = json.loads(sys.stdin.readline())
if first["do"] == "begin":
    say(say="log", text=f"{len(first['items'])} items")
    answer(first)
