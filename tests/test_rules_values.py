"""Every rule held against its contract: graphs made from its own pattern, run by NumPy before and after.

Wild cards become variables of random dtypes and shapes, numbers constants of weak and strong dtypes and of shapes that
stretch; data has NaN, infinities, signed zeros, subnormal numbers and the extremes of integers.
"""

import itertools
import zlib

import numpy as np
import pytest
import rule_rows
import rule_rows_shapes
from contracts import disagreements, farther_from_truth
from rewriting import graph_of, rewritten, sample, tame, values_of

from arignote import ops as T
from arignote.graph import DTYPES
from arignote.ops.elementwise import ELEMENTWISE, Cast, Elementwise
from arignote.ops.nn import LogSoftmax, Softmax
from arignote.ops.reduce import REDUCTIONS, Reduce
from arignote.ops.shape import DimShuffle
from arignote.optdb import NodeRule, PatternRule
from arignote.optdb.patterns import Applied, Number, OpLike, Wild
from arignote.optdb.rules import default_db

DB = default_db()
RULES = {e.name: e.object for e in DB.entries() if isinstance(e.object, PatternRule)}
NODE_RULES = {e.name: e.object for e in DB.entries() if isinstance(e.object, NodeRule)}
NODE_ROWS = [row for row in [*rule_rows.ROWS, *rule_rows_shapes.ROWS] if row[0] in NODE_RULES]

POSITIONS = {"local_argmax_pushdown", "local_argmax_of_softmax"}
"""Rules that find other positions among values that rounding made equal: held against the truth below."""

CANDIDATES = [
    *ELEMENTWISE.values(), *map(Cast, DTYPES), *(Reduce(op, (0,)) for op in REDUCTIONS.values()), Reduce(T.add, ()),
    DimShuffle((1, 0)), DimShuffle((0, 1)), DimShuffle(("x", 0, 1)), DimShuffle((0,)), Softmax(1), Softmax(0),
    LogSoftmax(1),
]  # fmt: skip
RANKS = [(1, 1, 1), (2, 2, 2), (0, 1, 0), (2, 1, 1), (1, 2, 0), (0, 0, 0)]
LENGTHS = [(64, 64), (1, 64), (64, 1), (0, 64), (1, 1), (8, 1)]
TRIES = 120


class Maker:
    """A random graph that a pattern matches."""

    def __init__(self, rng, rule):
        self.rng = rng
        self.rule = rule
        self.known = {}
        self.dtype = str(rng.choice(DTYPES))
        self.mixed = rng.random() < 0.3
        self.strong = rng.random() < 0.3
        self.ranks = itertools.cycle(RANKS[rng.integers(len(RANKS))])

    def variable(self, wild):
        rank = next(self.ranks)
        dtype = str(self.rng.choice(DTYPES)) if self.mixed else self.dtype
        shape = tuple(1 if self.rng.random() < 0.15 else None for _ in range(rank))
        made = T.tensor(wild.name, dtype=dtype, shape=shape)
        if (wild.when is None or wild.when(made)) and self.rng.random() < 0.8:
            return made
        with np.errstate(all="ignore"):
            shape = (1,) * int(self.rng.integers(1, 3)) if self.strong else ()
            value = T.constant(np.full(shape, self.number(dtype)).astype(dtype))
        return value if np.isfinite(value.data).all() and (wild.when is None or wild.when(value)) else None

    def number(self, dtype):
        whole = np.dtype(dtype).kind in "biu"
        return self.rng.choice([2, 4, 8, 3, 1, 64, 5] if whole else [0.25, 2.0, -3.5, 0.1, 1e10, 4, 5])

    def build(self, pattern):
        """What stands for the pattern; None if there is nothing."""
        if isinstance(pattern, Wild):
            if pattern.name not in self.known:
                self.known[pattern.name] = self.variable(pattern)
            return self.known[pattern.name]
        if isinstance(pattern, Number):
            if not self.strong:
                return pattern.value
            shape = [(), (1,), (1, 1), (3, 1)][self.rng.integers(4)]
            dtype = self.rng.choice(["int8", "int64", "float64", "float32", self.dtype])
            with np.errstate(all="ignore"):
                return T.constant(np.full(shape, pattern.value).astype(dtype))
        assert isinstance(pattern, Applied)
        op = pattern.op
        if isinstance(op, OpLike):
            if op.name not in self.known:
                self.known[op.name] = self.candidate(op)
            op = self.known[op.name]
        operands = [self.build(p) for p in pattern.operands]
        if any(o is None for o in operands):
            return None
        return op(*operands)

    def candidate(self, like):
        fitting = [op for op in CANDIDATES if like.accepts(op) and getattr(op, "arity", None) != 3]
        return fitting[self.rng.integers(len(fitting))]


def attempts(rule):
    """(graph before, graph after, rng) for random graphs on which the rule fires."""
    rng = np.random.default_rng(zlib.crc32(rule.name.encode()))
    for _ in range(TRIES):
        try:
            output = Maker(rng, rule).build(rule.pattern)
        except (TypeError, ValueError, OverflowError, IndexError):  # not an expression that a user could write
            continue
        if output is None or not hasattr(output, "owner"):
            continue
        before = graph_of(output)
        after = rewritten(before, rule)
        if after is not before:
            yield before, after, rng


def arrays_for(graph, rng, make):
    """Arrays whose lengths broadcast together, with some of them stretched."""
    lengths = LENGTHS[rng.integers(len(LENGTHS))]
    return [
        make(rng, v.dtype, [m or (n if rng.random() < 0.8 else 1) for n, m in zip(lengths[2 - v.ndim :], v.type.shape)])
        for v in graph.inputs
    ]


@pytest.mark.parametrize("name", sorted(set(RULES) - POSITIONS))
def test_contract(name):
    rule = RULES[name]
    compared = 0
    for before, after, rng in attempts(rule):
        for make in (sample, sample, tame):
            arrays = arrays_for(before, rng, make)
            want = values_of(before, arrays)
            if want is None:
                continue
            got = values_of(after, arrays)
            assert got is not None, f"{rule}\n{before}\nfails on {arrays} after\n{after}"
            compare(rule, before, after, arrays, want[0], got[0])
            compared += 1
    assert compared > 1, f"{rule}: hardly ever fired"


SIZES = [[3], [9], [1], [0], [5], [1, 3], [1, 5]]
NODE_IDS = [f"{k}-{row[0]}" for k, row in enumerate(NODE_ROWS)]


@pytest.mark.parametrize(("name", "before", "after"), NODE_ROWS, ids=NODE_IDS)
def test_contract_of_row(name, before, after):
    """Rules with a function are held against their contract on their rows, of many lengths, some of them stretched."""
    rule, rng = NODE_RULES[name], np.random.default_rng(zlib.crc32(name.encode()))
    graph = graph_of(before)
    after = rewritten(graph, rule)
    assert after is not graph
    compared = 0
    for sizes, make in itertools.product(SIZES * 4, (sample, tame)):
        shapes = [[rng.choice(sizes) if known is None else known for known in v.type.shape] for v in graph.inputs]
        integers = [tame if v.type.kind in "iu" and make is tame else make for v in graph.inputs]
        arrays = [how(rng, v.dtype, shape) for how, v, shape in zip(integers, graph.inputs, shapes, strict=True)]
        want = values_of(graph, arrays)
        if want is None:
            continue
        got = values_of(after, arrays)
        assert got is not None, f"{rule}\n{graph}\nfails on {arrays} after\n{after}"
        compare(rule, graph, after, arrays, want[0], got[0])
        compared += 1
    assert compared > 3 or not graph.inputs, f"{rule}: hardly ever ran"


@pytest.mark.parametrize("op", [T.exp, T.sigmoid, T.softplus, T.tanh, T.arctan])
@pytest.mark.parametrize("extremum", [T.argmax, T.argmin])
def test_positions_are_those_of_the_true_extremum(op, extremum):
    x = rule_rows.x
    graph = graph_of(extremum(op(x)))
    after = rewritten(graph, DB["local_argmax_pushdown"])
    rng = np.random.default_rng(0)
    for make in (sample, tame):
        for _ in range(20):
            array = make(rng, "float64", (17,))
            assert values_of(after, [array])[0] == getattr(np, extremum.__name__)(array)


def compare(rule, before, after, arrays, want, got):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"{rule}\n{before}\n{after}"
    magnitudes = [np.abs(a[np.isfinite(a)]).max(initial=0.0) for a in arrays if a.dtype.kind in "fc"]
    scale, finite = float(max(magnitudes, default=0.0)), all(np.isfinite(a).all() for a in arrays)
    wrong = disagreements(rule.contract, want, got, scale, finite)
    if rule.contract.nearer and want.dtype.kind in "fc" and wrong.any():
        assert want.dtype.kind == "f"
        wrong &= confirmed(before, arrays, want, got, wrong, scale)
    if wrong.any():
        where = tuple(np.argwhere(wrong)[0])
        operands = [np.broadcast_to(a, want.shape)[where] for a in arrays if a.ndim <= want.ndim]
        change = f"{want[where]!r} became {got[where]!r} ({rule.contract})"
        pytest.fail(f"{rule}\n{before}\n{after}\nof {operands}: {change}")


def confirmed(before, arrays, want, got, wrong, scale):
    """Where the truth speaks for `want`.  What is not elementwise is held against it up to rounding."""
    if not all(isinstance(node.op, Elementwise) for node in before.order):
        tolerance = 1e3 * float(np.finfo(want.dtype).eps)
        with np.errstate(all="ignore"):
            apart = np.abs(want - got)
            return np.isfinite(want) & ~(apart <= tolerance * np.maximum(np.abs(want), max(scale, 1)))
    result = np.zeros(want.shape, dtype=bool)
    for where in map(tuple, np.argwhere(wrong)[:12]):
        at = {v: np.broadcast_to(a, want.shape)[where] for v, a in zip(before.inputs, arrays, strict=True)}
        result[where] = farther_from_truth(before.outputs[0], at, float(want[where]), float(got[where]))
    return result
