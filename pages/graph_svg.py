"""A graph as a picture: a box a node with its op and type, inputs above users, outputs framed strongly."""

from __future__ import annotations

from collections.abc import Sequence

from .boxes import Box, edges_of, folded
from .layered import Point, layout
from .markup import element, escaped
from .svg import CHARACTER, SMALL_CHARACTER, number, picture, shortened, text

_HEIGHT, _HEIGHT_TWO_LINES = 24.0, 38.0
_LONGEST_LABEL = 34
_MOST_MEMBERS = 500
MARGIN = 14.0


def graph_svg(boxes: Sequence[Box], title: str = "graph", *, limit: int = 120, style: bool = True) -> str:
    """The SVG text of a graph; of more than `limit` boxes, chains or neighbouring rows become one box each.

    Each box is a group of class "box" whose `data-box` is its position in the drawing; a folded one has the positions
    of its members in `data-members`, if they are not too many to be looked at.
    """
    found = folded(boxes, limit)
    drawn = found.boxes
    if not drawn:
        return picture([text("nothing is computed", MARGIN, 24, "small")], 220, 40, title, style=style)
    sizes = [_size(box) for box in drawn]
    placed = layout(sizes, [box.inputs for box in drawn], found.rows)
    wires = [_edge(route, *ends) for route, ends in zip(placed.routes, edges_of(drawn))]
    shapes = [_box(k, box, placed.centres[k], sizes[k]) for k, box in enumerate(drawn)]
    moved = element("g", [*wires, *shapes], transform=f"translate({number(MARGIN)} {number(MARGIN)})")
    return picture([moved], placed.width + 2 * MARGIN, placed.height + 2 * MARGIN, title, style=style)


def _size(box: Box) -> tuple[float, float]:
    label, detail = shortened(box.label, _LONGEST_LABEL), shortened(box.detail, _LONGEST_LABEL)
    width = max(len(label) * CHARACTER, len(detail) * SMALL_CHARACTER, 14.0 * len(box.inputs)) + 16
    return max(width, 34.0), _HEIGHT_TWO_LINES if detail else _HEIGHT


def _box(number_: int, box: Box, centre: Point, size: tuple[float, float]) -> str:
    (x, y), (width, height) = centre, size
    folded_ = len(box.members) > 1
    classes = ["box", *(["output"] if box.output else []), *(["folded"] if folded_ else [])]
    lines = [shortened(box.label, _LONGEST_LABEL), *([shortened(box.detail, _LONGEST_LABEL)] if box.detail else [])]
    base = y + 4 if len(lines) == 1 else y - 3
    members = box.members or (number_,)
    return element(
        "g",
        [
            element("title", escaped(box.title or box.label)),
            element(
                "rect", class_=box.kind, x=number(x - width / 2), y=number(y - height / 2), width=number(width),
                height=number(height), rx=number(height / 2 if box.kind == "input" else 5),
            ),
            text(lines[0], x, base, "middle"),
            *(text(line, x, base + 14, "middle", "small") for line in lines[1:]),
        ],
        class_=" ".join(classes), data_box=members[0],
        data_members=" ".join(map(str, members)) if folded_ and len(members) <= _MOST_MEMBERS else None,
    )  # fmt: skip


def _edge(route: Sequence[Point], start: int, end: int) -> str:
    """A smooth line that leaves and reaches every point vertically."""
    (x, y), *rest = route
    path = [f"M{number(x)} {number(y)}"]
    for x1, y1 in rest:
        middle = (y + y1) / 2
        points = ((x, middle), (x1, middle), (x1, y1))
        path.append("C" + " ".join(f"{number(a)} {number(b)}" for a, b in points))
        x, y = x1, y1
    return element("path", class_="edge", d="".join(path), data_edge=f"{start} {end}")
