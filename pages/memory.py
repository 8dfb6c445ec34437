"""Kernels and buffers: a column a step of the program, a row a piece of memory, a bar from first to last use."""

from __future__ import annotations

from collections.abc import Sequence

from ..record import record
from .markup import element, escaped
from .svg import CHARACTER, number, picture, shortened, text

_LEFT, _ROW, _TOP, _MARGIN = 120.0, 22.0, 130.0, 12.0
_NARROW, _WIDE, _WIDTH = 3.0, 40.0, 900.0
_MOST_ROWS = 80


@record
class Step:
    """A launch, a product, a copy: its name and its kind of kernel."""

    name: str
    kind: str = "fused"


@record
class Life:
    """A buffer from the step that first writes it to the step that last reads it, in the memory `slot`."""

    slot: str
    first: int
    last: int
    name: str
    kind: str = "elementwise"


def memory(
    steps: Sequence[Step], lives: Sequence[Life], title: str = "kernels and buffers", *, style: bool = True
) -> str:
    """The SVG text: which memory is in use at which step, and what shares it."""
    if not steps or not lives:
        return picture([text("no memory of its own is used", 14, 24, "small")], 260, 40, title, style=style)
    slots = list(dict.fromkeys(life.slot for life in lives))
    shown = slots[:_MOST_ROWS]
    column = min(_WIDE, max(_NARROW, (_WIDTH - _LEFT - _MARGIN) / len(steps)))
    names = [_step(k, step, column) for k, step in enumerate(steps)] if column >= 12 else []
    top = _TOP if names else 2 * _MARGIN
    rows = [
        text(shortened(slot, int((_LEFT - 20) / CHARACTER)), _LEFT - 8, top + _ROW * n + 14, "end")
        for n, slot in enumerate(shown)
    ]
    bars = [_bar(life, shown.index(life.slot), top, column) for life in lives if life.slot in set(shown)]
    width = _LEFT + column * len(steps) + 5 * _MARGIN
    rest = len(slots) - len(shown)
    more = [text(f"and {rest} more", _LEFT, top + _ROW * len(shown) + 14, "small")] if rest else []
    height = top + _ROW * (len(shown) + bool(rest)) + _MARGIN
    return picture([*names, *rows, *bars, *more], max(width, 300.0), height, title, style=style)


def _step(k: int, step: Step, column: float) -> str:
    """A name that climbs to the right, above its column."""
    x = _LEFT + column * (k + 0.5)
    dot = element("circle", class_=f"dot {step.kind}", cx=number(x), cy=number(_TOP - 10), r=4)
    label = element(
        "text", escaped(shortened(step.name, 20)), class_="small",
        transform=f"translate({number(x + 2)} {number(_TOP - 18)}) rotate(-60)",
    )  # fmt: skip
    return element("g", [element("title", escaped(f"step {k}: {step.name}")), dot, label])


def _bar(life: Life, row: int, top: float, column: float) -> str:
    x, width = _LEFT + column * life.first, column * (life.last - life.first + 1)
    room = int((width - 6) / CHARACTER)
    return element("g", [
        element("title", escaped(f"{life.name} in {life.slot}: steps {life.first} to {life.last}")),
        element("rect", class_=life.kind, x=number(x + 0.5), y=number(top + _ROW * row),
                width=number(max(width - 1, 1.0)), height=number(_ROW - 4), rx=3),
        *([text(shortened(life.name, room), x + 4, top + _ROW * row + 13)] if room >= 2 else []),
    ], class_="box")  # fmt: skip
