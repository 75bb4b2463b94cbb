"""What programs in Python do with our package, and with others.

usage: python_work.py PARTY create DIRECTORY
       python_work.py PARTY calls DIRECTORY OPERATION BATCH BATCHES   print nanoseconds of a call, a line a batch
       python_work.py PARTY work DIRECTORY BEGIN END                  add to a number in a JSON file from BEGIN to END;
                                                                      print the number of additions
       python_work.py PARTY sum DIRECTORY                             print the number

PARTY is group, filelock, shelve, lmdb, sqlite or naive.
"""

import json
import os
import sys
import time


def container():
    from group_container import Container

    return Container(".", create=True, adopt=True)


def naive_write(number):
    temporary = "temporary.%d" % os.getpid()
    with open(temporary, "w", encoding="ascii") as file:
        json.dump({"n": number}, file)
    os.rename(temporary, "n.json")


def naive_read():
    with open("n.json", encoding="ascii") as file:
        return json.load(file)["n"]


def sqlite():
    import sqlite3

    connection = sqlite3.connect("store.sqlite", timeout=60, isolation_level=None)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")
    connection.execute("create table if not exists keys (key text primary key, value)")
    return connection


def operations(party):
    """The calls by name, each with the number of the call as its argument."""
    if party == "group":
        ours = container()
        defaults, channel, kilobyte = ours.defaults(), ours.channel("c"), b"." * 1023
        ours.write("a", kilobyte, durable=False)
        defaults["n"] = 7

        def lock(_):
            with ours.lock("a"):
                pass

        from group_container.filelock import FileLock

        held = FileLock("a")

        def file_lock(_):
            with held:
                pass

        return {
            "lock": lock, "file lock": file_lock, "read": lambda _: ours.read("a"),
            "write": lambda number: ours.write("a", bytes([number % 256]) + kilobyte, durable=False),
            "get": lambda _: defaults["n"], "set": lambda number: defaults.set("n", number),
            "increment": lambda _: defaults.increment("n"), "post": lambda _: channel.post(b"." * 16),
        }
    if party == "filelock":
        from filelock import FileLock

        held = FileLock("lock")

        def file_lock(_):
            with held:
                pass

        return {"file lock": file_lock}
    if party == "shelve":
        import shelve

        store = shelve.open("shelf")
        store["n"] = 7
        return {"get": lambda _: store["n"], "set": lambda number: store.__setitem__("n", number)}
    if party == "lmdb":
        import lmdb

        environment = lmdb.open("lmdb", sync=False)

        def get(_):
            with environment.begin() as transaction:
                return int(transaction.get(b"n"))

        def put(number):
            with environment.begin(write=True) as transaction:
                transaction.put(b"n", b"%d" % number)

        put(7)
        return {"get": get, "set": put}
    connection = sqlite()

    def put(number):
        connection.execute("insert into keys values ('n', ?) on conflict (key) do update set value = excluded.value", (number,))

    put(7)
    return {"get": lambda _: connection.execute("select value from keys where key = 'n'").fetchone()[0], "set": put}


def calls(party, operation, batch, batches):
    call, number = operations(party)[operation], 0
    for turn in range(-1, batches):
        began = time.monotonic_ns()
        for _ in range(batch):
            number += 1
            call(number)
        if turn >= 0:
            print((time.monotonic_ns() - began) // batch)


def additions(party):
    """A function that adds 1 to the number in a JSON file, or its like."""
    if party == "group":
        ours = container()
        return lambda: ours.update_json(
            "n.json", lambda state: {"n": state["n"] + 1}, default={"n": 0}, durable=False, timeout=None)
    if party == "sqlite":
        connection = sqlite()
        connection.execute("insert or ignore into keys values ('n', '{\"n\": 0}')")

        def add():
            connection.execute("begin immediate")
            state = json.loads(connection.execute("select value from keys where key = 'n'").fetchone()[0])
            connection.execute("update keys set value = ? where key = 'n'", (json.dumps({"n": state["n"] + 1}),))
            connection.execute("commit")

        return add
    if party == "filelock":
        from filelock import FileLock

        held = FileLock("lock", poll_interval=0.001)

        def add():
            with held:
                naive_write(naive_read() + 1)

        return add
    return lambda: naive_write(naive_read() + 1)


def work(party, begin, end):
    add, count = additions(party), 0
    time.sleep(max(0, begin - time.monotonic_ns()) / 1e9)
    while time.monotonic_ns() < end:
        add()
        count += 1
    print(count)


def total(party):
    if party == "sqlite":
        print(json.loads(sqlite().execute("select value from keys where key = 'n'").fetchone()[0])["n"])
    else:
        print(naive_read())


def main(words):
    party, word, directory = words[:3]
    os.chdir(directory)
    if word == "create":
        if party == "group":
            container()
        if party in ("filelock", "naive"):
            naive_write(0)
    elif word == "calls":
        calls(party, words[3], int(words[4]), int(words[5]))
    elif word == "work":
        work(party, int(words[3]), int(words[4]))
    elif word == "sum":
        total(party)


main(sys.argv[1:])
