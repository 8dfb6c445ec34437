"""Roofline plot: GFLOP/s of each kernel over arithmetic intensity, both logarithmic, below the machine's peaks.

The roof is min(peak, bandwidth x intensity) (Williams, Waterman and Patterson, "Roofline", 2009).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..record import record
from .markup import element, escaped
from .svg import SMALL_CHARACTER, number, picture, shortened, text

_WIDTH, _HEIGHT = 720.0, 380.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 24.0, 24.0, 44.0
_LABELLED, _LONGEST = 18, 32
_LIST, _LINE = 320.0, 18.0
"""Width of the list beside the plot, height of its lines."""

Room = tuple[float, float, float, float]
"""Left, top, right, bottom of an occupied rectangle."""


@record
class Kernel:
    """One kernel: what it computes, operations done and bytes moved a second, the part of the time it took (0 to 1)."""

    name: str
    gflops: float
    gigabytes: float
    share: float = 0.0
    kind: str = "fused"
    function: str = ""
    """Its name in the C."""


class _Scale:
    """Decades on a stretch of pixels."""

    def __init__(self, low: float, high: float, begin: float, end: float) -> None:
        self.low, self.high = math.floor(math.log10(low)), math.ceil(math.log10(high))
        self.high = max(self.high, self.low + 1)
        self.begin, self.end = begin, end

    def __call__(self, value: float) -> float:
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + min(max(part, 0.0), 1.0) * (self.end - self.begin)

    @property
    def decades(self) -> list[float]:
        return [10.0**exponent for exponent in range(self.low, self.high + 1)]


def roofline(
    kernels: Sequence[Kernel], bandwidth: float, peak: float, title: str = "roofline", *, style: bool = True
) -> str:
    """The SVG text of a roofline plot; `bandwidth` in GB/s, `peak` in GFLOP/s.

    Kernels that do no arithmetic stand at the left edge, as high as what they move would allow.
    """
    ridge = peak / bandwidth
    moving = [k for k in kernels if k.gigabytes > 0]
    intensities = [k.gflops / k.gigabytes for k in moving if k.gflops > 0] + [ridge]
    x = _Scale(min([*intensities, 0.1]) / 1.5, max(intensities) * 4, _LEFT, _WIDTH - _RIGHT)
    lowest = 10.0**x.low
    heights = [max(k.gflops, lowest * k.gigabytes) for k in moving] + [peak, bandwidth * lowest]
    y = _Scale(min(heights) / 1.5, max(heights) * 1.2, _HEIGHT - _BOTTOM, _TOP)
    corner, begin = (x(ridge), y(peak)), (x(lowest), y(max(bandwidth * lowest, 10.0**y.low)))
    roof = f"M{number(begin[0])} {number(begin[1])}L{number(corner[0])} {number(corner[1])}H{number(x.end)}"
    ranked = sorted(moving, key=lambda k: (-k.share, k.name))
    peak_text, rate_text = f"{peak:.3g} GFLOP/s", f"{bandwidth:.3g} GB/s"
    full = [_room(peak_text, x.end - 4, corner[1] - 6, -1.0)]
    full += [*_along(begin, corner), *_along(corner, (x.end, corner[1]))]
    rate = _beside((begin[0] + corner[0]) / 2, (begin[1] + corner[1]) / 2, 4, rate_text, full, x, y)
    full += [rate]
    named = [text(peak_text, x.end - 4, corner[1] - 6, "small", "end"), text(rate_text, rate[0], rate[3] - 3, "small")]
    dots = [_dot(k, x, y, lowest) for k in ranked]
    labels = _numbers(ranked, x, y, lowest, full)
    line = element("path", class_="roof", d=roof)
    listed = _list(ranked)
    return picture([*_axes(x, y), line, *named, *dots, *labels, *listed], _WIDTH + _LIST, _HEIGHT, title, style=style)


def _list(ranked: Sequence[Kernel]) -> Iterator[str]:
    """Legend of the numbered dots: share of the time and computation."""
    for n, kernel in enumerate(ranked[:_LABELLED], 1):
        base = _TOP + _LINE * n
        share = f"{100 * kernel.share:.1f} %" if kernel.share < 0.1 else f"{100 * kernel.share:.0f} %"
        message = element("title", escaped(_title_of(kernel)))
        words = [text(str(n), _WIDTH + 18, base, "end"), text(share, _WIDTH + 66, base, "small", "end")]
        yield element("g", [message, *words, text(shortened(kernel.name, _LONGEST), _WIDTH + 76, base)])
    if len(ranked) > _LABELLED:
        more = f"and {len(ranked) - _LABELLED} more, without numbers"
        yield text(more, _WIDTH + 76, _TOP + _LINE * (_LABELLED + 1), "small")


def _axes(x: _Scale, y: _Scale) -> list[str]:
    lines = []
    for value in x.decades:
        at = x(value)
        lines.append(element("line", class_="grid", x1=number(at), x2=number(at), y1=number(y.end), y2=number(y.begin)))
        lines.append(text(f"{value:g}", at, y.begin + 16, "small", "middle"))
    for value in y.decades:
        at = y(value)
        lines.append(element("line", class_="grid", x1=number(x.begin), x2=number(x.end), y1=number(at), y2=number(at)))
        lines.append(text(f"{value:g}", x.begin - 6, at + 4, "small", "end"))
    lines.append(text("operations a byte", (x.begin + x.end) / 2, y.begin + 34, "small", "middle"))
    lines.append(text("GFLOP/s", x.begin - 50, y.end - 12, "small"))
    return lines


def _place(kernel: Kernel, x: _Scale, y: _Scale, lowest: float) -> tuple[float, float]:
    intensity = max(kernel.gflops / kernel.gigabytes, lowest)
    return x(intensity), y(max(kernel.gflops, intensity * kernel.gigabytes))


def _dot(kernel: Kernel, x: _Scale, y: _Scale, lowest: float) -> str:
    cx, cy = _place(kernel, x, y, lowest)
    return element("g", [element("title", escaped(_title_of(kernel))), element(
        "circle", class_=f"dot {kernel.kind}", cx=number(cx), cy=number(cy), r=number(_radius(kernel)))])  # fmt: skip


def _title_of(kernel: Kernel) -> str:
    rates = f"{kernel.gflops:.3g} GFLOP/s, {kernel.gigabytes:.3g} GB/s"
    function = f"\n{kernel.function}" if kernel.function else ""
    return f"{kernel.name}: {rates}, {100 * kernel.share:.1f} % of the time{function}"


def _radius(kernel: Kernel) -> float:
    return 4 + 8 * math.sqrt(max(kernel.share, 0.0))


def _room(label: str, at: float, base: float, side: float = 1.0) -> Room:
    """Rectangle of a small label that begins at `at`, ends there (`side` -1) or is centred there (0)."""
    width = len(label) * SMALL_CHARACTER
    left = at - width * (1 - side) / 2
    return left, base - 9, left + width, base + 3


def _numbers(ranked: Sequence[Kernel], x: _Scale, y: _Scale, lowest: float, taken: Sequence[Room]) -> Iterator[str]:
    """The numbers of the kernels that take longest, each near its dot where nothing else is."""
    full = list(taken)
    for kernel in ranked:
        (cx, cy), r = _place(kernel, x, y, lowest), _radius(kernel)
        full.append((cx - r, cy - r, cx + r, cy + r))
    for n, kernel in enumerate(ranked[:_LABELLED], 1):
        (cx, cy), r = _place(kernel, x, y, lowest), _radius(kernel)
        room = _beside(cx, cy, r, str(n), full, x, y)
        full.append(room)
        middle = (room[0] + room[2]) / 2, (room[1] + room[3]) / 2
        if math.dist(middle, (cx, cy)) > r + 16:  # a dot stands between: a line says whose number it is
            ends = {"x1": number(cx), "y1": number(cy), "x2": number(middle[0]), "y2": number(middle[1])}
            yield element("line", class_="axis", **ends)
        yield text(str(n), room[0], room[3] - 3, "small")


def _beside(cx: float, cy: float, r: float, label: str, full: Sequence[Room], x: _Scale, y: _Scale) -> Room:
    """The nearest free room for a label around a point; the nearest of all if none is free."""
    width = len(label) * SMALL_CHARACTER
    rooms = []
    for away in range(int(r) + 3, int(r) + 90, 6):
        for turn in range(16):
            angle = turn * math.pi / 8
            middle_x = cx + (away + width / 2) * math.cos(angle)
            middle_y = cy - (away + 6) * math.sin(angle)
            rooms.append((middle_x - width / 2, middle_y - 6, middle_x + width / 2, middle_y + 6))
    return next((room for room in rooms if _is_free(room, full, x, y)), rooms[0])


def _along(begin: tuple[float, float], end: tuple[float, float]) -> list[Room]:
    """Small rooms that cover a straight line."""
    steps = max(1, int(math.dist(begin, end) / 4))
    points = [
        (begin[0] + (end[0] - begin[0]) * k / steps, begin[1] + (end[1] - begin[1]) * k / steps)
        for k in range(steps + 1)
    ]
    return [(px - 3, py - 3, px + 3, py + 3) for px, py in points]


def _is_free(room: Room, full: Sequence[Room], x: _Scale, y: _Scale) -> bool:
    left, top, right, bottom = room
    if left < x.begin or right > x.end or top < y.end or bottom > y.begin:
        return False
    return not any(left < r and l < right and top < b and t < bottom for l, t, r, b in full)
