import os
import subprocess
import sys
import textwrap
import threading

import pytest

from group_container import Container


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "shared")


@pytest.fixture
def container(path):
    with Container(path, create=True, purpose="a test") as opened:
        yield opened


class Program:
    """A program in Python that is a member of the container `path`; `container` is open in it."""

    def __init__(self, path, script):
        begin = (
            # A command in the background of a script ignores SIGINT, and so do its children unless they ask for it.
            "import os, signal, sys, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "from group_container import *\npath = %r\n"
            "container = Container(path, purpose='a program')\n" % path)
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", begin + textwrap.dedent(script)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
        # A program that hangs fails its test, and not the whole run.
        self.limit = threading.Timer(60, self.process.kill)
        self.limit.daemon = True
        self.limit.start()

    def line(self):
        """Returns the next line that the program prints."""
        return self.process.stdout.readline().rstrip("\n")

    def finish(self):
        """Waits for the end, and returns the status and the rest of the output."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        output = self.process.stdout.read()
        self.process.stdout.close()
        status = self.process.wait()
        self.limit.cancel()
        return status, output


@pytest.fixture
def program(path, container):
    started = []

    def start(script):
        started.append(Program(path, script))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        if not one.process.stdout.closed:
            one.finish()
