"""When each pass ran and how long it took: a row a pass, in order, with the nodes that it left."""

from __future__ import annotations

from collections.abc import Sequence

from ..record import record
from .markup import element, escaped
from .svg import CHARACTER, number, picture, shortened, text
from .tables import seconds

_ROW, _WIDTH, _LEFT, _RIGHT = 20.0, 900.0, 230.0, 190.0
_MOST_ROWS = 60


@record
class Span:
    """A timed pass: `begin` and `duration` in seconds, `note` is written behind it."""

    name: str
    begin: float
    duration: float
    kind: str = "elementwise"
    note: str = ""


def timeline(spans: Sequence[Span], title: str = "passes over time", *, style: bool = True) -> str:
    """The SVG text of a time line; of many rows those that took longest are shown, in order."""
    if not spans:
        return picture([text("nothing ran", 14, 24, "small")], 220, 40, title, style=style)
    longest = sorted(range(len(spans)), key=lambda k: (-spans[k].duration, k))[:_MOST_ROWS]
    shown = [spans[k] for k in sorted(longest)]
    start = min(span.begin for span in spans)
    total = max(span.begin + span.duration for span in spans) - start or 1e-9
    room = _WIDTH - _LEFT - _RIGHT
    rows = [_row(n, span, (span.begin - start) / total * room, span.duration / total * room)
            for n, span in enumerate(shown)]  # fmt: skip
    height = 30 + _ROW * len(shown)
    ruler = [_tick(part, total, room, height) for part in range(5)]
    return picture([*ruler, *rows], _WIDTH, height + 6, title, style=style)


def _row(n: int, span: Span, left: float, width: float) -> str:
    y = 28 + _ROW * n
    note = f"{seconds(span.duration)}{'  ' + span.note if span.note else ''}"
    return element("g", [
        element("title", escaped(f"{span.name}: {note}")),
        text(shortened(span.name, int((_LEFT - 16) / CHARACTER)), _LEFT - 8, y + 10, "end"),
        element("rect", class_=span.kind, x=number(_LEFT + left), y=number(y), width=number(max(width, 1.0)),
                height=number(_ROW - 6), rx=2),
        text(note, _LEFT + left + max(width, 1.0) + 6, y + 10, "small"),
    ], class_="box")  # fmt: skip


def _tick(part: int, total: float, room: float, height: float) -> str:
    x = _LEFT + room * part / 4
    line = element("line", class_="grid", x1=number(x), y1=18, x2=number(x), y2=number(height))
    return line + text(seconds(total * part / 4), x, 14, "small", "middle")
