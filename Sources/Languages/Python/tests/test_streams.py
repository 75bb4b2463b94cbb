import asyncio
import datetime
import os
import signal
import threading
import time

import pytest

from group_container import Conflict, Container, GroupError
from group_container.filelock import FileLock, Timeout
from group_container.watchdog import FileSystemEventHandler, Observer


def test_changes_come_in_order_and_once(container, program):
    follower = container.follow()
    program("for number in range(50): container.write('%d' % number, 'x', durable=False)").finish()
    changes = [follower.next(30) for _ in range(50)]
    assert [change.path for change in changes] == ["%d" % number for number in range(50)]
    assert {(change.kind, change.purpose) for change in changes} == {("created", "a program")}
    assert follower.next(0) is None


def test_a_follower_goes_on_from_its_cursor(container):
    with container.follow() as follower:
        container.write("a", "1")
        assert follower.next(30).path == "a"
        cursor = follower.cursor
    container.write("b", "1")
    container.write("c.txt", "1")
    assert [container.follow(since=cursor).next(30).path, container.follow(since="start").next(30).path] == ["b", "a"]
    with container.follow(since=cursor, include=["*.txt"], exclude=["d*"]) as follower:
        assert follower.next(30).path == "c.txt" and follower.next(0) is None
    with pytest.raises(GroupError):
        container.follow(since="nonsense")


def test_a_snapshot_comes_first_and_debounced_changes_once(container):
    container.write("a", "1")
    follower = container.follow(since="snapshot")
    assert [follower.next(30).kind for _ in range(2)] == ["present", "bookmark"]
    quiet = container.follow(quiet=0.05)
    for number in range(10):
        container.write("b", "%d" % number, durable=False)
    assert quiet.next(30).kind == "created" and quiet.next(0.2) is None


def test_changes_are_awaited_in_a_task(container):
    async def follow():
        follower = container.follow()
        writer = asyncio.get_running_loop().call_later(0.05, container.write, "a", "1")
        async for change in follower:
            assert change.path == "a" and not writer.cancelled()
            return

    asyncio.run(asyncio.wait_for(follow(), 30))


def test_a_wait_ends_with_its_time_and_with_a_signal(container, program):
    follower = container.follow()
    begin = time.monotonic()
    assert follower.next(0.05) is None and time.monotonic() - begin >= 0.05
    waiter = program("""
        follower = container.follow()
        print("waits")
        try:
            follower.next()
        except KeyboardInterrupt:
            print("interrupted")
        """)
    assert waiter.line() == "waits"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with open("/proc/%d/wchan" % waiter.process.pid) as file:
            if "poll" in file.read():
                break
    waiter.process.send_signal(signal.SIGINT)
    assert waiter.finish() == (0, "interrupted\n")


def test_the_removal_of_the_container_ends_a_follower(container, path):
    follower = container.follow()
    follower.next(0)
    os.rename(path + "/.group", path + "/gone")
    with pytest.raises(GroupError):
        while True:
            follower.next(30)


def test_keys_have_the_values_of_python(container):
    defaults = container.defaults()
    now = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    values = {
        "bool": True, "int": -(2**63), "float": 0.1, "str": "ü", "bytes": b"\0\xff", "date": now,
        "list": [1, None, {"a": "b"}], "dict": {"x": []}, "empty": "",
    }
    defaults.update(values)
    assert dict(defaults) == values and len(defaults) == len(values) and "none" not in defaults
    assert isinstance(defaults["bool"], bool) and defaults.get("none", 7) == 7
    del defaults["int"]
    with pytest.raises(KeyError):
        defaults["int"]
    with pytest.raises(KeyError):
        del defaults["int"]
    for wrong in [2**63, object(), 1j]:
        with pytest.raises((OverflowError, TypeError)):
            defaults["wrong"] = wrong
    with pytest.raises(ValueError):
        defaults["a\0b"] = 1
    assert "wrong" not in defaults


def test_a_value_that_was_read_before_is_the_present_one(container, program):
    defaults = container.defaults()
    defaults.update({"text": "a", "list": [1]})
    defaults["list"].append(2)
    assert defaults["list"] == [1] and defaults["text"] == defaults["text"] == "a"
    other = program("""
        defaults = container.defaults()
        for number in range(1, 20_001):
            defaults.set("n", number)
            assert defaults["n"] == number
        del defaults["text"]
        print("done")
    """)
    seen, end = 0, time.monotonic() + 60
    while seen < 20_000 and time.monotonic() < end:
        now = defaults.get("n", 0)
        assert now >= seen
        seen = now
    assert seen == 20_000 and other.line() == "done" and "text" not in defaults
    with pytest.raises(KeyError):
        defaults["text"]
    defaults.close()
    with pytest.raises(GroupError):
        defaults["n"]


def test_more_keys_than_are_kept(container):
    defaults = container.defaults()
    defaults.update({str(number): number for number in range(3_000)})
    for _ in range(2):
        assert all(defaults[str(number)] == number for number in range(3_000))


def test_keys_are_incremented_compared_and_followed(container, program):
    defaults = container.defaults("settings")
    follower = defaults.follow("n")
    assert program("print(container.defaults('settings').increment('n', 5))").finish() == (0, "5\n")
    change = follower.next(30)
    assert (change.key, change.old_value, change.new_value, change.purpose) == ("n", None, 5, "a program")
    defaults["other"] = 1
    assert follower.next(0) is None
    assert defaults.compare_and_set("n", 5, "five") and not defaults.compare_and_set("n", 5, 6)
    assert defaults.compare_and_set("new", None, 1) and defaults.compare_and_set("new", 1, None)
    assert "new" not in defaults
    with pytest.raises(GroupError):
        defaults.increment("n")


def test_messages_are_delivered_until_they_are_acknowledged(container, program):
    listener = container.channel("c").listen("l")
    program("channel = container.channel('c'); channel.post('hi'); channel.post()").finish()
    first, second = listener.next(30), listener.next(30)
    assert (first.content, first.purpose, second.content, second.number) == (b"hi", "a program", None, first.number + 1)
    with pytest.raises(Conflict):
        container.channel("c").listen("l")
    listener.acknowledge(first.number)
    listener.close()
    with container.channel("c").listen("l") as again:
        assert again.next(30).number == second.number and again.next(0) is None


def test_a_file_lock_has_the_words_of_py_filelock(container, path, program):
    lock = FileLock(path + "/a", timeout=5)
    with lock:
        with lock.acquire():
            assert lock.lock_counter == 2
        assert lock.is_locked
        other = program("""
            from group_container.filelock import *
            try:
                FileLock(path + "/a", timeout=0).acquire()
            except Timeout as error:
                print(error)
            """)
        assert other.finish() == (0, "The file lock '%s/a' could not be acquired.\n" % path)
        seen = []
        thread = threading.Thread(target=lambda: seen.append(lock.is_locked))
        thread.start()
        thread.join()
        assert seen == [False], "a lock is its thread's"
    assert not lock.is_locked
    lock.acquire(blocking=False)
    lock.release(force=True)
    lock.release()
    with pytest.raises(ValueError):
        FileLock("/proc/self/x")
    assert issubclass(Timeout, TimeoutError)


def test_an_observer_has_the_words_of_watchdog(container, path):
    class Collecting(FileSystemEventHandler):
        def __init__(self):
            self.events = []

        def on_any_event(self, event):
            self.events.append((event.event_type, event.is_directory, event.src_path, event.dest_path))

    everything, top = Collecting(), Collecting()
    observer = Observer()
    observer.schedule(everything, path, recursive=True)
    observer.schedule(top, path)
    observer.start()
    container.create_directory("d")
    container.write("d/a", "1")
    with open(path + "/d/a", "w") as file:
        file.write("22")
    container.move("d/a", "b")
    container.remove("b")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (top.events and top.events[-1][0] == "deleted"):
        time.sleep(0.01)
    observer.stop()
    observer.join(30)
    assert not observer.is_alive()
    assert ("created", True, path + "/d", "") in everything.events
    assert ("created", False, path + "/d/a", "") in everything.events
    assert ("moved", False, path + "/d/a", path + "/b") in everything.events
    assert everything.events[-1] == ("deleted", False, path + "/b", "")
    assert [event[0] for event in top.events] == ["created", "created", "deleted"]


def test_closing_a_stream_ends_the_waits_in_it(container):
    for wait in (lambda follower: [change for change in follower], lambda follower: follower.next()):
        follower = container.follow()
        ended = []

        def run():
            try:
                ended.append(wait(follower))
            except GroupError as error:
                ended.append(error.code)

        thread = threading.Thread(target=run)
        thread.start()
        while not sleeps_in_poll(thread):
            time.sleep(0.001)
        follower.close()
        thread.join(30)
        assert ended in ([[]], ["invalidArgument"])
        with pytest.raises(ValueError):
            follower.fileno()

        # The waiting thread is woken, and runs, before the call that closes goes on.
        follower = container.follow()
        ended = []
        thread = threading.Thread(target=run)
        thread.start()
        while not sleeps_in_poll(thread):
            time.sleep(0.001)
        end = follower._wake.end
        follower._wake.end = lambda: (end(), thread.join(30))
        follower.close()
        assert ended in ([[]], ["invalidArgument"])

    async def follow():
        follower = container.follow()
        asyncio.get_running_loop().call_later(0.05, follower.close)
        return [change async for change in follower]

    assert asyncio.run(asyncio.wait_for(follow(), 30)) == []


def sleeps_in_poll(thread):
    try:
        with open("/proc/self/task/%d/wchan" % thread.native_id) as file:
            return "poll" in file.read()
    except OSError:
        return False


def test_a_task_with_much_to_read_gives_way_to_others(container):
    for number in range(500):
        container.write("a", str(number), durable=False)

    async def follow():
        seen = others = 0

        async def other():
            nonlocal others
            while seen < 500:
                others += 1
                await asyncio.sleep(0)

        task = asyncio.get_running_loop().create_task(other())
        async for change in container.follow(since="start"):
            seen += 1
            if seen == 500:
                break
        await task
        return others

    assert asyncio.run(asyncio.wait_for(follow(), 30)) > 5


def test_of_several_processes_one_pops_a_key_and_all_get_the_same_default(container, program):
    defaults = container.defaults()
    for number in range(100):
        defaults["k%d" % number] = number
    script = """
        defaults = container.defaults()
        for number in range(100):
            if defaults.pop("k%d" % number, None) is not None:
                print("got", number)
        print(defaults.setdefault("first", os.getpid()))
        """
    outputs = [one.finish()[1].split("\n") for one in [program(script) for _ in range(4)]]
    got = sorted(int(line.split()[1]) for lines in outputs for line in lines if line.startswith("got"))
    assert got == list(range(100))
    assert {lines[-2] for lines in outputs} == {str(defaults["first"])}
    assert defaults.copy() == {"first": defaults["first"]}
    with pytest.raises(KeyError):
        defaults.pop("k1")
    with pytest.raises(Conflict):
        defaults.set("first", 1, if_absent=True)


def test_an_observer_goes_on_after_an_error_and_ends_with_its_directory(container, path, monkeypatch):
    class Failing(FileSystemEventHandler):
        def __init__(self):
            self.events = []

        def on_any_event(self, event):
            self.events.append((event.event_type, event.src_path))
            if len(self.events) == 1:
                raise ValueError("the first")

    reported = []
    monkeypatch.setattr(threading, "excepthook", lambda given: reported.append(given.exc_type))
    observer, handler = Observer(), Failing()
    with pytest.raises(FileNotFoundError):
        observer.schedule(handler, path + "/none")
    container.write("a", "1")
    with pytest.raises(NotADirectoryError):
        observer.schedule(handler, path + "/a")
    observer.schedule(handler, path)
    observer.start()
    container.write("b", "1")
    container.write("c", "1")
    deadline = time.monotonic() + 30
    while len(handler.events) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert handler.events == [("created", path + "/b"), ("created", path + "/c")] and reported == [ValueError]
    before = len(os.listdir("/proc/self/fd"))
    observer.stop()
    observer.join(30)
    assert not observer.is_alive() and len(os.listdir("/proc/self/fd")) == before - 2
