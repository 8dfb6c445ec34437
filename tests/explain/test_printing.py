"""Expressions as text: the tree, the line, the graph that reads back."""

import io

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T


def test_pprint_writes_what_one_would_write():
    x, y = T.vector("x"), T.vector("y")
    assert ag.pprint(T.exp(x) * y + T.sin(x) - y / 3) == "exp(x) * y + sin(x) - y / 3.0"
    assert ag.pprint((x + y) * 2) == "(x + y) * 2.0"
    assert ag.pprint(x - (y - x)) == "x - (y - x)"
    assert ag.pprint(x / (y * x)) == "x / (y * x)"
    assert ag.pprint(-(x + y)) == "-(x + y)"
    assert ag.pprint(x.sum()) == "sum{axis=(0,)}(x)"


def test_pprint_of_a_value_used_again_and_again_stays_short():
    x = T.vector("x")
    for _ in range(60):
        x = x + x
    assert "..." in ag.pprint(x)


def test_dprint_shows_a_value_once():
    x = T.vector("x")
    a = T.exp(x)
    out = io.StringIO()
    ag.dprint(a * a + 1, file=out)
    assert out.getvalue().splitlines() == [
        "add [id 0] <float64[?]>",
        " ├─ mul [id 1] <float64[?]>",
        " │   ├─ exp [id 2] <float64[?]>",
        " │   │   └─ x [id 3] <float64[?]>",
        " │   └─ [id 2] ...",
        " └─ float64(1.0) [id 4] <float64>",
    ]


def test_large_constants_are_not_spelled_out():
    few, many = T.constant([1.0, np.nan]), T.constant(np.ones((300, 200)))
    out = io.StringIO()
    ag.dprint(T.dot(T.matrix("x"), many)[:, :2] + few, file=out)
    lines = out.getvalue().splitlines()
    assert any("a constant float64[300, 200]" in line for line in lines)
    assert any("float64[2]([1.0, nan])" in line for line in lines)
    assert max(map(len, lines)) < 120
    assert ag.pprint(T.vector("v") @ many) == "v @ a constant float64[300, 200]"


def test_dprint_of_a_deep_chain_is_linear_in_size():
    y = T.vector("x")
    for _ in range(5_000):
        y = T.sin(y)
    out = io.StringIO()
    ag.dprint(y, file=out)
    assert len(out.getvalue()) < 5_000 * 1_000


def test_the_text_of_an_optimized_graph_reads_back():
    x, w = T.matrix("x"), ag.shared(np.zeros((3, 2)), name="w")
    f = ag.function([x], T.nn.softmax(T.tanh(x @ w) + 1).sum(0), updates=[(w, w * 2)])
    assert ag.parse(str(f.graph)) == f.graph


def test_explain_names_rules_graphs_and_the_library():
    x = T.vector("x")
    text = ag.function([x], T.log(1 + x), name="grow").explain()
    assert "grow: as built" in text and "local_log1p" in text and "C:" in text


@pytest.mark.parametrize("bad", [3, "x", None])
def test_what_cannot_be_printed_is_a_clear_error(bad):
    with pytest.raises(TypeError, match="expected a variable"):
        ag.pprint(bad)
