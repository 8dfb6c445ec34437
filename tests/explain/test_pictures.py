"""Pictures: where boxes go, what is folded, and that every picture is well-formed, whatever names are in it."""

import xml.etree.ElementTree as ET
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.graph.picture import boxes_of
from arignote.pages.boxes import Box, folded, layers_of
from arignote.pages.flame import Flame, flame
from arignote.pages.graph_svg import graph_svg
from arignote.pages.held import Held, held, offsets_of, peak_of
from arignote.pages.layered import GAP_X, isotonic, layout
from arignote.pages.memory import Life, Step, memory
from arignote.pages.roofline import Kernel, roofline
from arignote.pages.threads import Bar, Lane, threads
from arignote.pages.timeline import Span, timeline

NASTY = "a<b> & \"c\" 'd' \x00\x1b]]>"
SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def drawings(draw, largest=40):
    """Lists of boxes, each of which reads up to three before it."""
    count = draw(st.integers(1, largest))
    boxes = []
    for k in range(count):
        inputs = tuple(draw(st.lists(st.integers(0, k - 1), max_size=3))) if k else ()
        kind = draw(st.sampled_from(["elementwise", "reduction", "input"]))
        boxes.append(Box(f"op{k}", "float64[?]", kind, inputs, output=draw(st.booleans())))
    return boxes


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0.1, 10)), max_size=30))
def test_isotonic_is_the_nearest_sequence_that_rises(pairs):
    values, weights = [v for v, _ in pairs], [w for _, w in pairs]
    found = isotonic(values, weights)
    assert all(a <= b + 1e-6 for a, b in pairwise(found))
    # the means of all blocks agree with what they stand for, so no shift of a block is nearer
    for level in set(found):
        block = [k for k, f in enumerate(found) if f == level]
        mean = np.average([values[k] for k in block], weights=[weights[k] for k in block])
        assert mean == pytest.approx(level, rel=1e-9, abs=1e-6)


@given(drawings())
@settings(max_examples=60)
def test_boxes_stand_below_what_they_read_and_never_overlap(boxes):
    sizes = [(40.0 + 5 * (k % 7), 24.0) for k in range(len(boxes))]
    placed = layout(sizes, [box.inputs for box in boxes])
    rows = {}
    for k, (x, y) in enumerate(placed.centres):
        assert x - sizes[k][0] / 2 >= -1e-6 and x + sizes[k][0] / 2 <= placed.width + 1e-6
        assert all(placed.centres[i][1] < y for i in boxes[k].inputs)
        rows.setdefault(y, []).append((x, k))
    for row in rows.values():
        row.sort()
        for (x0, a), (x1, b) in pairwise(row):
            assert x1 - x0 >= (sizes[a][0] + sizes[b][0]) / 2 + GAP_X - 1e-6
    assert len(placed.routes) == sum(len(box.inputs) for box in boxes)


@given(drawings(), st.integers(1, 30))
@settings(max_examples=60)
def test_folding_keeps_every_box_once_and_the_order(boxes, limit):
    found = folded(boxes, limit)
    members = [m for k, box in enumerate(found.boxes) for m in (box.members or (k,))]
    assert sorted(members) == list(range(len(boxes)))
    for k, box in enumerate(found.boxes):
        assert all(i < k for i in box.inputs)
        assert all(found.box_of[m] == k for m in box.members or (k,))
    if found.rows is not None:
        assert all(found.rows[i] < found.rows[k] for k, box in enumerate(found.boxes) for i in box.inputs)


def test_layers_put_inputs_just_above_their_users():
    assert layers_of([(), (0,), (1,), (), (2, 3)]) == [0, 1, 2, 2, 3]


def test_a_chain_of_a_thousand_is_one_box_and_its_ends():
    x = y = T.vector("x")
    for _ in range(1000):
        y = T.sin(y)
    boxes = folded(boxes_of(ag.FunctionGraph([x], [y])), 120).boxes
    assert [box.label for box in boxes] == ["x", "1000 nodes"]
    assert boxes[1].detail == "sin 1000" and boxes[1].output


@pytest.mark.parametrize("nodes", [10, 1000])
def test_a_picture_of_many_nodes_stays_readable(nodes):
    rng = np.random.default_rng(0)
    found = [T.vector("a"), T.matrix("b").sum(0)]
    for _ in range(nodes):
        near = [found[-1 - int(rng.integers(min(len(found), 12)))] for _ in range(2)]
        found.append(near[0] * near[1] if rng.random() < 0.8 else T.exp(near[0]))
    graph = ag.rewrite(ag.FunctionGraph([found[0], found[1].owner.inputs[0]], found[-3:]), "merge1")
    drawn = ET.fromstring(graph_svg(boxes_of(graph)))
    boxes = [g for g in drawn.iter(f"{SVG}g") if "box" in (g.get("class") or "").split()]
    assert 4 <= len(boxes) <= 120
    assert float(drawn.get("width")) < 4000 and float(drawn.get("height")) < 8000


@pytest.mark.parametrize("nodes", [10_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_graphs_of_many_nodes_are_summarized(nodes):
    x = y = T.vector("x")
    for k in range(nodes // 2):
        y = T.sin(y) + (x if k % 7 else y)
    text = ag.FunctionGraph([x], [y])._repr_html_()
    assert len(text) < 600_000 and "too long to be shown" in text


def test_pictures_are_the_same_every_time():
    x = T.vector("x")
    graph = ag.FunctionGraph([x], [T.exp(x) * 2 + T.sin(x) / T.sum(x)])
    assert graph_svg(boxes_of(graph)) == graph_svg(boxes_of(graph))


@pytest.mark.parametrize(
    "drawn",
    [
        graph_svg([Box(NASTY, NASTY, "input", (), NASTY), Box(NASTY, "", "other", (0, 0), NASTY, True)], NASTY),
        graph_svg([], NASTY),
        timeline([Span(NASTY, 0.0, 0.1, note=NASTY), Span("b", 0.1, 0.0)]),
        timeline([]),
        timeline([Span(f"pass {k}", k, 1.0) for k in range(300)]),
        flame(Flame(NASTY, 1.0, (Flame(NASTY, 0.7, (Flame("x", 0.9),)), Flame("y", 0.0)))),
        flame(Flame("nothing", 0.0)),
        roofline([Kernel(NASTY, 1.0, 2.0, 0.5), Kernel("copy", 0.0, 1e-9), Kernel("idle", 0.0, 0.0)], 38.0, 250.0),
        roofline([], 1.0, 1.0),
        memory([Step(NASTY), Step("b", "shape")] * 60, [Life(NASTY, 0, 1, NASTY), Life("s", 1, 119, "b")]),
        memory([], []),
        held([Held(NASTY, 100, 0.0, 1.0), Held("b", 50, 0.5, 2.0, "fused"), Held("none", 0, 0.0, 1.0)]),
        held([]),
        threads([Lane(NASTY, (Bar(NASTY, 0.0, 0.5, title=NASTY), Bar("b", 0.5, 0.5)))], 1.0),
        threads([], 1.0),
    ],
)
def test_pictures_are_well_formed_and_stand_alone(drawn):
    root = ET.fromstring(drawn)
    assert root.tag == f"{SVG}svg" and float(root.get("width")) > 0
    assert root.find(f"{SVG}title") is not None and "prefers-color-scheme:dark" in root.find(f"{SVG}style").text
    assert "http" not in drawn.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "nan" not in drawn.lower().replace("nano", "")


def test_parts_of_a_flame_stay_inside_the_whole():
    root = ET.fromstring(flame(Flame("all", 1.0, (Flame("a", 0.8), Flame("b", 0.8)))))
    bars = [r for r in root.iter(f"{SVG}rect") if r.get("class") != "paper"]
    right = max(float(r.get("x")) + float(r.get("width")) for r in bars[1:])
    assert right <= float(bars[0].get("x")) + float(bars[0].get("width")) + 1e-6


def test_no_two_labels_of_a_roofline_overlap():
    """Not even where twenty kernels do the same: labels of numbers, of the roofs and of the list."""
    kernels = [Kernel(f"kernel {k}", 10.0 + k % 3, 9.0, 1 / (k + 2), function=f"k_{k}") for k in range(20)]
    picture = ET.fromstring(roofline(kernels, 40.0, 250.0, style=True))
    rooms = []
    for word in picture.iter(f"{SVG}text"):
        small = "small" in word.get("class", "")
        width, x, y = len(word.text) * (6.03 if small else 7.23), float(word.get("x")), float(word.get("y"))
        left = x - width * ("end" in word.get("class", "")) - width / 2 * ("middle" in word.get("class", ""))
        rooms.append((left, y - (9 if small else 11), left + width, y + 2, word.text))
    for a, b in combinations(rooms, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)
    names = {room[4] for room in rooms}
    assert {f"kernel {k}" for k in range(18)} <= names and "and 2 more, without numbers" in names


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 20), st.integers(1, 9)), min_size=1, max_size=30))
def test_buffers_that_live_at_the_same_time_do_not_overlap(found):
    buffers = [Held("b", size, begin, begin + long) for size, begin, long in sorted(found, reverse=True)]
    offsets = offsets_of(buffers)
    for (at, a), (to, b) in combinations(zip(offsets, buffers, strict=True), 2):
        assert a.end <= b.begin or b.end <= a.begin or at + a.bytes <= to or to + b.bytes <= at
    moments = range(31)
    sums = [sum(b.bytes for b in buffers if b.begin <= moment < b.end) for moment in moments]
    most, when = peak_of(buffers)
    assert most == max(sums) <= max(at + b.bytes for at, b in zip(offsets, buffers, strict=True))
    assert sums[int(when)] == most and all(total < most for total in sums[: int(when)])
