"""Records fifty writers that add to one number, in a plain file, under flock(1) and in a container, and draws the record as a
film.

usage: python3 -m drawings.writers FILE

groupctl has to be in PATH. The kinds are started one after the other, as real processes of a shell; what is drawn is what was
read of their files meanwhile.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

from bench.svg import Svg

WRITERS, ADDITIONS = 50, 20
ALL = WRITERS * ADDITIONS
LIMIT = 300  # seconds
PLAIN = "n=$(cat n.txt); echo $((n + 1)) >n.txt"
FLOCK = f"flock n.lock sh -c '{PLAIN}'"
COORDINATED = "groupctl update ./ n.txt -- awk '{ print $1 + 1 }'"
BESIDE_FLOCK = (
    "Beside flock(2), a container adds that no reader finds a file half written, waiters are served in turn, a change is on the disk",
    "when the call returns, and every follower gets each change, in order and with its author.",
)
FRAMES, SECONDS, HOLD = 40, 8.0, 5.0
WIDTH, GAP, ROW = 300, 20, 18


def loop(step: str, number: int) -> list[str]:
    """A shell that begins when its input ends."""
    script = f"read -r _; for i in $(seq {ADDITIONS}); do {step}; echo >>done.{number}; done"
    return ["bash", "-c", script]


def record(step: str, directory: pathlib.Path) -> tuple[float, list[tuple[float, int, int | None]], list[float]]:
    """Runs the writers. Returns the seconds, what was seen (seconds, additions made, number in the file, None where it was
    empty), and when each writer had ended."""
    reading, writing = os.pipe()
    writers = [
        subprocess.Popen(loop(step, number), cwd=directory, stdin=reading, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for number in range(WRITERS)
    ]
    os.close(reading)
    for number in range(WRITERS):
        (directory / f"done.{number}").touch()
    began = time.monotonic()
    os.close(writing)
    seen: list[tuple[float, int, int | None]] = []
    ends: dict[int, float] = {}
    while len(ends) < WRITERS:
        now = time.monotonic() - began
        if now > LIMIT:
            for writer in writers:
                writer.kill()
            sys.exit(f"the writers did not end within {LIMIT} s")
        for number, writer in enumerate(writers):
            if number not in ends and writer.poll() is not None:
                ends[number] = now
        seen.append((now, made(directory), value(directory)))
        time.sleep(0.01)
    last = time.monotonic() - began
    seen.append((last, made(directory), value(directory)))
    return last, seen, [ends[number] for number in range(WRITERS)]


def made(directory: pathlib.Path) -> int:
    return sum((directory / f"done.{number}").stat().st_size for number in range(WRITERS))


def value(directory: pathlib.Path) -> int | None:
    """The number in the file; None where the file is empty at this moment."""
    text = (directory / "n.txt").read_text(encoding="ascii").strip()
    return int(text) if text.isdigit() else None


class Panel:
    """One third of the film."""

    def __init__(self, svg: Svg, left: float, title: str, code: str, film: float, step: str, directory: pathlib.Path) -> None:
        self.svg, self.left, self.film = svg, left, film
        self.seconds, self.seen, self.ends = record(step, directory)
        svg.text(left, 34, title, "ink", size=17, is_bold=True)
        svg.text(left, 56, code, "faint", size=10)

    def moment(self, frame: int, longest: float) -> tuple[int, int]:
        """The additions that were made, and the number that the file had last."""
        at = longest * frame / (FRAMES - 1)
        seen = [entry for entry in self.seen if entry[0] <= at or entry is self.seen[0]]
        return seen[-1][1], next((number for _, _, number in reversed(seen) if number is not None), 0)

    def draw(self, longest: float, color: str) -> None:
        svg, left = self.svg, self.left
        for number, end in enumerate(self.ends):
            x, y = left + number % ROW * 16.5, 72 + number // ROW * 17
            frame = min(FRAMES - 1, int(end / longest * FRAMES))
            svg.parts.append(f'<rect class="grid" x="{x}" y="{y}" width="13" height="13" rx="3"/>')
            svg.parts.append(
                f'<rect class="{color} after{frame}" x="{x}" y="{y}" width="13" height="13" rx="3"/>')
        svg.text(left, 152, "additions made", size=13)
        svg.text(left, 202, "number in the file", size=13)
        for y in (160, 210):
            svg.parts.append(f'<rect class="grid" x="{left}" y="{y}" width="{WIDTH}" height="16" rx="4"/>')
        for frame in range(FRAMES):
            additions, number = self.moment(frame, longest)
            svg.parts.append(frame_group(frame))
            for y, count, name in ((160, additions, "faint"), (210, number, color)):
                width = WIDTH * min(count, ALL) / ALL
                svg.parts.append(f'<rect class="{name}" x="{left}" y="{y}" width="{width:.1f}" height="16" rx="4"/>')
                svg.text(left + WIDTH, y - 8, f"{count:,}", "ink", "end", 15, True)
            svg.parts.append("</g>")
        lost = ALL - self.moment(FRAMES - 1, longest)[1]
        verdict = f"{lost:,} of {ALL:,} are lost" if lost else f"all {ALL:,} are there"
        empty = sum(number is None for _, _, number in self.seen)
        reads = f"{empty:,} of {len(self.seen):,} reads found the file empty" if empty else f"{len(self.seen):,} reads found a whole file"
        svg.parts.append(frame_group(FRAMES - 1))
        svg.text(left, 254, f"{verdict}, after {self.seconds:.1f} s", color, size=15, is_bold=True)
        svg.text(left, 274, reads, color, size=13)
        svg.parts.append("</g>")


def frame_group(frame: int) -> str:
    return f'<g class="after{FRAMES - 1}">' if frame == FRAMES - 1 else f'<g class="frame frame{frame}">'


def style() -> str:
    """Each frame is seen for its time; the last one, and writers that have ended, until the film begins again."""
    film = SECONDS + HOLD
    share = 100 * SECONDS / FRAMES / film
    lines = [
        "<style>",
        f".frame {{ visibility: hidden; animation: frame {film}s step-end infinite }}",
        f"@keyframes frame {{ 0% {{ visibility: visible }} {share:.3f}% {{ visibility: hidden }} }}",
    ]
    for frame in range(FRAMES):
        begin = f"{share * frame:.3f}%"
        lines += [
            f".frame{frame} {{ animation-delay: {SECONDS * frame / FRAMES:.2f}s }}",
            f".after{frame} {{ animation: after{frame} {film}s step-end infinite }}",
            f"@keyframes after{frame} {{ 0% {{ visibility: {'hidden' if frame else 'visible'} }} {begin} {{ visibility: visible }} }}",
        ]
    # Where no motion is wanted, the end is shown.
    lines += ["@media (prefers-reduced-motion: reduce) { * { animation: none !important } }", "</style>"]
    return "\n".join(lines)


def main() -> None:
    svg = Svg(
        980, 340, "Fifty writers that add to one number",
        "At the left, in a plain file: most additions are lost. In the middle, under flock(1), and at the right, in a group "
        "container, each one is there. "
        + " ".join(BESIDE_FLOCK))
    svg.parts.append(style())
    with tempfile.TemporaryDirectory() as scratch:
        plain, locked, shared = (pathlib.Path(scratch, name) for name in ("plain", "locked", "shared"))
        plain.mkdir()
        locked.mkdir()
        subprocess.run(["groupctl", "create", str(shared)], check=True, stdout=subprocess.DEVNULL)
        for directory in (plain, locked, shared):
            (directory / "n.txt").write_text("0\n", encoding="ascii")
        panels = [
            Panel(svg, 20, "50 writers, a plain file", PLAIN, SECONDS, PLAIN, plain),
            Panel(svg, 20 + WIDTH + GAP, "50 writers, flock(1)", "the same, under flock n.lock sh -c", SECONDS, FLOCK, locked),
            Panel(svg, 20 + 2 * (WIDTH + GAP), "50 writers, a group container", COORDINATED, SECONDS, COORDINATED, shared),
        ]
    longest = max(panel.seconds for panel in panels)
    for panel, color in zip(panels, ("orange", "blue", "aqua")):
        panel.draw(longest, color)
    for line, text in enumerate(BESIDE_FLOCK):
        svg.text(20, 306 + 18 * line, text)
    pathlib.Path(sys.argv[1]).write_text(svg.document(), encoding="utf-8")


main()
