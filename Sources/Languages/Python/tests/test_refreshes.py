import threading

import pytest

from group_container import LockTimeout


def test_a_widget_is_drawn_anew_only_if_something_that_concerns_it_has_changed(container):
    shown = []
    with container.refresh("w", ["notes/**", "defaults:settings:theme"]) as refresh:
        assert refresh.is_needed and refresh.last is None
        assert refresh.finish("a", shown.append)
    assert not container.refresh("w", ["notes/**", "defaults:settings:theme"]).is_needed
    container.defaults("settings")["theme"] = "dark"
    with container.refresh("w", ["notes/**", "defaults:settings:theme"]) as refresh:
        assert refresh.is_needed and refresh.last == b"a"
        assert not refresh.finish(b"a", shown.append)
    assert shown == [b"a"]


def test_a_refresh_that_fails_gets_the_same_changes_again(container):
    container.refresh("w", "notes/**").finish("a")
    container.write("notes/a", "1")

    def fails(snapshot):
        raise KeyError("no screen")

    with pytest.raises(KeyError):
        container.refresh("w", "notes/**").finish("b", fails)
    with container.refresh("w", "notes/**") as refresh:
        assert refresh.is_needed
    assert container.refresh("w", "notes/**").finish("b")


def test_refreshes_of_a_kind_exclude_each_other_between_processes(container, program):
    other = program("with container.refresh('w', ['a']):\n    print('refreshing')\n    sys.stdin.read()")
    assert other.line() == "refreshing"
    with pytest.raises(LockTimeout):
        container.refresh("w", ["a"], timeout=0.05)
    threading.Timer(0.1, other.process.stdin.close).start()
    assert container.refresh("w", ["a"]).is_needed
