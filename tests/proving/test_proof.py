"""Proofs of functions: every rewrite of small programs is proved, planted wrong rewrites are refuted and named."""

import numpy as np
import pytest

pytest.importorskip("z3")

import arignote as ag
from arignote import __main__ as command
from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.elementwise.records import add, exp, mul, sin, sub
from arignote.ops.lowered.fused import InPlace
from arignote.ops.random.generator_draws import GeneratorDraw
from arignote.ops.random.numpy_draws import NumpyDraw
from arignote.optdb import node_rule, relaxes, rule
from arignote.optdb.patterns import wilds
from arignote.proving.memory import violations
from arignote.proving.proof import BOUNDED, PROVED, REFUTED, TESTED, RefutedRewrite

X, Y = T.vector("x"), T.vector("y")
M, W = T.matrix("m"), T.matrix("w")
N = T.vector("n", dtype="int32")

PROGRAMS = {
    "elementwise": lambda: T.exp(T.log(1 + X) - Y) * (X * 1) - (-Y),
    "matrices": lambda: ((M @ W).T.T * 2 + 1).sum(axis=0),
    "constants": lambda: (X[:2] * 0.5 + np.zeros(2)) * np.ones(2) - np.zeros((1, 2)),
    "integers": lambda: (N * 8 // 8) % 4 + (N - N),
    "softmax": lambda: T.log(T.nn.softmax(M, axis=1)).sum(),
    "gradient": lambda: ag.grad((T.tanh(X) ** 2).sum(), X),
    "pieces": lambda: T.concatenate([X[:2], X[2:]])[::-1][::-1],
    "loop": lambda: ag.scan(lambda a, s: s * 1.0 + T.exp(a) * T.exp(a), X, T.zeros((), "float64"))[0],
    "choice": lambda: ag.cond(X.sum() > 0, T.exp(X) * 1, T.log(X) - 0),
    "writes": lambda: T.set_subtensor(T.exp(X)[1:3], 0.0) * 2,
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_rewrite_of_a_program_is_proved(name):
    f = ag.function([X, Y, M, W, N], PROGRAMS[name](), on_unused_input="ignore")
    proof = f.proof
    assert len(proof) >= len(f.journal) > 0
    assert proof.counts[PROVED] + proof.counts[BOUNDED] == len(proof), proof
    assert all(step.theory for step in proof), proof


x, y = wilds("x y")
WRONG = {
    "swapped": (rule("planted", sub(exp(x), y), lambda x, y: sub(y, T.exp(x)), when=lambda x, y: x.type == y.type),
                lambda: T.sin(T.exp(T.cos(X)) - Y)),
    "NaN": (rule("planted", mul(x, 0), 0), lambda: X * 0),
    "constant": (rule("planted", add(x, 1), add(x, 2), when=lambda x: x.owner is None), lambda: X + 1),
    "axis": (
        node_rule("planted", T.Reduce, lambda node: node.inputs[0].sum(axis=1) if node.op.axis == (0,) else None,
                  formula="x.sum(axis=0) -> x.sum(axis=1)"),
        lambda: (M @ M).sum(axis=0),
    ),
}  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rewrite_is_refuted_and_the_mode_refuses_the_function(name):
    wrong, output = WRONG[name]
    mode = ag.Mode("canonicalize", check="prove").register((wrong, 0.5))
    with pytest.raises(RefutedRewrite) as caught:
        ag.function([X, Y, M], output(), mode=mode, on_unused_input="ignore")
    text = str(caught.value)
    assert "planted: refuted\n" in text and "becomes" in text and 'mode.excluding("planted")' in text


S = T.tensor("s", "uint64", (6,))
L = T.lscalar("l")


def drawn():
    """The next state and numbers of two draws one after the other, of which the first is drawn twice."""
    normal = NumpyDraw("normal", 1)
    state, first = normal(S, L, T.constant(0.0), T.constant(1.0))
    _, again = normal(S, L, T.constant(0.0), T.constant(1.0))
    last, order = GeneratorDraw("permutation", 1, "int64")(state, L)
    return [T.log(1 + T.exp(first)) * 1 - again, order * 1 + 0, last]


def test_rewrites_around_draws_are_proved():
    proof = ag.function([S, L], drawn()).proof
    assert proof.counts[PROVED] + proof.counts[BOUNDED] == len(proof) > 5, proof


def test_draws_of_other_states_are_not_equal():
    """A draw is a function of its state: one rule takes another state, and no proof covers it."""
    other = node_rule("planted", NumpyDraw, lambda node: node.op(node.inputs[0] * 2, *node.inputs[1:]),
                      formula="draw(s) -> draw(2 * s)")  # fmt: skip
    mode = ag.Mode("merge1", max_changes=1).register((other, 5))
    _, numbers = NumpyDraw("normal", 1)(S, L, T.constant(0.0), T.constant(1.0))
    f = ag.function([S, L], numbers, mode=mode)
    assert f.proof.unproved_by_rule()["planted"][0] >= 1, f.proof


def test_a_rewrite_without_proof_is_counted_with_its_reason():
    """sin(2 x) is 2 sin(x) cos(x): no theory here knows it, and drawn values agree."""
    doubled = rule("planted", sin(mul(x, 2.0)), lambda x: 2 * T.sin(x) * T.cos(x), contract=relaxes("rounding", "nan"))
    f = ag.function([X], T.sin(X * 2.0), mode=ag.Mode("merge1").register((doubled, 5)))
    ((name, (count, reason)),) = f.proof.unproved_by_rule().items()
    assert (name, count) == ("planted", 1) and "evaluations on drawn values agree" in reason
    assert f"{count} x {name}: {reason}" in str(f.proof)


def test_the_mode_proves_and_computes():
    f = ag.function([X], T.exp(X) * 1 + 0, mode="PROVE")
    assert np.allclose(f([0.0, 1.0]), np.exp([0.0, 1.0]), rtol=1e-15)
    assert f.proof.counts[REFUTED] == f.proof.counts[TESTED] == 0
    assert f.proof.to_dict()["counts"][PROVED] == f.proof.counts[PROVED]
    assert "proved" in repr(f.proof) and "proved" in f.proof._repr_html_()


K = T.lscalar("k")


def halves(start):
    """A write over the elements from `start` on of a value whose first k elements are read afterwards."""
    whole = T.exp(X)
    written = InPlace(mul, ((0, 0),))(whole[start:], T.constant(2.0))
    return FunctionGraph([X, K], [written.sum(), whole[:K].sum() + written.sum() * 0])


def test_a_read_after_the_write_is_a_violation():
    first = T.exp(X)
    graph = FunctionGraph([X, Y], [InPlace(add, ((0, 0),))(first, Y)])
    assert not list(violations(graph))
    for wrong in ([InPlace(add, ((0, 0),))(first, Y), first], [InPlace(add, ((0, 0),))(X, Y)]):
        with pytest.raises(ValueError, match="would overwrite"):
            list(violations(FunctionGraph([X, Y], wrong)))


def test_overlap_is_decided_for_symbolic_bounds():
    """The order of the run is taken as given here: of nodes in the order of the graph."""
    for start, clash in ((K, False), (K - 1, True), (0, True)):
        graph = halves(start)
        assert bool(list(violations(graph, order=graph.order))) is clash


def test_bad_arguments_are_named():
    with pytest.raises(TypeError, match="prove: f is"):
        ag.prove(3)
    f = ag.function([X], X + 1)
    with pytest.raises(ValueError, match="prove: seconds is 0"):
        ag.prove(f, seconds=0)
    with pytest.raises(TypeError, match="prove: seconds is 'soon'; expected a number"):
        ag.prove(f, seconds="soon")


def test_the_command_proves_the_graph_of_a_file(tmp_path, capsys):
    path = tmp_path / "graph.txt"
    path.write_text(str(FunctionGraph([X, Y], [T.exp(X * 1) - (-Y)])))
    assert command.main(["opt", str(path), "--passes", "canonicalize", "--prove"]) == 0
    assert "rewrites: " in capsys.readouterr().err
