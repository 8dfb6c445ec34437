"""How near each kernel comes to what the machine can do: GFLOP/s over arithmetic intensity, both logarithmic.

The roof is min(peak, bandwidth x intensity) (Williams, Waterman and Patterson, "Roofline", 2009).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..record import record
from .markup import element, escaped
from .svg import SMALL_CHARACTER, number, picture, shortened, text

_WIDTH, _HEIGHT = 720.0, 380.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 24.0, 18.0, 44.0
_LABELLED, _LONGEST = 8, 28

Room = tuple[float, float, float, float]
"""Left, top, right, bottom of what is taken."""


@record
class Kernel:
    """One kernel: what it computes, operations done and bytes moved a second, the part of the time it took (0 to 1)."""

    name: str
    gflops: float
    gigabytes: float
    share: float = 0.0
    kind: str = "fused"
    function: str = ""
    """What it is called in the C."""


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
    named = [
        text(f"{peak:.3g} GFLOP/s", x.end - 4, corner[1] - 6, "small", "end"),
        text(f"{bandwidth:.3g} GB/s", begin[0] + 24, begin[1] + 2, "small"),
    ]
    dots = [_dot(k, x, y, lowest) for k in ranked]
    roofs = [_room(f"{peak:.3g} GFLOP/s", x.end - 4, corner[1] - 6, -1.0), _room("", begin[0] + 24, begin[1] + 2)]
    labels = _labels(ranked, x, y, lowest, roofs)
    line = element("path", class_="roof", d=roof)
    return picture([*_axes(x, y), line, *named, *dots, *labels], _WIDTH, _HEIGHT, title, style=style)


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
    lines.append(text("GFLOP/s", x.begin - 50, y.end - 6, "small"))
    return lines


def _place(kernel: Kernel, x: _Scale, y: _Scale, lowest: float) -> tuple[float, float]:
    intensity = max(kernel.gflops / kernel.gigabytes, lowest)
    return x(intensity), y(max(kernel.gflops, intensity * kernel.gigabytes))


def _dot(kernel: Kernel, x: _Scale, y: _Scale, lowest: float) -> str:
    cx, cy = _place(kernel, x, y, lowest)
    rates = f"{kernel.gflops:.3g} GFLOP/s, {kernel.gigabytes:.3g} GB/s"
    said = f"{kernel.name}: {rates}, {100 * kernel.share:.1f} % of the time" + f"\n{kernel.function}" * bool(
        kernel.function
    )
    return element("g", [element("title", escaped(said)), element(
        "circle", class_=f"dot {kernel.kind}", cx=number(cx), cy=number(cy), r=number(_radius(kernel)))])  # fmt: skip


def _radius(kernel: Kernel) -> float:
    return 4 + 8 * math.sqrt(max(kernel.share, 0.0))


def _room(label: str, at: float, base: float, side: float = 1.0) -> Room:
    """What a small label takes that begins at `at`, ends there (`side` -1) or has its middle there (0)."""
    width = len(label) * SMALL_CHARACTER
    left = at - width * (1 - side) / 2
    return left, base - 9, left + width, base + 3


def _labels(ranked: Sequence[Kernel], x: _Scale, y: _Scale, lowest: float, taken: Sequence[Room]) -> list[str]:
    """The names of the kernels that take longest, each beside its dot where nothing else is; none if all is taken."""
    full, found = list(taken), []
    for kernel in ranked:
        (cx, cy), r = _place(kernel, x, y, lowest), _radius(kernel)
        full.append((cx - r, cy - r, cx + r, cy + r))
    for kernel in ranked[:_LABELLED]:
        (cx, cy), r, label = _place(kernel, x, y, lowest), _radius(kernel), shortened(kernel.name, _LONGEST)
        beside = (
            (1.0, cy + 3),
            (-1.0, cy + 3),
            (0.0, cy - r - 5),
            (0.0, cy + r + 12),
            (1.0, cy - r - 3),
            (1.0, cy + r + 9),
        )
        rooms = [_room(label, cx + side * (r + 5), base, side) for side, base in beside]
        free = [room for room in rooms if _is_free(room, full, x, y)]
        if free:
            full.append(free[0])
            found.append(text(label, free[0][0], free[0][3] - 3, "small"))
    return found


def _is_free(room: Room, full: Sequence[Room], x: _Scale, y: _Scale) -> bool:
    left, top, right, bottom = room
    if left < x.begin or right > x.end or top < y.end or bottom > y.begin:
        return False
    return not any(left < r and l < right and top < b and t < bottom for l, t, r, b in full)
