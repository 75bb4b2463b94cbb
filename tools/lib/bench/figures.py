"""Numbers from samples, and their texts."""

Cell = float | int | str | None


def percentile(samples: list[float], percent: float) -> float | None:
    """A percentile, by the nearest rank; None without samples."""
    if not samples:
        return None
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def median(samples: list[float]) -> float | None:
    return percentile(samples, 50)


def ratio(number: Cell, base: Cell) -> float | None:
    if not isinstance(number, (int, float)) or not isinstance(base, (int, float)) or base <= 0:
        return None
    return number / base


def written(cell: Cell) -> str:
    """Three digits of a fraction, all digits of a count."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if cell >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.1f}" if cell >= 10 else f"{cell:.2f}"
