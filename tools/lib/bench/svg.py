"""A small writer of SVG, as far as plots need it, in colors for light and for dark screens."""

from xml.sax.saxutils import escape

# The colors by name: on light, and on dark.
COLORS = {
    "surface": ("#fcfcfb", "#1a1a19"),
    "ink": ("#0b0b0b", "#ffffff"),
    "faint": ("#52514e", "#c3c2b7"),
    "grid": ("#e1e0d9", "#2c2c2a"),
    "blue": ("#2a78d6", "#3987e5"),
    "orange": ("#eb6834", "#d95926"),
    "aqua": ("#1baf7a", "#199e70"),
    "violet": ("#4a3aa7", "#9085e9"),
}


class Svg:
    """Coordinates are from the upper left. Colors are given by name."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self.width, self.height, self.title, self.description = width, height, title, description
        self.parts: list[str] = []

    def line(self, points: list[tuple[float, float]], color: str, width: float = 1, dashes: str = "") -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        style = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<polyline class="line {color}" stroke-width="{width}"{style} points="{path}"/>')

    def dot(self, x: float, y: float, color: str, tip: str) -> None:
        text = f"<title>{escape(tip)}</title>"
        self.parts.append(f'<circle class="dot {color}" cx="{x:.1f}" cy="{y:.1f}" r="4">{text}</circle>')

    def text(
        self, x: float, y: float, text: str, color: str = "faint", anchor: str = "start", size: int = 12,
        is_bold: bool = False, turned: bool = False,
    ) -> None:  # fmt: skip
        more = ' font-weight="600"' if is_bold else ""
        more += f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
        place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
        self.parts.append(f'<text class="{color}" {place}{more}>{escape(text)}</text>')

    def document(self) -> str:
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" role="img"'
        return "\n".join([
            f'{head} width="{self.width}" height="{self.height}" aria-labelledby="title description">',
            f'<title id="title">{escape(self.title)}</title>',
            f'<desc id="description">{escape(self.description)}</desc>',
            "<style>",
            "text { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif }",
            ".line { fill: none; stroke-linejoin: round; stroke-linecap: round }",
            *rules(0),
            "@media (prefers-color-scheme: dark) {",
            *rules(1),
            "}",
            "</style>",
            # A background of its own, because the page may have the other kind.
            f'<rect class="surface" width="{self.width}" height="{self.height}"/>',
            *self.parts,
            "</svg>",
            "",
        ])  # fmt: skip


def rules(kind: int) -> list[str]:
    rules = []
    for name, colors in COLORS.items():
        rules.append(f".{name} {{ fill: {colors[kind]} }} .line.{name} {{ fill: none; stroke: {colors[kind]} }}")
    return [*rules, f".dot {{ stroke: {COLORS['surface'][kind]}; stroke-width: 2 }}"]
