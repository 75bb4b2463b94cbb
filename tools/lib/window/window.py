"""A running widget-window, and what a screen reader is told of it."""

import os
import subprocess

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

from .patience import DIRECTORY, PATIENCE, eventually, fail, run  # noqa: E402
from .processes import children, state  # noqa: E402
from .screen import xdotool  # noqa: E402

BORDER = 5  # of a window that draws its own frame, where there is no compositor


class Window:
    """A running widget-window, and what a screen reader is told of it."""

    def __init__(self, name, widgets, shared, text=1.0, width=420, height=640):
        self.home = DIRECTORY / f"home-{name}"
        self.home.mkdir()
        # The size of text, as a desktop tells X programs.
        run("xprop", "-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER", f"Xft.dpi:\t{int(96 * text)}\n")
        environment = dict(
            os.environ, HOME=str(self.home), XDG_CONFIG_HOME=str(self.home),
            XDG_STATE_HOME=str(DIRECTORY / "state"), XDG_RUNTIME_DIR=str(DIRECTORY), GDK_BACKEND="x11",
            GSK_RENDERER="cairo", LC_ALL="C.UTF-8")
        self.errors = open(self.home / "errors", "wb")
        self.process = subprocess.Popen(
            ["widget-window", "--widgets", str(widgets), str(shared)], env=environment, stdout=self.errors,
            stderr=self.errors, stdin=subprocess.DEVNULL)
        self.application = eventually("the window is told to screen readers", self.find_application)
        self.number = int(eventually("the window is there", self.find_window))
        xdotool("windowfocus", self.number)
        self.resize(width, height)

    def find_application(self):
        if self.process.poll() is not None:
            fail(f"widget-window ended with {self.process.returncode}:\n" + (self.home / "errors").read_text())
        desktop = Atspi.get_desktop(0)
        for index in range(desktop.get_child_count()):
            child = desktop.get_child_at_index(index)
            if child is not None and child.get_process_id() == self.process.pid:
                child.set_cache_mask(Atspi.Cache.NONE)
                return child
        return None

    def find_window(self):
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--name", "^Today$"], stdout=subprocess.PIPE, timeout=PATIENCE)
        return found.stdout.split()[-1] if found.stdout else None

    def all(self, role=None, name=None, under=None):
        """Returns what a screen reader is told, in its order: all, or those of a role and name."""
        found = []

        def visit(item):
            if item is None:
                return
            try:
                fits = (role is None or item.get_role_name() == role) and (name is None or item.get_name() == name)
                if fits:
                    found.append(item)
                for index in range(item.get_child_count()):
                    visit(item.get_child_at_index(index))
            except GLib.Error:
                pass  # The item is gone meanwhile.

        visit(under or self.application)
        return found

    def one(self, role, name, under=None):
        return eventually(f"{role} '{name}'", lambda: (self.all(role, name, under) or [None])[-1])

    def place(self, item):
        """Returns where an item is on the screen."""
        area = item.get_component_iface().get_extents(Atspi.CoordType.WINDOW)
        return area.x + BORDER, area.y + BORDER, area.width, area.height

    def frame(self):
        return self.place(self.one("frame", "Today"))

    def cards(self):
        return self.all("list item")

    def titles(self):
        return [card.get_name() for card in self.cards()]

    def resize(self, width, height):
        xdotool("windowsize", "--sync", self.number, width, height)
        eventually(f"{width} × {height} pixels", lambda: self.frame()[2:] == (width - 2 * BORDER, height - 2 * BORDER))

    def click(self, item, button=1):
        x, y, width, height = self.place(item)
        xdotool("mousemove", x + min(12, width // 2), y + height // 2, "click", button)

    def key(self, *names):
        xdotool("key", *names)

    def focused(self):
        for item in self.all():
            if item.get_state_set().contains(Atspi.StateType.FOCUSED):
                return item
        return None

    def focus(self, role, name, key="Tab"):
        """Goes by the keyboard to a control; each press of the key has to go on to another one."""
        for _ in range(60):
            before = self.focused()
            if before is not None and before.get_role_name() == role and before.get_name() == name:
                return
            self.key(key)
            known = before and (before.get_role_name(), before.get_name(), self.place(before))

            def has_moved():
                now = self.focused()
                return now is not None and (now.get_role_name(), now.get_name(), self.place(now)) != known

            eventually(f"{key} goes on from {known}", has_moved)
        fail(f"the keyboard does not reach {role} '{name}'")

    def end(self):
        widgets = children(self.process.pid)
        self.key("ctrl+q")
        if self.process.wait(PATIENCE) != 0:
            fail(f"widget-window ended with {self.process.returncode}")
        eventually("the widgets' processes end", lambda: all(state(process) is None for process in widgets))
        self.errors.close()
        said = (self.home / "errors").read_text()
        if "CRITICAL" in said or "assertion" in said:
            fail(f"GTK complains:\n{said}")


def check_within(window, width):
    """Waits until each card is wholly within the window, and none covers another."""

    def is_within():
        places = [window.place(card) for card in window.cards()]
        for index, (x, y, wide, high) in enumerate(places):
            if x < BORDER or x + wide > width - BORDER or wide <= 0 or high <= 0:
                return False
            for left, top, broad, tall in places[index + 1 :]:
                if x < left + broad and left < x + wide and y < top + tall and top < y + high:
                    return False
        return True

    eventually(f"the cards are within {width} pixels", is_within)
