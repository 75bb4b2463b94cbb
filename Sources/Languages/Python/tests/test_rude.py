"""Wrong arguments, and use after the end: an exception that says what is wrong, and nothing changed."""

import os

import pytest

from group_container import Container, GroupError


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

    with pytest.raises(TimeoutError) as raised:
        container.update("a", again)
    assert [holder.process for holder in raised.value.holders] == [os.getpid()]
    with pytest.raises(GroupError) as deadlock:
        container.transaction(["a"], lambda access: container.transaction(["a"], lambda inner: None))
    assert deadlock.value.code == "deadlock"
