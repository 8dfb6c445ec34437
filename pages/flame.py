"""Flame graph of times, from the whole down to its parts, with the root at the top (an icicle plot).

Widths are times; what is too narrow to be seen is left out, and every box says its time and share when hovered over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..record import record
from .markup import element, escaped
from .svg import CHARACTER, number, picture, shortened, text
from .tables import seconds

_WIDTH, _ROW, _MARGIN = 900.0, 24.0, 10.0
_NARROWEST = 1.5
_COLOURS = ("fused", "elementwise", "reduction", "index", "product", "other")


@record
class Flame:
    """A part of the time and, inside it, its own parts."""

    name: str
    seconds: float
    parts: tuple[Flame, ...] = ()


def flame(root: Flame, title: str = "where the time went", *, style: bool = True) -> str:
    """The SVG text of a flame graph."""
    width = _WIDTH - 2 * _MARGIN
    shown = list(_laid(root, width))
    depth = max(level for _, level, _, _ in shown) + 1
    content = [_one(part, level, left, wide, root.seconds) for part, level, left, wide in shown]
    return picture(content, _WIDTH, depth * _ROW + 2 * _MARGIN, title, style=style)


def _laid(root: Flame, width: float) -> Iterator[tuple[Flame, int, float, float]]:
    """(part, level, left, width) of each part that can be seen."""
    scale = width / root.seconds if root.seconds else 0.0
    stack: list[tuple[Flame, int, float, float]] = [(root, 0, 0.0, width)]
    while stack:
        part, level, left, wide = stack.pop()
        yield part, level, left, wide
        inside = sum(p.seconds for p in part.parts)
        shrink = min(1.0, wide / (inside * scale)) if inside * scale else 0.0  # clocks may say that parts exceed it
        for inner in _ordered(part.parts):
            share = inner.seconds * scale * shrink
            if share >= _NARROWEST:
                stack.append((inner, level + 1, left, share))
            left += share


def _ordered(parts: Sequence[Flame]) -> list[Flame]:
    return sorted(parts, key=lambda part: (-part.seconds, part.name))


def _one(part: Flame, level: int, left: float, wide: float, total: float) -> str:
    x, y = _MARGIN + left, _MARGIN + level * _ROW
    share = 100 * part.seconds / total if total else 0.0
    label = f"{part.name}: {seconds(part.seconds)}, {share:.1f} %"
    room = int((wide - 8) / CHARACTER)
    return element("g", [
        element("title", escaped(label)),
        element("rect", class_=_COLOURS[level % len(_COLOURS)], x=number(x), y=number(y),
                width=number(max(wide - 1, 0.5)), height=number(_ROW - 2), rx=2),
        *([text(shortened(part.name, room), x + 4, y + 15)] if room >= 3 else []),
    ], class_="box")  # fmt: skip
