"""Kernels and buffers: a column a step of the program, a row a piece of memory, a bar from first to last use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..record import record
from .markup import element, escaped
from .svg import CHARACTER, SMALL_CHARACTER, number, picture, shortened, text

_LEFT, _ROW, _TOP, _MARGIN = 90.0, 22.0, 44.0, 12.0
_NARROW, _WIDE, _WIDTH = 3.0, 40.0, 760.0
_MOST_ROWS = 80
_LONGEST = 36
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@record
class Step:
    """A launch, a product, a copy: what it computes and its kind of kernel."""

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
    """The SVG text: the memory in use at each step, and the buffers that share it."""
    if not steps or not lives:
        return picture([text("no memory of its own is used", 14, 24, "small")], 260, 40, title, style=style)
    slots = list(dict.fromkeys(life.slot for life in lives))
    shown = slots[:_MOST_ROWS]
    column = min(_WIDE, max(_NARROW, _WIDTH / len(steps)))
    rows = [
        text(shortened(slot, int((_LEFT - 20) / CHARACTER)), _LEFT - 8, _TOP + _ROW * n + 14, "end")
        for n, slot in enumerate(shown)
    ]
    width = _LEFT + column * len(steps) + _LONGEST * SMALL_CHARACTER
    bars = [bar for n, slot in enumerate(shown) for bar in _row([b for b in lives if b.slot == slot], n, column, width)]
    rest = len(slots) - len(shown)
    more = [text(f"and {rest} more", _LEFT, _TOP + _ROW * len(shown) + 14, "small")] if rest else []
    height = _TOP + _ROW * (len(shown) + bool(rest)) + _MARGIN
    return picture([*_axis(steps, column), *rows, *bars, *more], width, height, title, style=style)


def _axis(steps: Sequence[Step], column: float) -> Iterator[str]:
    """The numbers of the steps, and a dot below each; the dot's tooltip shows the step's expression."""
    separate = next((n for n in _TICKS if n * column >= 30), 5000)
    yield text("step", _LEFT - 8, 16, "small", "end")
    for k in range(0, len(steps), separate):
        yield text(str(k), _LEFT + column * (k + 0.5), 16, "small", "middle")
    radius = min(4.0, column / 2 - 0.5)
    for k, step in enumerate(steps):
        dot = element(
            "circle", class_=f"dot {step.kind}", cx=number(_LEFT + column * (k + 0.5)), cy=number(30), r=number(radius)
        )
        yield element("g", [element("title", escaped(f"step {k}: {step.name}")), dot])


def _row(lives: Sequence[Life], row: int, column: float, width: float) -> Iterator[str]:
    """The bars of one piece of memory; a name that does not fit into its bar stands behind it, if there is room."""
    ordered = sorted(lives, key=lambda life: life.first)
    ends = [_LEFT + column * following.first for following in ordered[1:]] + [width]
    for life, end in zip(ordered, ends, strict=True):
        x, long = _LEFT + column * life.first, column * (life.last - life.first + 1)
        base, room = _TOP + _ROW * row + 13, int((end - x - long - 8) / SMALL_CHARACTER)
        if len(life.name) * CHARACTER <= long - 6:
            label = [text(life.name, x + 4, base)]
        elif room >= min(len(life.name), 12):
            label = [text(shortened(life.name, min(room, _LONGEST)), x + long + 5, base, "small")]
        else:
            inside = int((long - 6) / CHARACTER)
            label = [text(shortened(life.name, inside), x + 4, base)] if inside >= 8 else []
        yield element("g", [
            element("title", escaped(f"{life.name} in {life.slot}: steps {life.first} to {life.last}")),
            element("rect", class_=life.kind, x=number(x + 0.5), y=number(_TOP + _ROW * row),
                    width=number(max(long - 1, 1.0)), height=number(_ROW - 4), rx=3),
            *label,
        ], class_="box")  # fmt: skip
