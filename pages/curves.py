"""Curves over steps, such as losses of a training, as an SVG picture with a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .markup import element
from .svg import number, picture, text

WIDTH, HEIGHT = 720.0, 320.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 220.0, 52.0, 44.0
COLOURS = ("mark", "bad", "good", "soft")
"""Colours of the theme, in turn."""


def curves(series: Mapping[str, Sequence[float]], title: str, x_label: str, y_label: str) -> str:
    """The SVG of these curves, each with its name and its last value; what is not above 0 or not finite is left out."""
    points = {name: _finite(values) for name, values in series.items()}
    every = [value for found in points.values() for _, value in found]
    low, high = _decades(every)
    last = max((len(values) - 1 for values in series.values()), default=0) or 1

    def place(step: int, value: float) -> tuple[float, float]:
        across = (WIDTH - LEFT - RIGHT) * step / last
        up = (HEIGHT - TOP - BOTTOM) * (math.log10(value) - low) / (high - low)
        return LEFT + across, HEIGHT - BOTTOM - up

    content = [text(title, LEFT, 20), *_axes(low, high, last, x_label, y_label)]
    names: list[float] = []
    for k, (name, found) in enumerate(points.items()):
        if not found:
            continue
        path = " ".join(f"{number(x)},{number(y)}" for x, y in (place(*point) for point in found))
        colour = f"var(--{COLOURS[k % len(COLOURS)]})"
        content.append(element("polyline", points=path, style=f"fill:none;stroke:{colour};stroke-width:1.8"))
        x, y = place(*found[-1])
        y = _free(y, names)
        names.append(y)
        content.append(text(f"{name} {found[-1][1]:.3g}", x + 6, y + 4))
    return picture(content, WIDTH, HEIGHT, title)


def _finite(values: Sequence[float]) -> list[tuple[int, float]]:
    return [(step, float(v)) for step, v in enumerate(values) if math.isfinite(v) and v > 0]


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """The exponents between which the scale runs."""
    if not values:
        return 0.0, 1.0
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return float(low), float(high if high > low else low + 1)


def _axes(low: float, high: float, last: int, x_label: str, y_label: str) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    lines = []
    for exponent in range(int(low), int(high) + 1):
        y = bottom - (bottom - TOP) * (exponent - low) / (high - low)
        lines.append(element("line", x1=number(LEFT), x2=number(right), y1=number(y), y2=number(y), class_="grid"))
        lines.append(text(f"{10.0**exponent:g}", LEFT - 8, y + 4, "small", "end"))
    for share in (0.0, 0.5, 1.0):
        x = LEFT + (right - LEFT) * share
        lines.append(text(f"{round(last * share):,}", x, bottom + 18, "small", "middle"))
    lines.append(text(x_label, (LEFT + right) / 2, HEIGHT - 8, "small", "middle"))
    return [*lines, text(y_label, LEFT, TOP - 10, "small", "end")]


def _free(y: float, taken: Sequence[float]) -> float:
    """A height for a label at least 15 pixels from all others, at or above `y`."""
    while any(abs(y - other) < 15 for other in taken):
        y -= 15
    return y
