"""Draws what takes part: an app, a container with its items and its journal, widgets and followers.

usage: python3 -m drawings.parts FILE
"""

import pathlib
import sys

from bench.svg import Svg

WIDTH, HEIGHT = 900, 380


class Drawing(Svg):
    def box(self, x: float, y: float, width: float, height: float, color: str, title: str, *lines: str) -> None:
        self.parts.append(
            f'<rect class="surface" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>'
            f'<rect class="line {color}" stroke-width="1.5" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>')
        self.text(x + 14, y + 24, title, "ink", size=14, is_bold=True)
        for number, line in enumerate(lines):
            self.text(x + 14, y + 43 + 17 * number, line, size=12)

    def arrow(self, points: list[tuple[float, float]], color: str, text: str = "", at: tuple[float, float] = (0, 0)) -> None:
        self.line(points, color, 2)
        (x0, y0), (x, y) = points[-2:]
        length = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5
        along, across = ((x - x0) / length, (y - y0) / length), ((y - y0) / length, (x0 - x) / length)
        corners = [(x, y)] + [(x - 9 * along[0] + side * across[0], y - 9 * along[1] + side * across[1]) for side in (-5, 5)]
        self.parts.append(f'<polygon class="{color}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in corners)}"/>')
        if text:
            self.text(at[0], at[1], text, color, "middle", 12, True)


def main() -> None:
    svg = Drawing(
        WIDTH, HEIGHT, "An app, its widgets and other programs around a group container",
        "An app writes items under a lock and records each change in the journal. Other programs write without coordination, and "
        "a follower that leads records what they did. Widgets and followers read the journal.")
    svg.box(20, 40, 190, 92, "aqua", "app", "takes a lock, writes a new", "file, renames it, records", "the change")
    svg.box(20, 246, 190, 92, "orange", "cp, sed -i, an editor", "know nothing of the", "container; inotify reports", "what they did")
    svg.box(320, 20, 260, 340, "blue", "a group container")
    svg.box(340, 60, 220, 84, "blue", "items", "todo.json · notes/ · pictures/", "whole and on the disk, or", "not there at all")
    svg.box(340, 160, 220, 116, "blue", "journal", "each change, in order: what,", "where, by which process")
    for number in range(6):
        x, color = 352 + 33 * number, "orange" if number == 4 else "aqua"
        svg.parts.append(f'<rect class="{color}" x="{x}" y="240" width="30" height="22" rx="4"/>')
        svg.text(x + 15, 255, str(1041 + number), "surface", "middle", 9, True)
    svg.box(340, 290, 220, 56, "blue", "locks · keys · messages", "released with their process")
    svg.box(690, 20, 190, 76, "violet", "widget", "refreshed: newData,", "and draws itself again")
    svg.box(690, 110, 190, 76, "violet", "another widget", "refreshed: noData,", "and sleeps on")
    svg.box(690, 200, 190, 60, "violet", "watch-group", "a line for each change")
    svg.box(690, 274, 190, 86, "violet", "a follower leads", "records what others did", "without coordination")
    svg.arrow([(210, 86), (340, 86)], "aqua", "write", (274, 80))
    svg.arrow([(210, 110), (266, 110), (266, 200), (340, 200)], "aqua", "record", (296, 193))
    svg.arrow([(210, 310), (240, 310), (240, 130), (340, 130)], "orange")
    svg.text(232, 236, "write", "orange", "end", 12, True)
    svg.arrow([(560, 200), (625, 200), (625, 58), (690, 58)], "violet")
    svg.arrow([(625, 148), (690, 148)], "violet")
    svg.arrow([(560, 226), (690, 226)], "violet", "each once", (630, 219))
    svg.arrow([(690, 318), (640, 318), (640, 256), (560, 256)], "orange", "record", (610, 250))
    pathlib.Path(sys.argv[1]).write_text(svg.document(), encoding="utf-8")


main()
