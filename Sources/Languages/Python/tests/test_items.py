import os
import signal
import threading
import time

import pytest

from group_container import Cancellation, Cancelled, Conflict, Container, GroupError, LockTimeout, NotFound


def test_an_item_is_written_and_read_with_its_generation(container):
    assert container.write("a", "text").is_changed
    version = container.read_version("a")
    assert version.content == b"text" and container.read_text("a") == "text"
    container.write("a", b"\0\xff", if_generation=version.generation)
    with pytest.raises(Conflict) as raised:
        container.write("a", "late", if_generation=version.generation)
    assert raised.value.generation > version.generation
    assert container.read("a") == b"\0\xff"
    with pytest.raises(Conflict):
        container.write("a", "new", if_absent=True)


def test_errors_say_what_happened_and_are_those_of_python(container, path):
    with pytest.raises(FileNotFoundError) as raised:
        container.read("missing")
    error = raised.value
    assert (error.code, error.operation, error.item) == ("notFound", "read", "missing")
    assert path in str(error) and error.remedy
    for wrong in ["", "../a", "/etc/passwd", ".group/format"]:
        with pytest.raises(GroupError):
            container.write(wrong, "x")
    with pytest.raises(ValueError):
        container.write("a\0b", "x")
    with pytest.raises(NotFound):
        Container(path + "-not-there")
    with pytest.raises(ValueError):
        container.read("a", timeout=-1)


def test_a_closed_container_is_an_error(path):
    opened = Container(path, create=True)
    opened.close()
    opened.close()
    with pytest.raises(GroupError) as raised:
        opened.read("a")
    assert raised.value.code == "invalidArgument"


def test_names_need_not_be_text(container):
    name = os.fsdecode(b"\xff\xfe")
    container.write(name, "x")
    assert [item.path for item in container.list()] == [name]
    assert container.read(b"\xff\xfe") == b"x"


def test_items_are_moved_copied_listed_and_removed(container):
    container.write("d/a", "1")
    container.copy("d/a", "d/b")
    with pytest.raises(Conflict):
        container.move("d/a", "d/b")
    container.move("d/a", "d/b", replacing=True)
    assert [(item.path, item.type) for item in container.list()] == [("d", "directory")]
    (item,) = container.list("d")
    assert (item.path, item.size) == ("d/b", 1) and abs(item.modified_at - time.time()) < 60
    with pytest.raises(GroupError):
        container.remove("d")
    container.remove("d", recursively=True)
    container.create_directory("e/f")
    assert [item.path for item in container.list("e")] == ["e/f"]


def test_json_is_updated_under_one_lock(container):
    def add(state):
        state["runs"] += 1

    assert container.update_json("s", add, default={"runs": 0}) == {"runs": 1}
    assert container.update_json("s", lambda state: {"runs": state["runs"] + 1}) == {"runs": 2}
    assert container.read_json("s") == {"runs": 2}
    assert container.read_json("missing", default=[]) == []
    with pytest.raises(ZeroDivisionError):
        container.update_json("s", lambda state: 1 / 0)
    assert container.read_json("s") == {"runs": 2}
    assert container.update("s", lambda content: None) == b'{"runs": 2}'
    for write in [container.write_json, lambda path, value: container.update_json(path, lambda state: value)]:
        with pytest.raises(ValueError):
            write("s", {"runs": float("nan")})
    assert container.read_json("s") == {"runs": 2}


def test_a_transaction_is_whole_or_nothing(container):
    def both(access):
        access.write("a", "1")
        access.write("b", "2")
        return "done"

    assert container.transaction(["a", "b"], both) == "done"

    def fails(access):
        access.write("a", "9")
        raise KeyError("x")

    with pytest.raises(KeyError):
        container.transaction(["a", "b"], fails)
    assert container.read("a") == b"1"


def test_a_waiting_transaction_is_made_when_the_lock_is_free(container, program):
    holder = program("with container.lock('a'):\n    print('held')\n    sys.stdin.read()")
    assert holder.line() == "held"
    threading.Timer(0.1, holder.process.stdin.close).start()
    container.transaction(["a"], lambda access: access.write("a", "after"))
    assert container.read("a") == b"after"


def test_a_lock_names_its_holder_and_ends_with_its_process(container, program):
    holder = program("locks = container.lock('a')\nprint('held')\nsys.stdin.read()")
    assert holder.line() == "held"
    os.kill(holder.process.pid, signal.SIGSTOP)
    with pytest.raises(TimeoutError) as raised:
        container.write("a", "x", timeout=0.05)
    assert isinstance(raised.value, LockTimeout)
    assert [(one.process, one.purpose) for one in raised.value.holders] == [(holder.process.pid, "a program")]
    os.kill(holder.process.pid, signal.SIGKILL)
    container.write("a", "x")


def test_locks_are_released_at_the_end_of_the_block_whatever_happens(container):
    with pytest.raises(ZeroDivisionError):
        with container.lock("a", reading=["b"]):
            raise ZeroDivisionError
    with container.lock("a") as locks:
        with pytest.raises(GroupError):
            locks.write("other", "x")
        locks.write("a", "1")
        with pytest.raises(LockTimeout):
            container.lock("a", timeout=0)
    with pytest.raises(GroupError):
        locks.read("a")
    assert container.read("a") == b"1"


def test_a_signal_ends_a_wait_for_a_lock_at_once(container, program):
    holder = program("locks = container.lock('a')\nprint('held')\nsys.stdin.read()")
    assert holder.line() == "held"
    waiter = program("""
        import signal
        print("waits")
        try:
            container.lock("a", timeout=None)
        except KeyboardInterrupt:
            print("interrupted")
        """)
    assert waiter.line() == "waits"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        # The wait may not have begun yet: then the signal ends the program before it.
        with open("/proc/%d/wchan" % waiter.process.pid) as file:
            if "futex" in file.read():
                break
    waiter.process.send_signal(signal.SIGINT)
    assert waiter.finish() == (0, "interrupted\n")
    holder.process.kill()
    container.write("a", "x")


@pytest.mark.parametrize("thread", ["main", "another"])
def test_programs_that_wait_for_each_others_locks_learn_that_at_once(program, thread):
    script = """
        import threading
        own, other = %r
        def wait():
            held = container.lock(own)
            print("held")
            sys.stdin.readline()
            try:
                with container.lock(other, timeout=None):
                    print("granted")
            except GroupError as error:
                print(error.code)
            held.unlock()
        if %r == "main":
            wait()
        else:
            thread = threading.Thread(target=wait)
            thread.start()
            thread.join()
        """
    programs = [program(script % (items, thread)) for items in [("a", "b"), ("b", "a")]]
    assert [one.line() for one in programs] == ["held", "held"]
    for one in programs:
        one.process.stdin.write("go\n")
        one.process.stdin.flush()
    assert sorted(one.finish() for one in programs) == [(0, "deadlock\n"), (0, "granted\n")]


def test_a_thread_may_wait_for_a_lock_that_another_one_has_used(container):
    locks = container.lock("a")
    with pytest.raises(GroupError) as raised:
        container.lock("a", timeout=None)
    assert raised.value.code == "deadlock"
    with pytest.raises(LockTimeout):
        container.lock("a", timeout=0)
    thread = threading.Thread(target=lambda: locks.write("a", b"1"))
    thread.start()
    thread.join()
    with pytest.raises(LockTimeout):
        container.lock("a", timeout=0.02)
    locks.unlock()


def test_a_cancellation_ends_a_wait_on_any_thread(container, program):
    holder = program("locks = container.lock('a')\nprint('held')\nsys.stdin.read()")
    assert holder.line() == "held"
    cancellation, raised = Cancellation(), []

    def wait():
        try:
            container.lock("a", timeout=None, cancellation=cancellation)
        except Cancelled as error:
            raised.append(error.code)

    thread = threading.Thread(target=wait)
    thread.start()
    cancellation.cancel()
    thread.join(30)
    assert raised == ["cancelled"]


def test_a_child_opens_the_container_anew(container, path):
    container.write("a", "1")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            container.read("a")
        except GroupError as error:
            if error.code == "forked" and Container(path).read("a") == b"1":
                status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert container.read("a") == b"1"


def test_no_addition_of_eight_processes_is_lost_though_some_are_killed(container, program):
    script = """
        defaults = container.defaults()
        for number in range(60):
            container.update_json("n.json", lambda state: {"n": state["n"] + 1}, default={"n": 0}, durable=False)
            print("file")
            defaults.increment("n")
            print("key")
        """
    programs = [program(script) for _ in range(8)]
    for one in programs[:3]:
        one.line()
        one.process.kill()
    files = keys = 3
    outputs = [one.finish()[1].split("\n") for one in programs]
    files += sum(lines.count("file") for lines in outputs)
    keys += sum(lines.count("key") for lines in outputs)
    assert all(len(lines) == 121 for lines in outputs[3:])
    # A killed program may have made one change that it has not printed.
    assert files <= container.read_json("n.json")["n"] <= files + 3
    assert keys - 3 <= container.defaults()["n"] <= keys
