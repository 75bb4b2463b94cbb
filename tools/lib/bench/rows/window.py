"""What the window of widgets costs, beside a bare window."""

import json
import os
import subprocess
import time

from .. import packages, processes, programs
from ..failures import Failed
from ..figures import median, percentile
from ..goals import Goal
from ..places import Place
from ..row import Finding, Row, cells, gathered
from ..stores import Store, StoreContender
from ..table import Table

SCRATCH = os.path.join(programs.ROOT, ".build", "GTK")
SHOWN, MEMORY, OWN = "until the window is shown, median, ms", "memory when nothing happens, MiB", "of which its own, MiB"
LIMIT = 30


def ours(_: dict[str, str]) -> list[str]:
    programs.run([os.path.join(programs.ROOT, "tools", "setup"), "--traits", "GTK"])
    build = ["swift", "build", "--traits", "GTK", "--scratch-path", SCRATCH, "-c", "release", "--product"]
    for product in ("widget-window", "todo", "todo-widget"):
        programs.run([*build, product])
    return [os.path.join(SCRATCH, "release", "widget-window")]


def bare(_: dict[str, str]) -> list[str]:
    packages.files(["/usr/include/gtk-4.0/gtk/gtk.h"], ["libgtk-4-dev"])
    packages.debian("pkg-config", "pkg-config")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "gtk4"], capture_output=True, text=True, check=True)
    path = os.path.join(programs.KEPT, "bare-window")
    programs.compile_c(path, [os.path.join(programs.HERE, "bare-window.c")], flags.stdout.split())
    return [path]


OURS = Store("widget-window", ours)
BARE = Store("a bare window", bare, version=lambda _: ["pkg-config", "--modversion", "gtk4"])
SOME, NONE = f"{OURS.name}, three widgets", f"{OURS.name}, no widget"


class Window(Row):
    name = "window"
    title = "a window of GTK 4 is opened {starts} times a round, on an X server without a screen"
    places = ("memory",)
    rounds = 3
    sizes = {"starts": (10, 2)}

    def goals(self) -> list[Goal]:
        return [
            Goal("shown at most 1.25 times as late as a bare window", SHOWN, (SOME, NONE), most=1.25, of=(BARE.name,)),
            Goal("at most 1.5 times the memory of a bare window", OWN, (SOME, NONE), most=1.5, of=(BARE.name,)),
            Goal("no wake-up while nothing happens", "wake-ups in 3 s", (SOME, NONE), most=0),
        ]

    def contenders(self) -> list[StoreContender]:
        return [StoreContender(SOME, OURS), StoreContender(NONE, OURS), StoreContender(BARE.name, BARE)]

    def prepare(self, bench, place: Place) -> None:
        self.directory = place.fresh("window")
        self.observer = os.path.join(programs.KEPT, "window-shown")
        packages.files(["/usr/include/X11/Xlib.h"], ["libx11-dev"])
        programs.compile_c(self.observer, [os.path.join(programs.HERE, "window-shown.c")], ["-lX11"])
        self.container = os.path.join(self.directory, "shared")
        bench.changes.make_container(self.container)
        for kinds in ("some", "none"):
            os.makedirs(os.path.join(self.directory, kinds))

    def manifests(self) -> None:
        program = os.path.join(SCRATCH, "release", "todo-widget")
        subprocess.run([os.path.join(SCRATCH, "release", "todo"), "--group", self.container, "add", "Milk"], check=True)
        for style in ("list", "next", "count"):
            text = {"kind": f"todo-{style}", "title": "To do", "executable": program, "arguments": ["--style", style, "--hosted"]}
            with open(os.path.join(self.directory, "some", f"{style}.json"), "w", encoding="utf-8") as file:
                json.dump(text, file)

    def round(self, bench, place: Place, contender: StoreContender) -> Finding:
        command = bench.found(contender.party)
        if contender.party is OURS:
            self.manifests()
            kinds = "some" if contender.column == SOME else "none"
            command = [*command, "--widgets", os.path.join(self.directory, kinds), self.container]
        reading, writing = os.pipe()
        server = [packages.debian("Xvfb", "xvfb"), "-displayfd", str(writing), "-screen", "0", "800x800x24", "-nolisten", "tcp", "-noreset"]
        started = [subprocess.Popen(server, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
        os.close(writing)
        try:
            display = os.read(reading, 64).decode().strip()
            if not display:
                raise Failed("Xvfb did not start")
            self.environment = {
                **os.environ, "DISPLAY": f":{display}", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
                "XDG_STATE_HOME": self.directory, "HOME": self.directory, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/dev/null",
            }
            observer = subprocess.Popen([self.observer], env=self.environment, stdout=subprocess.PIPE, text=True)
            started.append(observer)
            if observer.stdout.readline() != "ready\n":
                raise Failed("the observer of windows did not start")
            findings = [self.open(command, observer) for _ in range(self.size("starts"))]
        finally:
            os.close(reading)
            processes.end(started[::-1])
        return {name: [finding[name] for finding in findings if name in finding] for name in ("shown", "all", "own", "woken")}

    def open(self, command: list[str], observer: subprocess.Popen) -> Finding:
        began = time.monotonic_ns()
        window = subprocess.Popen(
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            shown = (int(observer.stdout.readline()) - began) / 1e6
            self.rest(window)
            woken = processes.switches(window.pid)
            time.sleep(0.5 if self.is_quick else 3)
            woken = processes.switches(window.pid) - woken
            pid = window.pid
            return {
                "shown": shown, "all": processes.resident_mebibytes(pid), "own": processes.memory(pid, "RssAnon:"), "woken": woken,
            }
        finally:
            processes.end([window])

    def rest(self, window: subprocess.Popen) -> None:
        """Waits until the window has not run for half a second."""
        deadline, before, now = time.monotonic() + LIMIT, -1, 0
        while before != now:
            if time.monotonic() > deadline or window.poll() is not None:
                raise Failed("the window does not come to rest")
            before = now
            time.sleep(0.5)
            now = processes.switches(window.pid)

    def summarize(self, table: Table, findings: dict[StoreContender, list[Finding]]) -> None:
        shown = gathered(findings, "shown")
        table.add_ratio(table.add(SHOWN, cells(shown, median)), BARE.name)
        table.add("until the window is shown, p99, ms", cells(shown, lambda times: percentile(times, 99)))
        table.add(MEMORY, cells(gathered(findings, "all"), median))
        table.add(OWN, cells(gathered(findings, "own"), median))
        table.add("wake-ups in 3 s", cells(gathered(findings, "woken"), max))
