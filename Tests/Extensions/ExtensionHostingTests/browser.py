#!/usr/bin/env python3
"""A browser for the tests of page-host: it answers as Chromium does, except for the fault that BROWSER_FAULT names."""
import json, os, signal, sys

fault = os.environ.get("BROWSER_FAULT", "")
evaluations = 0


def send(message):
    os.write(4, json.dumps(message).encode() + b"\0")


def event(name, parameters={}):
    send({"method": name, "params": parameters})


def evaluate():
    """The script, its function run, and finalize with the page, one after the other."""
    global evaluations
    evaluations += 1
    if fault == f"dies at {evaluations}":
        sys.exit(3)
    if fault == f"navigates at {evaluations}":
        event("Runtime.executionContextsCleared")
    if fault == f"crashes at {evaluations}":
        event("Inspector.targetCrashed")
    if fault == f"hangs at {evaluations}":
        signal.pause()
    if fault == f"throws at {evaluations}":
        return {"exceptionDetails": {"text": "Uncaught", "exception": {"description": "Error: it threw"}}}
    value = {"wrong value": "{", "null value": "null", "no value": None}.get(fault, json.dumps({"text": "a b"}))
    return {"result": [{}, {"value": value}, {"value": "<html>a page</html>"}][evaluations - 1]}


def answer(message):
    method = message["method"]
    if fault == f"error of {method}":
        return {"error": {"code": -32000, "message": "not here"}}
    if fault == "forgets" and evaluations == 1 and method == "Runtime.evaluate":
        return {"error": {"code": -32000, "message": "Promise was collected"}}
    if method == "Target.createTarget":
        return {"result": {"targetId": "t"}}
    if method == "Target.attachToTarget":
        return {"result": {"sessionId": "s"}}
    if method == "Page.navigate":
        event("Page.lifecycleEvent", {"name": "load", "loaderId": "other"})
        event("Page.lifecycleEvent", {"name": "load", "loaderId": "l"})
        return {"result": {"frameId": "f", "loaderId": "l"}}
    if method == "Page.createIsolatedWorld":
        event("Runtime.executionContextCreated", {"context": {"id": 7, "uniqueId": "u"}})
        return {"result": {"executionContextId": 7}}
    if method == "Runtime.evaluate":
        return {"result": evaluate()}
    return {"result": {}}


def messages():
    rest = b""
    while piece := os.read(3, 65536):
        rest += piece
        while b"\0" in rest:
            message, rest = rest.split(b"\0", 1)
            yield json.loads(message)


if fault == "stops":
    os.kill(os.getpid(), signal.SIGSTOP)
if fault == "reads nothing":
    signal.pause()
if fault == "closes its pipe":
    os.close(4)
    signal.pause()
if fault == "garbage":
    os.write(4, b"this is no message\0")
while fault == "endless":
    os.write(4, b" " * 65536)
while fault == "chatters":
    event("Network.something")
if fault == "leaves a child":
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.pause()
    if os.fork() == 0:
        signal.pause()
for message in messages():
    send({"id": message["id"], **answer(message)})
