"""Wrong arguments, and use after the end: an exception that says what is wrong, and nothing changed."""

import copy
import errno
import os
import pickle
import threading

import pytest

from group_container import Container, GroupError
from group_container.filelock import FileLock


def test_what_is_no_path_content_or_condition_is_refused(container):
    container.write("a", "1")
    for wrong in [None, 3, object(), [1]]:
        with pytest.raises(TypeError):
            container.write("a", wrong)
        with pytest.raises(TypeError):
            container.read(wrong)
    for generation in [-1, 2**64]:
        with pytest.raises(ValueError):
            container.write("a", "2", if_generation=generation)
    with pytest.raises(ValueError):
        container.write("a", "2", if_generation=1, if_absent=True)
    with pytest.raises(ValueError):
        container.read("a", timeout=float("nan"))
    assert container.read("a", timeout=float("inf")) == b"1"
    with pytest.raises(GroupError):
        container.write("a", "2", mode=0o77777)
    assert container.read("a") == b"1"


def test_a_text_is_one_path_and_not_one_for_each_letter(container):
    container.transaction("uv", lambda access: access.write("uv", "1"))
    with container.lock("x", reading="uv") as locks:
        assert locks.read("uv") == b"1"
    with pytest.raises(GroupError):
        container.lock()


def test_names_with_a_nul_or_that_are_no_text_are_refused(container, path):
    for wrong in ["a\0b", "\udcff"]:
        with pytest.raises(ValueError):
            Container(path, purpose=wrong)
        with pytest.raises(ValueError):
            container.defaults(wrong)
        with pytest.raises(ValueError):
            container.defaults()[wrong] = 1
        with pytest.raises(ValueError):
            container.channel(wrong)
    with pytest.raises(TypeError):
        container.defaults()[3] = 1


def test_what_is_closed_says_so_and_what_was_made_of_a_container_goes_on(path):
    container = Container(path, create=True)
    defaults, follower, locks = container.defaults(), container.follow(), container.lock("a")
    container.close()
    container.close()
    assert defaults.increment("n") == 1 and follower.next(0) is None
    locks.write("a", "1")
    locks.unlock()
    locks.unlock()
    defaults.close()
    follower.close()
    for use in [
        lambda: container.read("a"), lambda: defaults["n"], lambda: follower.next(0), lambda: locks.read("a"),
        lambda: container.path,
    ]:
        with pytest.raises(GroupError) as raised:
            use()
        assert raised.value.code == "invalidArgument" and "closed" in str(raised.value)


def test_a_request_within_itself_ends_and_names_this_process(container):
    def again(content):
        container.update("a", lambda content: b"2", timeout=0.05)
        return b"1"

    with pytest.raises(GroupError) as raised:
        container.update("a", again)
    assert raised.value.code == "deadlock"
    assert [holder.process for holder in raised.value.holders] == [os.getpid()]
    with pytest.raises(GroupError) as deadlock:
        container.transaction(["a"], lambda access: container.transaction(["a"], lambda inner: None))
    assert deadlock.value.code == "deadlock"


def test_the_function_of_a_transaction_is_called_once_whatever_it_raises(container, program):
    holder = program("locks = container.lock('other')\nprint('held')\nsys.stdin.read()")
    assert holder.line() == "held"
    runs = []

    def waits(access):
        runs.append(access.write("a", "1"))
        container.lock("other", timeout=0.05)

    with pytest.raises(TimeoutError):
        container.transaction(["a"], waits)
    assert len(runs) == 1 and container.list() == []


def test_errors_are_pickled_and_copied_and_keep_no_lock(container):
    with pytest.raises(GroupError) as raised:
        container.read("missing")
    for again in [pickle.loads(pickle.dumps(raised.value)), copy.copy(raised.value)]:
        assert type(again) is type(raised.value) and str(again) == str(raised.value) and again.item == "missing"

    def fails():
        locks = container.lock("w")
        locks.read("not-named")

    try:
        fails()
    except GroupError:
        pass
    container.lock("w", timeout=0).unlock()


def test_numbers_and_times_that_do_not_fit_are_refused(container):
    defaults, listener = container.defaults(), container.channel("c").listen("l")
    for call in [
        lambda: defaults.increment("n", 2**63), lambda: listener.acknowledge(2**64 + 1),
        lambda: container.write("a", "1", mode=2**32 + 0o600), lambda: container.write("a", "1", mode=-1),
    ]:
        with pytest.raises(OverflowError):
            call()
    with pytest.raises(ValueError):
        container.follow().next(float("nan"))
    container.channel("c").post("x")
    assert listener.next(float("inf")).content == b"x"


def test_errors_have_the_numbers_of_the_system(container):
    with pytest.raises(FileNotFoundError) as missing:
        container.read("none")
    assert missing.value.errno == errno.ENOENT
    with container.lock("a"):
        with pytest.raises(TimeoutError) as late:
            container.write("a", "1", timeout=0)
    assert late.value.errno == errno.ETIMEDOUT


def test_a_file_lock_refuses_options_that_it_does_not_know(container, path):
    with pytest.raises(TypeError):
        FileLock(path + "/a", is_singelton=True)
    shared = FileLock(path + "/a", thread_local=False)
    with shared:
        seen = []
        thread = threading.Thread(target=lambda: seen.append(shared.is_locked))
        thread.start()
        thread.join()
        assert seen == [True]


def test_a_signal_that_ends_a_wait_leaves_the_cancellation_as_it_is(container, program):
    holder = program("""
        with container.lock("a"):
            print("held")
            sys.stdin.read()
        """)
    assert holder.line() == "held"
    waiter = program("""
        import signal
        cancellation = Cancellation()
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            container.write("a", "1", timeout=None, cancellation=cancellation)
        except KeyboardInterrupt:
            print("interrupted")
        container.write("b", "1", cancellation=cancellation)
        with container.lock("b"):
            cancellation.cancel()
            try:
                container.write("a", "1", timeout=None, cancellation=cancellation)
            except Cancelled:
                print("cancelled")
        """)
    assert waiter.finish() == (0, "interrupted\ncancelled\n")


@pytest.mark.skipif(not os.environ.get("GROUP_CONTAINER_LONG_TESTS"), reason="needs 8 GiB of memory and 4 of disk")
def test_contents_of_more_than_two_gibibytes(container):
    large = bytes(2**31 + 1)
    container.write("large", large, durable=False)
    assert container.read("large") == large
    for call in (
        lambda: container.channel("c").post(large),
        lambda: container.defaults().set("k", large),
        lambda: container.defaults().set("k", "x" * len(large)),
        lambda: container.write("x" * len(large), "1"),
        lambda: container.defaults()["x" * len(large)],
    ):
        with pytest.raises((GroupError, KeyError)):
            call()
    assert container.read("large") == large
