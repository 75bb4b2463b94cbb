"""What the tests of other projects ask of such software, in our words.

Of py-filelock: its cases of fork, of interrupted waits and of PID namespaces. Of watchdog: its cases of an emitter. Of
fsnotify: twenty of its scripts. Where our answer is another one, a comment says why.
"""

import gc
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from group_container import Container, GroupError
from group_container.filelock import FileLock, Timeout
from group_container.watchdog import FileSystemEventHandler, Observer


def in_child(work):
    """Runs a function in a forked child; fails if it raises."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def is_free(path):
    """Asks from another process whether a lock is free."""
    script = "import sys\nfrom group_container.filelock import *\nFileLock(sys.argv[1]).acquire(timeout=0)"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    return subprocess.run([sys.executable, "-c", script, path], env=environment, stderr=subprocess.DEVNULL).returncode == 0


@pytest.mark.parametrize("action", ["release", "force", "context", "collect"])
def test_filelock_a_child_that_cleans_up_leaves_the_lock_of_its_parent(container, path, action):
    lock = FileLock(path + "/a", thread_local=False)
    acquired = lock.acquire()

    def clean_up():
        nonlocal lock, acquired
        assert not lock.is_locked and lock.lock_counter == 0
        if action in ("release", "force"):
            lock.release(force=action == "force")
        elif action == "context":
            with acquired:
                pass
        else:
            del lock, acquired
            gc.collect()

    in_child(clean_up)
    assert lock.is_locked and not is_free(path + "/a")
    lock.release()
    assert is_free(path + "/a")


def test_filelock_the_end_of_a_childs_interpreter_leaves_the_lock_of_its_parent(container, path):
    script = """
        import os, sys
        from group_container.filelock import FileLock
        lock = FileLock(sys.argv[1])
        lock.acquire()
        if os.fork() == 0:
            sys.exit(0)
        assert os.wait()[1] == 0
        print("waited", flush=True)
        sys.stdin.read()
        """
    holder = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script), path + "/a"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert holder.stdout.readline() == b"waited\n"
    assert not is_free(path + "/a")
    holder.stdin.close()
    assert holder.wait() == 0
    holder.stdout.close()
    assert is_free(path + "/a")


def test_filelock_a_lock_that_a_child_has_inherited_refuses_to_be_acquired(container, path):
    lock = FileLock(path + "/a")

    def acquire():
        # py-filelock raises a RuntimeError; ours is the error of any call with what the parent has opened.
        with pytest.raises(GroupError) as refused:
            lock.acquire(timeout=0)
        assert refused.value.code == "forked"
        with FileLock(path + "/a", timeout=0):
            pass

    in_child(acquire)
    with lock:
        pass


def test_filelock_a_child_does_not_have_what_another_thread_of_its_parent_holds(container, path):
    held, end = threading.Event(), threading.Event()

    def hold():
        with FileLock(path + "/a"):
            held.set()
            end.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(30)

    def contend():
        with pytest.raises(Timeout):
            FileLock(path + "/a").acquire(timeout=0)

    in_child(contend)
    end.set()
    thread.join()
    assert is_free(path + "/a")


def test_filelock_a_wait_that_is_interrupted_has_not_acquired(container, path, program):
    lock = FileLock(path + "/a")
    with lock:
        waiter = program("""
            import signal
            from group_container.filelock import FileLock
            signal.signal(signal.SIGALRM, signal.default_int_handler)
            lock = FileLock(path + "/a")
            for wait in (0.05, 0.1, 0.2):
                signal.setitimer(signal.ITIMER_REAL, wait)
                try:
                    lock.acquire()
                except KeyboardInterrupt:
                    print(lock.is_locked, lock.lock_counter)
            sys.stdin.readline()
            with lock.acquire(timeout=30):
                print("acquired")
            """)
        assert [waiter.line() for _ in range(3)] == ["False 0"] * 3
    assert is_free(path + "/a")
    waiter.process.stdin.write("\n")
    assert waiter.finish() == (0, "acquired\n")


def test_filelock_a_holder_in_another_pid_namespace_is_seen_and_its_end_too(container, path):
    script = """
        import sys
        from group_container.filelock import FileLock
        with FileLock(sys.argv[1], purpose="elsewhere"):
            print("held", flush=True)
            sys.stdin.read()
        """
    # The first process of a namespace has the number 1 in it.
    holder = subprocess.Popen(
        ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", sys.executable, "-c",
         textwrap.dedent(script), path + "/a"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(Timeout) as refused:
        FileLock(path + "/a").acquire(timeout=0.05)
    assert refused.value.__cause__.holders[0].purpose == "elsewhere"
    holder.kill()
    with FileLock(path + "/a", timeout=30):
        pass
    holder.stdin.close()
    holder.stdout.close()
    holder.wait()


class Events(FileSystemEventHandler):
    """Collects events until a last one."""

    def __init__(self, container, path, watched="", recursive=True):
        self.container, self.path, self.seen, self.end = container, path, [], threading.Event()
        self.marker = os.path.join(watched, "last event").lstrip("/")
        self.observer = Observer()
        self.observer.schedule(self, os.path.join(path, watched) if watched else path, recursive=recursive)
        self.observer.start()

    def on_any_event(self, event):
        if event.src_path.endswith("/last event"):
            self.end.set()
            return
        name = ("dir " if event.is_directory else "") + event.event_type
        paths = [os.path.relpath(one, self.path) for one in (event.src_path, event.dest_path) if one]
        self.seen.append((name, *paths))

    def finish(self, least=0):
        """Returns the events so far, at least a number: what moves is known to be gone, or new, some time later."""
        deadline = time.monotonic() + 30
        while len(self.seen) < least and time.monotonic() < deadline:
            time.sleep(0.001)
        with open(os.path.join(self.path, self.marker), "w"):
            pass
        assert self.end.wait(30), self.seen
        self.observer.stop()
        self.observer.join(30)
        assert not self.observer.is_alive()
        return self.seen


@pytest.fixture
def watching(container, path):
    started = []

    def start(watched="", recursive=True):
        started.append(Events(container, path, watched, recursive))
        return started[-1]

    yield start
    for one in started:
        one.observer.stop()
        one.observer.join(30)


def touch(path, content=""):
    with open(path, "a") as file:
        file.write(content)


def test_watchdog_created_modified_and_deleted(watching, path):
    events = watching()
    touch(path + "/a")
    while not events.seen:
        time.sleep(0.001)
    touch(path + "/a", "more")
    while len(events.seen) < 2:
        time.sleep(0.001)
    os.remove(path + "/a")
    # watchdog also reports that the directory was modified, and that the file was opened and closed.
    assert events.finish() == [("created", "a"), ("modified", "a"), ("deleted", "a")]


def test_watchdog_a_name_that_is_not_text(watching, path):
    events = watching()
    touch(path + "/a_\udce4")
    assert events.finish() == [("created", "a_\udce4")]


@pytest.mark.parametrize("watched, expected", [
    ("", [("moved", "dir1/a", "dir2/b")]), ("dir2", [("created", "dir2/b")]), ("dir1", [("deleted", "dir1/a")]),
])
def test_watchdog_a_move_within_into_and_out_of_what_is_watched(watching, container, path, watched, expected):
    for name in ("dir1", "dir2"):
        container.create_directory(name)
    container.write("dir1/a", "")
    events = watching(watched)
    os.rename(path + "/dir1/a", path + "/dir2/b")
    assert events.finish(1) == expected


def test_watchdog_moves_that_follow_each_other_are_not_joined(watching, container, path):
    container.write("dir1/a", "")
    container.write("b", "")
    events = watching("dir1")
    os.rename(path + "/dir1/a", path + "/c")
    os.rename(path + "/b", path + "/dir1/d")
    assert events.finish(2) == [("deleted", "dir1/a"), ("created", "dir1/d")]


def test_watchdog_subdirectories_that_come_and_go_quickly(watching, container, path):
    container.create_directory("dir1")
    events = watching("dir1")
    for _ in range(30):
        os.mkdir(path + "/dir1/subdir1")
        os.rmdir(path + "/dir1/subdir1")
    # watchdog reports all sixty calls. Ours are changes of items: a directory that is gone when the leader looks has been
    # of no use to anybody; one that was reported as created is reported as deleted, too.
    seen = events.finish()
    assert {path for _, path in seen} <= {"dir1/subdir1"}
    words = [word.rpartition(" ")[2] for word, _ in seen]
    words = [word for word in words if word != "modified"]
    assert words == ["created", "deleted"] * (len(words) // 2)


def test_watchdog_not_recursive(watching, container, path):
    container.create_directory("dir1")
    events = watching(recursive=False)
    touch(path + "/dir1/a")
    touch(path + "/b")
    assert events.finish() == [("created", "b")]


def test_watchdog_a_directory_that_was_renamed_goes_on_under_its_new_name(watching, path):
    events = watching()
    os.makedirs(path + "/a/b")
    while len(events.seen) < 2:
        time.sleep(0.001)
    os.rename(path + "/a", path + "/a2")
    while len(events.seen) < 3:
        time.sleep(0.001)
    touch(path + "/a2/b/c")
    # watchdog reports the move of each entry in the directory, too; ours is one event for what was one call.
    assert events.finish() == [
        ("dir created", "a"), ("dir created", "a/b"), ("dir moved", "a", "a2"), ("created", "a2/b/c"),
    ]


def test_watchdog_what_is_in_a_directory_that_moves_in(watching, container, path, tmp_path):
    (tmp_path / "out" / "in").mkdir(parents=True)
    (tmp_path / "out" / "in" / "f").write_text("1")
    events = watching()
    os.rename(tmp_path / "out", path + "/d")
    assert events.finish(3) == [("dir created", "d"), ("dir created", "d/in"), ("created", "d/in/f")]


def test_watchdog_the_end_of_the_watched_directory(watching, container, path):
    events = watching()
    shutil.rmtree(path)
    deadline = time.monotonic() + 30
    while ("dir deleted", ".") not in events.seen and time.monotonic() < deadline:
        time.sleep(0.005)
    assert events.seen[-1] == ("dir deleted", ".")


def script(text):
    """Runs lines of a shell in the container's directory."""
    def run(path):
        subprocess.run(["sh", "-euc", text], cwd=path, check=True)
    return run


#: Of fsnotify's scripts, by their names there: what is there before, what is done, what may be reported. fsnotify reports
#: each call of the system: the creation and the writes of a new file one by one, a rename as two events. Ours are
#: changes of items: a new file with its content is created, a rename is one change that has both paths.
SCRIPTS = {
    "create-empty-file": ("", "touch file", ["created file"]),
    "create-file-with-data": ("", "echo data >file", ["created file"]),
    "create-dir": ("", "mkdir dir", ["created dir"]),
    "create-fifo": ("", "mkfifo fifo", ["created fifo"]),
    "create-cyclic-symlink": ("", "ln -s link link", ["created link"]),
    "create-unresolvable-symlink": ("", "ln -s /nowhere/at/all link", ["created link"]),
    "make-file-unreadable": ("echo 1 >file", "chmod 000 file", ["touched file"]),
    "multiple-creates": ("", "touch file; rm file; touch file", []),
    "remove-file": ("touch file", "rm file", ["removed file"]),
    "remove-symlink": ("touch file; ln -s file link", "rm link", ["removed link"]),
    "recreate-symlink": (
        "ln -s a link", "rm link; ln -s b link", ["removed link", "created link"], ["modified link"]),
    "rename-file": ("echo 1 >file", "mv file renamed", ["moved file renamed"]),
    # As a program saves that writes beside its file: the file goes on, with another content.
    "rename-file-overwrite": ("echo 1 >a; echo 2 >b", "mv a b", ["modified b", "removed a"]),
    "rename-symlink": ("ln -s a link", "mv link other", ["moved link other"]),
    "rename-from-unwatched": ("echo 1 >../out", "mv ../out file", ["created file"]),
    "rename-to-unwatched": ("echo 1 >file", "mv file ../out2", ["removed file"]),
    "truncate-file": ("echo 1 >file", ": >file", ["modified file"]),
    "subdir": ("mkdir sub", "touch sub/file; rm sub/file; rmdir sub", ["removed sub"]),
    "mkdir-p-nested": (
        "", "mkdir -p a/b/c; touch a/b/c/file",
        ["created a", "created a/b", "created a/b/c", "created a/b/c/file"]),
    "remove-recursive": (
        "mkdir -p a/b; touch a/b/c a/d", "rm -r a", ["removed a", "removed a/b", "removed a/b/c", "removed a/d"]),
    "rename-dir": ("mkdir a; touch a/b", "mv a c; touch c/d", ["moved a c", "created c/d"]),
    "rename-to-different-dir": ("mkdir a b; touch a/f", "mv a/f b/f", ["moved a/f b/f"]),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_fsnotify(name, container, path):
    before, action, *expected = SCRIPTS[name]
    script(before)(path)
    container.note_uncoordinated_changes()
    follower = container.follow()
    # From here on, each change is reported when it happens.
    watches = container.follow(include=["watches"])
    touch(path + "/watches")
    assert watches.next(30) is not None
    script(action)(path)
    touch(path + "/last")
    seen, is_last, deadline = [], False, time.monotonic() + 30
    # What moves out is known to be gone when it does not appear elsewhere, which may be after the last change.
    while not is_last or (settled(name, seen) not in expected and time.monotonic() < deadline):
        change = follower.next(1)
        if change is None:
            continue
        is_last = is_last or change.path == "last"
        if change.path not in ("watches", "last"):
            paths = [change.other_path, change.path] if change.other_path else [change.path]
            seen.append(" ".join([change.kind, *paths]))
    assert settled(name, seen) in expected, seen


def settled(name, seen):
    """Returns the changes without what depends on the moment in which the leader looks: whether a new file has its content
    and dates already, and whether a file that exists for a moment only is seen."""
    transient = {"multiple-creates": " file", "subdir": " sub/file"}.get(name, "nothing")
    kept = []
    for one in seen:
        kind, path = one.split(" ", 1)
        is_new = kind in ("modified", "touched") and "created " + path in kept
        if not is_new and not one.endswith(transient):
            kept.append(one)
    return sorted(kept) if name == "remove-recursive" else kept
