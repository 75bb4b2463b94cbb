"""Lines on two logarithmic axes, each with its name at its end."""

import math
from dataclasses import dataclass, field

from .svg import Svg

LEFT, TOP, BOTTOM, NAMES = 62, 98, 56, 200


@dataclass
class Series:
    name: str
    color: str
    dashes: str = ""
    points: list[tuple[float, float]] = field(default_factory=list)


@dataclass
class Panel:
    """A panel. `x` is its left edge in the picture; `width` includes the names at its right."""

    x: float
    width: float
    title: str
    label: str
    series: list[Series]


def decades(values: list[float]) -> tuple[int, int]:
    """The powers of ten around the values, at least one decade apart."""
    low, high = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
    return low, max(high, low + 1)


def short(value: float) -> str:
    """1,000 as 1 k, 0.01 as it is."""
    for unit, name in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def spread(places: list[float], distance: float, low: float, high: float) -> list[float]:
    """The places, moved apart where they are too close to be read, in the same order and within the bounds."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    moved = list(places)
    previous = low - distance
    for index in order:
        moved[index] = previous = max(moved[index], previous + distance)
    following = high + distance
    for index in reversed(order):
        moved[index] = following = min(moved[index], following - distance)
    return moved


def draw(svg: Svg, panel: Panel, ys: tuple[int, int], unit: str) -> None:
    shown = [series for series in panel.series if series.points]
    xs = decades([x for series in shown for x, _ in series.points])
    left, right = panel.x + LEFT, panel.x + panel.width - NAMES
    top, bottom = TOP, svg.height - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - xs[0]) / (xs[1] - xs[0])
        up = (math.log10(y) - ys[0]) / (ys[1] - ys[0])
        return left + across * (right - left), bottom - up * (bottom - top)

    svg.text(left, TOP - 18, panel.title, "ink", size=14, is_bold=True)
    for power in range(ys[0], ys[1] + 1):
        _, y = place(10 ** xs[0], 10.0**power)
        svg.line([(left, y), (right, y)], "grid")
        svg.text(left - 8, y + 4, short(10.0**power), anchor="end")
    for power in range(xs[0], xs[1] + 1):
        x, _ = place(10.0**power, 10.0 ** ys[0])
        svg.line([(x, bottom), (x, bottom + 5)], "faint")
        svg.text(x, bottom + 20, short(10.0**power), anchor="middle")
    svg.line([(left, bottom), (right, bottom)], "faint")
    svg.text((left + right) / 2, bottom + 42, panel.label, anchor="middle")
    svg.text(panel.x + 14, (top + bottom) / 2, unit, anchor="middle", turned=True)
    for series in shown:
        svg.line([place(x, y) for x, y in series.points], series.color, 2, series.dashes)
        for x, y in series.points:
            svg.dot(*place(x, y), series.color, f"{series.name}: {y:.3g} {unit} at {x:,.0f} {panel.label}")
    ends = [place(*series.points[-1]) for series in shown]
    heights = spread([y for _, y in ends], 16, top, bottom)
    for series, (x, y), height in zip(shown, ends, heights):
        # A line from the curve's end to its name, where they are not beside each other.
        svg.line([(x + 6, y), (right + 10, height), (right + 14, height)], series.color, 0.75)
        svg.text(right + 18, height + 4, series.name, "ink")


def picture(title: str, subtitle: str, panels: list[Panel], unit: str) -> str:
    """All panels have the same vertical axis."""
    values = [y for panel in panels for series in panel.series for _, y in series.points]
    svg = Svg(int(max(panel.x + panel.width for panel in panels)), 480, title, subtitle)
    svg.text(20, 28, title, "ink", size=17, is_bold=True)
    svg.text(20, 48, subtitle)
    for panel in panels:
        draw(svg, panel, decades(values), unit)
    return svg.document()
