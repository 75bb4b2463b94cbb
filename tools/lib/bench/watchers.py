"""The programs that watch: how each is prepared and started. The options are those with which it is quickest."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from . import packages
from .programs import HERE
from .watchman import Watchman

Started = list[subprocess.Popen]

EVENTS = "create,delete,modify,close_write,moved_from,moved_to,attrib"


@dataclass(frozen=True)
class Watcher:
    """A watcher. `find` installs it and returns the first words of its commands; raises Unavailable. `command` is called
    with these and the directory. `version` is the command that prints the version. `begin` is for watchers that are
    more than one process."""

    name: str
    find: Callable[[dict[str, str]], list[str]]
    command: Callable[[list[str], str], list[str]]
    version: Callable[[list[str]], list[str]] | None = None
    begin: Callable[[list[str], str, str, int, int], Started] | None = None
    is_ours: bool = False

    def start(self, found: list[str], directory: str, scratch: str, output: int, errors: int) -> Started:
        """Starts it. Returns its processes; the watcher has ended when the first one has."""
        if self.begin is not None:
            return self.begin(found, directory, scratch, output, errors)
        command = self.command(found, directory)
        return [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)]


def script(name: str) -> str:
    return os.path.join(HERE, "peers", name)


def module_version(name: str) -> Callable[[list[str]], list[str]]:
    code = f"import importlib.metadata as m; print(m.version('{name}'))"
    return lambda found: [*found, "-c", code]


OURS = Watcher(
    "watch-group",
    find=lambda programs: [programs["watch-group"]],
    command=lambda found, directory: [*found, "--verbose", "--purpose", "bench", directory + "/"],
    is_ours=True,
)
FLOOR = Watcher(
    "bare inotify",
    find=lambda programs: [programs["bare-inotify"]],
    command=lambda found, directory: [*found, directory],
)
SAME_WORK = Watcher(
    "the same work in C",
    find=lambda programs: [programs["one-thread"]],
    command=lambda found, directory: [*found, directory],
)
INOTIFYWAIT = Watcher(
    "inotifywait",
    find=lambda _: [packages.debian("inotifywait", "inotify-tools")],
    command=lambda found, directory: [*found, "-q", "-m", "-r", "-e", EVENTS, "--format", "%e %w%f", directory],
    version=lambda found: [*found, "--help"],
)
FSWATCH = Watcher(
    "fswatch",
    find=lambda _: [packages.debian("fswatch", "fswatch")],
    command=lambda found, directory: [*found, "-r", "-l", "0.1", "--allow-overflow", directory],
    version=lambda found: [*found, "--version"],
)
WATCHMAN = Watcher(
    "watchman",
    find=lambda _: [packages.debian("watchman", "watchman")],
    command=lambda found, directory: [],
    version=lambda found: [*found, "--version"],
    begin=lambda found, directory, scratch, output, errors: Watchman(found, directory, scratch).start(output, errors),
)
WATCHFILES = Watcher(
    "watchfiles",
    find=lambda _: [packages.python("watchfiles")],
    command=lambda found, directory: [*found, script("watchfiles_lines.py"), directory],
    version=module_version("watchfiles"),
)
WATCHDOG = Watcher(
    "watchdog",
    find=lambda _: [packages.python("watchdog")],
    command=lambda found, directory: [*found, script("watchdog_lines.py"), directory],
    version=module_version("watchdog"),
)

PEERS = [INOTIFYWAIT, FSWATCH, WATCHMAN, WATCHFILES, WATCHDOG]
EVERYONE = [OURS, FLOOR, *PEERS]
