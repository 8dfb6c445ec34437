"""Bars of one number each, such as the error of each layer, as an SVG picture."""

from __future__ import annotations

from collections.abc import Sequence

from .markup import element
from .svg import number, picture, shortened, text

WIDTH, LEFT, RIGHT, TOP, ROW = 720.0, 190.0, 90.0, 36.0, 22.0


def bars(rows: Sequence[tuple[str, float, str]], title: str) -> str:
    """The SVG of rows (name, number that is not negative, colour of the theme: "mark", "good", "bad" or "soft")."""
    height = TOP + ROW * len(rows) + 12
    largest = max((value for _, value, _ in rows), default=0.0) or 1.0
    content = [text(title, 12, 22)]
    for k, (name, value, colour) in enumerate(rows):
        y, length = TOP + ROW * k, (WIDTH - LEFT - RIGHT) * value / largest
        content.append(text(shortened(name, 24), 12, y + 14))
        size = {"width": number(max(length, 1)), "height": number(ROW - 8)}
        content.append(element("rect", x=number(LEFT), y=number(y + 3), **size, style=f"fill:var(--{colour})"))
        content.append(text(f"{value:.3g}", LEFT + max(length, 1) + 6, y + 14))
    return picture(content, WIDTH, height, title)
