"""One call across threads: the nodes on the thread of the caller, and below it when each thread took part in them."""

from __future__ import annotations

from collections.abc import Sequence

from ..record import record
from .markup import element, escaped
from .svg import CHARACTER, number, picture, shortened, text
from .tables import seconds

_LEFT, _TOP, _ROW, _BAR = 90.0, 26.0, 30.0, 22.0
_LEAST, _MOST, _READABLE = 1_000.0, 12_000.0, 10.0
"""Widths of the picture, and the width that half of the bars should have."""
_TICK = 130.0


@record
class Bar:
    """A piece of a thread's work, in seconds from the begin of the call."""

    name: str
    begin: float
    end: float
    kind: str = "elementwise"
    title: str = ""


@record
class Lane:
    """A row: its name and its bars."""

    name: str
    bars: tuple[Bar, ...]


def threads(lanes: Sequence[Lane], total: float, title: str = "one call", *, style: bool = True) -> str:
    """The SVG text; it is wider the shorter the bars are."""
    bars = sorted(bar.end - bar.begin for lane in lanes for bar in lane.bars)
    if not bars or total <= 0:
        return picture([text("nothing ran", 14, 24, "small")], 220, 40, title, style=style)
    usual = max(bars[len(bars) // 2], total / _MOST)
    width = min(_MOST, max(_LEAST, _READABLE * total / usual))
    height = _TOP + _ROW * len(lanes) + 8
    ticks = max(1, int(width / _TICK))
    ruler = [_tick(k / ticks, total, width, height) for k in range(ticks + 1)]
    rows = [_lane(n, lane, width / total) for n, lane in enumerate(lanes)]
    return picture([*ruler, *rows], _LEFT + width + 40, height, title, style=style)


def _lane(n: int, lane: Lane, scale: float) -> str:
    y = _TOP + _ROW * n
    name = text(lane.name, _LEFT - 8, y + 15, "end")
    return name + "".join(_bar(bar, y, scale) for bar in lane.bars)


def _bar(bar: Bar, y: float, scale: float) -> str:
    x, width = _LEFT + bar.begin * scale, (bar.end - bar.begin) * scale
    room = int((width - 6) / CHARACTER)
    label = [text(shortened(bar.name, room), x + 3, y + 15)] if room >= 5 else []
    message = f"{bar.title or bar.name}\n{seconds(bar.end - bar.begin)}, from {seconds(bar.begin)}"
    rect = element("rect", class_=bar.kind, x=number(x), y=number(y), width=number(max(width, 0.7)),
                   height=number(_BAR), rx=2)  # fmt: skip
    return element("g", [element("title", escaped(message)), rect, *label], class_="box")


def _tick(part: float, total: float, width: float, height: float) -> str:
    x = _LEFT + width * part
    line = element("line", class_="grid", x1=number(x), y1=18, x2=number(x), y2=number(height))
    return line + text(seconds(total * part), x, 14, "small", "middle")
