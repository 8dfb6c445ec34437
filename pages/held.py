"""Memory held during a call: a box a buffer, from its first to its last use, as high as its bytes, with its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..record import record
from .markup import element, escaped
from .svg import CHARACTER, SMALL_CHARACTER, number, picture, shortened, text
from .tables import amount, seconds

_LEFT, _TOP, _WIDTH, _LIST, _BOTTOM = 76.0, 26.0, 760.0, 330.0, 26.0
_LEAST_HEIGHT, _MOST_HEIGHT, _NAMED = 300.0, 900.0, 15.0
"""Heights of the plot, and the height that half of the boxes should have: that of a name."""
_LISTED, _LINE, _LONGEST = 16, 18.0, 34
_MOST = 2_000
"""Buffers that are drawn, the largest first."""


@record
class Held:
    """A buffer: `begin` and `end` in seconds (or in steps)."""

    name: str
    bytes: int
    begin: float
    end: float
    kind: str = "elementwise"


def held(buffers: Sequence[Held], title: str = "memory over time", *, style: bool = True) -> str:
    """The SVG text: bytes over time, and a list of the largest buffers."""
    known = sorted((b for b in buffers if b.bytes > 0 and b.end > b.begin), key=lambda b: (-b.bytes, b.begin))[:_MOST]
    if not known:
        return picture([text("no memory of its own is used", 14, 24, "small")], 260, 40, title, style=style)
    offsets = offsets_of(known)
    top = max(offset + b.bytes for offset, b in zip(offsets, known, strict=True))
    last = max(b.end for b in known)
    height = min(_MOST_HEIGHT, max(_LEAST_HEIGHT, _NAMED * top / known[len(known) // 2].bytes))
    boxes = [_box(b, offset, height / top, _WIDTH / last, height) for b, offset in zip(known, offsets, strict=True)]
    content = [*_axes(top, last, height), *boxes, *_list(known), _peak(known)]
    return picture(content, _LEFT + _WIDTH + _LIST, _TOP + height + _BOTTOM, title, style=style)


def offsets_of(buffers: Sequence[Held]) -> list[int]:
    """The offset of each buffer in bytes: the lowest without overlap with an earlier buffer live at the same time."""
    placed: list[tuple[int, Held]] = []
    for b in buffers:
        beside = sorted((at, at + o.bytes) for at, o in placed if o.begin < b.end and b.begin < o.end)
        at = 0
        for low, high in beside:
            if low - at >= b.bytes:
                break
            at = max(at, high)
        placed.append((at, b))
    return [at for at, _ in placed]


def peak_of(buffers: Sequence[Held]) -> tuple[int, float]:
    """The peak number of bytes held, and the first time it is reached."""
    moments = sorted([(b.begin, b.bytes) for b in buffers] + [(b.end, -b.bytes) for b in buffers])
    now, most, when = 0, 0, 0.0
    for moment, change in moments:
        now += change
        if now > most:
            most, when = now, moment
    return most, when


def _box(b: Held, offset: int, each: float, second: float, whole: float) -> str:
    """A box with its name; a byte is `each` high, a second `second` wide, the plot `whole` high."""
    x, width = _LEFT + second * b.begin, second * (b.end - b.begin)
    y, height = _TOP + whole - each * (offset + b.bytes), each * b.bytes
    room = int((width - 8) / CHARACTER)
    name = [text(shortened(b.name, room), x + 4, y + height / 2 + 4)] if height >= 13 and room >= 6 else []
    message = f"{b.name}\n{amount(b.bytes)}, {seconds(b.begin)} to {seconds(b.end)}"
    rect = element("rect", class_=b.kind, x=number(x), y=number(y), width=number(max(width, 0.5)),
                   height=number(max(height - 0.5, 0.5)))  # fmt: skip
    return element("g", [element("title", escaped(message)), rect, *name], class_="box")


def _axes(top: int, last: float, height: float) -> Iterator[str]:
    for part in range(5):
        y, x = _TOP + height * (1 - part / 4), _LEFT + _WIDTH * part / 4
        yield element("line", class_="grid", x1=number(_LEFT), x2=number(_LEFT + _WIDTH), y1=number(y), y2=number(y))
        yield text(amount(top * part / 4), _LEFT - 8, y + 4, "small", "end")
        yield text(seconds(last * part / 4), x, _TOP + height + 16, "small", "middle")


def _peak(buffers: Sequence[Held]) -> str:
    most, when = peak_of(buffers)
    return text(f"at most {amount(most)} at once, first after {seconds(when)}", _LEFT, 14, "small")


def _list(buffers: Sequence[Held]) -> Iterator[str]:
    x = _LEFT + _WIDTH + 16
    for n, b in enumerate(buffers[:_LISTED]):
        base = _TOP + 12 + _LINE * n
        room = int((_LIST - 90) / SMALL_CHARACTER)
        yield text(amount(b.bytes), x + 60, base, "small", "end")
        yield text(shortened(b.name, min(_LONGEST, room)), x + 68, base)
    if len(buffers) > _LISTED:
        yield text(f"and {len(buffers) - _LISTED:,} smaller ones", x + 68, _TOP + 12 + _LINE * _LISTED, "small")
