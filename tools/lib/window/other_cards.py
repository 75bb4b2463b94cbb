"""Fifty cards, and a widget that sends what no widget should."""

from .patience import DIRECTORY, eventually, holds
from .processes import children, state
from .screen import keep, settled, xdotool
from .widgets import BAD, WIDGET, is_done, manifest, new_container, where
from .window import Window, check_within


def check_fifty_cards():
    widgets, shared = DIRECTORY / "fifty", new_container("many", "Milk")
    program = DIRECTORY / "lines.py"
    program.write_text(WIDGET % '[{"text": "of " + os.environ["WIDGET_KIND"], "style": "normal"}] * 3')
    kinds = [f"card-{number:02}" for number in range(1, 50)]
    for kind in kinds:
        manifest(widgets, kind, f"Card {kind[5:]}", "/usr/bin/python3", str(program))
    manifest(widgets, "todo-list", "To do", where("todo-widget"), "--style", "list", "--hosted", interests=["Library/todo.json"])
    window = Window("fifty", widgets, shared, width=420)
    eventually("fifty cards", lambda: len(window.cards()) == 50)
    wanted = {f"of {kind}" for kind in kinds}
    eventually("each card has its lines", lambda: wanted <= {label.get_name() for label in window.all("label")})
    keep("window-fifty", settled(), window.frame())

    def running():
        return [process for process in children(window.process.pid) if state(process) not in ("T", "Z", None)]

    eventually("the widgets that are not in sight are stopped", lambda: len(running()) <= 20)
    visible = len(running())
    x, y, width, height = window.frame()
    xdotool("mousemove", x + width // 2, y + height // 2)
    last = window.one("check box", "Milk")

    def scroll():
        xdotool("click", 5)
        return 0 < window.place(last)[1] < height - 20

    eventually("the last card comes into sight", scroll)
    settled()
    window.click(last)
    eventually("the last card can be pressed", lambda: is_done(shared, "Milk"))
    eventually("still, few run", lambda: len(running()) <= 20)
    at_end = len(running())
    window.end()
    holds(f"fifty cards: {visible} processes run at the top, and {at_end} after scrolling to the end; the last card is pressed")


def check_bad_widget():
    widgets, shared = DIRECTORY / "bad", new_container("bad-shared", "Milk")
    program = DIRECTORY / "bad.py"
    program.write_text(WIDGET % BAD)
    manifest(widgets, "bad", "<b>Bad</b> & worse", "/usr/bin/python3", str(program))
    manifest(widgets, "todo-list", "To do", where("todo-widget"), "--style", "list", "--hosted", interests=["Library/todo.json"])
    window = Window("bad-home", widgets, shared, width=300)
    eventually("the title as it is", lambda: window.all("list item", "<b>Bad</b> & worse"))
    eventually("markup is text", lambda: window.all("label", "<b>not bold</b> &amp; <i"))
    check_within(window, 300)
    keep("window-bad", settled(), window.frame())
    window.click(window.one("check box", "Milk"))
    eventually("the other card still works", lambda: is_done(shared, "Milk"))
    window.end()
    holds("markup, control characters, long lines, lost pictures and unknown icons of a widget harm no other one")
