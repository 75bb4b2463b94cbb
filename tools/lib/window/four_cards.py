"""Four cards: names, clicks, keys, sizes, light and dark, a minimized window, rest."""

import time

from gi.repository import Atspi

from .patience import DIRECTORY, eventually, fail, holds, run
from .processes import children, state, switches
from .screen import brightness, keep, picture, pixels, settled, xdotool
from .widgets import GAUGES, WIDGET, is_done, manifest, new_container, where
from .window import Window, check_within


def check_four_cards(desktop):
    widgets, shared = DIRECTORY / "four", new_container("shared", "Milk", "Bread", "Tea")
    manifest(widgets, "todo-list", "To do", where("todo-widget"), "--style", "list", "--hosted", interests=["Library/todo.json"])
    manifest(widgets, "note", "Note", where("note-widget"), "--hosted", interests=["Library/note.txt"])
    manifest(widgets, "countdown", "Countdown", where("countdown-widget"), "--hosted", interests=["defaults:countdown:countdown"])
    gauges = DIRECTORY / "gauges.py"
    gauges.write_text(WIDGET % GAUGES)
    manifest(widgets, "machine", "Machine", "/usr/bin/python3", str(gauges))
    run("note", "--group", str(shared), "save", "Gate code 4711\nBins out on Thursday")
    window = Window("first", widgets, shared)
    eventually("four cards", lambda: len(window.cards()) == 4)
    titles = set(window.titles())
    if titles != {"To do", "Note", "Countdown", "Machine"}:
        fail(f"the cards are called {titles}")
    for title in titles:
        window.one("push button", f"Menu of {title}")
    window.one("push button", "Add a widget")
    for title in "Milk", "Bread", "Tea":
        window.one("check box", title)
    window.one("image", "rain")
    eventually("the gauges' values", lambda: any("63 %" in item.get_name() for item in window.all()))
    holds("four cards: each, its menu, its toggles, gauges and pictures have names for a screen reader")

    # A click.
    places = {card.get_name(): window.place(card) for card in window.cards()}
    xdotool("mousemove", 1, 1)
    before = settled()
    keep("window-420", before, window.frame())
    window.click(window.one("check box", "Milk"))
    eventually("the click is in the file", lambda: is_done(shared, "Milk"))
    eventually("the toggle is on", lambda: window.one("check box", "Milk").get_state_set().contains(Atspi.StateType.CHECKED))
    after = settled()
    for title, place in places.items():
        differs = pixels(before, place) != pixels(after, place)
        if differs != (title == "To do"):
            fail(f"after the click on 'Milk', the card '{title}' looks {'different' if differs else 'the same'}")
    holds("a click on a toggle changes the file, and the pixels of its card and of no other one")

    run("todo", "--group", str(shared), "add", "Sugar")
    window.one("check box", "Sugar")
    (shared / "Library" / "note.txt").write_text("Bring the bicycle\n")
    eventually("the new note", lambda: window.all("label", "Bring the bicycle"))
    holds("what the app writes, and what is written without coordination, is shown")

    # The keyboard.
    window.focus("check box", "Bread")
    window.key("space")
    eventually("the space bar ticks off", lambda: is_done(shared, "Bread"))
    eventually("the focus stays in the card", lambda: (item := window.focused()) and item.get_role_name() == "check box")
    first = window.titles()[0]
    window.focus("push button", f"Menu of {first}")
    window.key("Return")
    window.one("push button", "Move back")
    window.focus("push button", "Move back")
    window.key("Return")
    eventually("the card is the second", lambda: window.titles()[1:2] == [first])
    window.focus("push button", f"Menu of {first}")
    window.key("Return")
    window.focus("push button", "Remove")
    window.key("Return")
    eventually("the card is gone", lambda: first not in window.titles() and len(window.titles()) == 3)
    window.focus("push button", "Add a widget", "shift+Tab")
    window.key("Return")
    choice = eventually("the removed widget is offered", lambda: [
        item for item in window.all("push button") if item.get_name() in titles])[-1].get_name()
    window.focus("push button", choice)
    window.key("Return")
    eventually("the card is back", lambda: len(window.titles()) == 4)
    holds("by the keyboard alone: ticked off, moved, removed and added again")

    # Sizes.
    for width in 240, 420, 800, 1600:
        window.resize(width, 640)
        check_within(window, width)
        keep(f"window-{width}", settled(), window.frame())
    holds("from 240 to 1,600 pixels, each card is wholly within the window, and none covers another")

    # Dark.
    window.resize(420, 640)
    light = brightness(settled(), window.frame())
    desktop.prefer(1)
    eventually("the window is dark", lambda: brightness(picture(), window.frame()) < 0.4)
    keep("window-dark", settled(), window.frame())
    desktop.prefer(0)
    eventually("the window is light again", lambda: abs(brightness(picture(), window.frame()) - light) < 0.1)
    holds("dark and light, as the desktop says")

    # Minimized, as a window manager tells it.
    eventually("four processes", lambda: len(children(window.process.pid)) == 4)
    processes = children(window.process.pid)
    run("xprop", "-id", str(window.number), "-f", "_NET_WM_STATE", "32a", "-set", "_NET_WM_STATE", "_NET_WM_STATE_HIDDEN")
    eventually("the widgets of a minimized window are stopped", lambda: all(state(process) == "T" for process in processes))
    run("todo", "--group", str(shared), "add", "Salt")
    run("xprop", "-id", str(window.number), "-remove", "_NET_WM_STATE")
    eventually("they go on", lambda: all(state(process) in "SRD" for process in processes))
    window.one("check box", "Salt")
    holds("the widgets of a minimized window are stopped; once it is back, it shows what has changed")

    check_idle(window)
    window.end()
    holds("Ctrl-Q ends it with status 0, and its widgets with it")

    window = Window("large", widgets, shared, text=2.0)
    eventually("four cards", lambda: len(window.cards()) == 4)
    for width in 240, 420, 1600:
        window.resize(width, 640)
        check_within(window, width)
        keep(f"window-large-{width}", settled(), window.frame())
    window.end()
    holds("with text of twice the size, too")


def check_idle(window):
    settled()
    # A screen reader's questions are answered first, and the scroll bar fades.
    woken = {}
    for _ in range(3):
        before = switches(window.process.pid)
        time.sleep(5)
        woken = {name: count for name, count in switches(window.process.pid).items() if count != before.get(name)}
        if not woken:
            holds("in 5 s without an event, no thread of the window is woken")
            return
    fail(f"although nothing happened, threads were woken: {woken}")
