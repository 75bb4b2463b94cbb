#!/usr/bin/env python3
"""A follower in Python that prints what `watch-group --verbose --json --since PLACE CONTAINER` prints: the scenarios of
Tests/Support/Scenarios are played against it, too."""

import base64
import datetime
import json
import os
import signal
import sys

from group_container import Container


def text(path):
    """Returns a path as watch-group prints it, and its bytes where they are not UTF-8."""
    raw = os.fsencode(path)
    try:
        return raw.decode(), None
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), base64.b64encode(raw).decode()


def line(change):
    """Returns the line of a change."""
    path, path_bytes = text(change.path)
    source, source_bytes = text(change.other_path) if change.other_path is not None else (None, None)
    date = datetime.datetime.fromtimestamp(change.time, datetime.timezone.utc)
    author = None if change.author is None else {"pid": change.author, "purpose": change.purpose}
    transaction = change.transaction and dict(zip(("id", "index", "count"), change.transaction))
    return json.dumps({
        "sequence": change.sequence, "cursor": change.cursor, "transaction": transaction, "kind": change.kind,
        "path": path, "pathBytes": path_bytes, "from": source, "fromBytes": source_bytes, "type": change.type,
        "size": change.size, "generation": change.generation, "coordinated": change.is_coordinated, "by": author,
        "time": date.isoformat(), "reason": change.reason,
    })


def main(words):
    """Follows until a signal ends it."""
    if words[:3] != ["--verbose", "--json", "--since"] or len(words) != 5:
        return 64
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    container = Container(words[4], purpose="a follower in Python")
    follower = container.follow(since=words[3])
    # From here on this process is the leader, and sees every change when it is made.
    container.note_uncoordinated_changes()
    print("watching", file=sys.stderr, flush=True)
    for change in follower:
        print(line(change), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
