"""Every op through the C backend against its NumPy meaning: dtypes, lengths, layouts, outputs that alias, threads, long
chains.
"""

import random
import sys
import threading

import numpy as np
import pytest
from compiled import assert_same, check, compiled, compiled_graph, expected
from draws import mostly_long, rarely_long
from random_graphs import random_graph

import arignote as ag
from arignote import ops as T
from arignote.database import optdb
from arignote.graph import DTYPES, Apply, FunctionGraph, GraphEditor, TensorType
from arignote.ops.core.interpret import interpret
from arignote.ops.core.tensor import TensorOp
from arignote.profiling import RunProfile

SHAPES = [(4, 5, 3), (1, 1, 1), (7, 7, 2), (5, 1, 4), (6, 9, 1), (3, 33, 2)]
EMPTY = [(0, 3, 2), (3, 0, 2), (2, 3, 0)]


def sample(rng, dtype, shape):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        return rng.integers(0, 5, shape).astype(dtype)
    noise = rng.standard_normal(shape)
    return (noise + 1j * rng.standard_normal(shape) if kind == "c" else noise).astype(dtype)


class Operands:
    """Inputs of one dtype, and values for them by three lengths."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.x, self.y = T.matrix("x", dtype=dtype), T.matrix("y", dtype=dtype)
        self.v, self.w = T.vector("v", dtype=dtype), T.vector("w", dtype=dtype)
        self.s, self.t = T.scalar("s", dtype=dtype), T.tensor3("t", dtype=dtype)
        self.i, self.j, self.k = T.lscalar("i"), T.lvector("j"), T.lmatrix("k")
        self.all = [self.x, self.y, self.v, self.w, self.s, self.t, self.i, self.j, self.k]

    def values(self, n, m, p):
        rng = np.random.default_rng([n, m, p])
        shapes = [(n, m), (n, m), (m,), (m,), (), (p, m, n)]
        arrays = [sample(rng, self.dtype, shape) for shape in shapes]
        least = max(min(n, m, p), 1)
        return [*arrays, np.array(0), rng.integers(-least, least, 9), rng.integers(-least, least, (2, 3))]


def views(o):
    x, v, s, t, i = o.x, o.v, o.s, o.t, o.i
    return [
        x.T, x[::-1], x[:, ::2], x[1:, :-1], t.transpose((2, 0, 1)), x[None], x[:, None, :], T.reshape(t, (-1,)),
        T.reshape(x.T, (-1,)), T.reshape(x[::-1], (x.shape[1], x.shape[0])), T.broadcast_to(v, (3, v.shape[0])),
        x[5:2], x[100:], x[::-2, ::-1], x[-3:-1], x[:-100], x[i:], x[:, i : i + 2], x[:: i + 2], T.flip(t),
        x.shape, x.shape[0],
        x[:2].T[::-1].T, x, v, s, t[::-1, ::2].transpose((1, 0, 2))[1:], x[:, ::-1][:, 1:], v[:1].dimshuffle("x", 0),
        T.reshape(T.reshape(x, (-1,))[::-1], (x.shape[1], x.shape[0])),
    ]  # fmt: skip


def creation(o):
    x, y, v, w, s, t, i = o.x, o.y, o.v, o.w, o.s, o.t, o.i
    dtype = o.dtype
    return [
        T.zeros((3, x.shape[0]), dtype), T.ones(x.shape, dtype), T.alloc(v, 3, v.shape[0]), T.alloc(s, 2, 2),
        T.full((2,), s),
        T.eye(3, dtype=dtype), T.eye(4, i + 2, 1, dtype=dtype), T.eye(2, 5, -1, dtype=dtype), T.eye(i, dtype=dtype),
        T.concatenate([x, y], 0), T.concatenate([x, y, x], 1), T.concatenate([x.T, y.T]), T.stack([v, w]),
        T.stack([s, s]),
        T.zeros_like(x), T.ones_like(t), T.tile(v, 2), T.repeat(v, 2), T.roll(x, 1, 0), T.pad(x, 1), T.stack([v, w], 1),
    ]  # fmt: skip


def indexing(o):
    x, y, v, s, t, i, j, k = o.x, o.y, o.v, o.s, o.t, o.i, o.j, o.k
    return [
        x[i, i], x[-1], t[:, i], x[j], x[:, i], T.take(x, j, 0),
        x[k, k], x[j[:1]], t[:, k[0], :], t[i, :, k], t[:, k, 0], x[j, 0],
        x[0][k], t[k, ::-1], t[j, :, j], x[::-1][j], x.T[k], x[j[::-1]], t[k[:, :1], k[:1]], t[k, 0, k[0]],
        T.set_subtensor(x[0], v), T.inc_subtensor(x[1:], s), T.inc_subtensor(x[:, ::-1], y), T.set_subtensor(x[j], v),
        T.inc_subtensor(x[j], v), T.inc_subtensor(x[k, k], s), T.set_subtensor(x[k, k], s), T.set_subtensor(x[::2], s),
        T.inc_subtensor(x[i, i], s), T.inc_subtensor(t[:, j], s), T.set_subtensor(t[i, j], v[:1]),
        T.inc_subtensor(x.T[j], x[:, :1].T),
        T.inc_subtensor(x[::-1], x), T.set_subtensor(x[:, ::-1], x),
    ]  # fmt: skip


def empty_products(o):
    x, y, v, w, t = o.x, o.y, o.v, o.w, o.t
    return [T.dot(x, y.T), T.dot(x.T, y), T.dot(v, w), T.dot(x, v), T.dot(v, y.T), T.outer(v, w), T.matmul(x, t)]


def products(o):
    x, y, v, w, t = o.x, o.y, o.v, o.w, o.t
    outputs = [
        T.dot(x, y.T), T.dot(x.T, y), T.dot(v, w), T.dot(x, v), T.dot(v, y.T), T.dot(x.T, y[:, 0]), T.outer(v, w),
        T.matmul(t, t.transpose((0, 2, 1))), T.matmul(x, t), T.matmul(t.transpose((0, 2, 1)), v),
        T.dot(x[:, ::2], y[:, ::2].T),
        T.dot(x[::-1], y.T), T.dot(x[:, :1], v[None, :]), T.dot(v[::-1], w), T.dot(T.broadcast_to(v, (3, v.shape[0])),
        y.T),
        T.dot(x[::-1, ::-1], v[::-1]), T.dot(T.broadcast_to(v[:1], v.shape), w),
        T.matmul(T.broadcast_to(x, (2, *x.shape)), y.T),
    ]  # fmt: skip
    if o.dtype in ("float32", "float64", "complex64", "complex128"):
        one, two, zero = (T.constant(n, o.dtype) for n in (1, 2, 0))
        outputs += [
            T.Dot22()(x, y.T), T.Dot22Scalar()(x, y.T, two), T.Gemm()(T.dot(x, x.T), two, x, y.T, one),
            T.Gemm()(T.dot(x, x.T) / zero, two, x, y.T, zero), T.Gemm()(T.dot(x, x.T).T, two, x, y.T, two),
            T.Gemv()(y[:, 0], two, x, v, one), T.Gemv()(y[:, 0], one, x[:, ::-1], v, two), T.Ger()(x, two, y[:, 0], v),
            T.Ger()(x.T, one, v, T.broadcast_to(v[0], x.shape[:1])), T.Ger()(x[::-1], two, y[::-1, 0], v),
        ]  # fmt: skip
    return outputs


def reductions(o):
    x, t, s = o.x, o.t, o.s
    outputs = [
        x.sum(),
        x.sum(0),
        x.sum(1),
        t.sum((0, 2)),
        T.any(x, 0),
        T.all(t, 1),
        T.reshape(t.T, (-1,)).prod(),
        x.T.sum(0),
    ]
    if o.dtype not in ("complex64", "complex128"):
        outputs += [x.max(), x.min(0), t.max((0, 1)), T.argmax(x, 1), T.argmin(x), T.argmax(t[::-1], 0)]
    if np.dtype(o.dtype).kind == "f":
        outputs += [T.softmax(x), T.log_softmax(x, 0), T.logsumexp(t, 1), T.softmax(x.T), T.mean(x), T.var(x, 0)]
    return [*outputs, x.sum(1)[:, None] + s]


@pytest.mark.long
def test_products_of_nothing():
    for dtype in ("float64", "complex64", "int8", "float16"):
        o = Operands(dtype)
        check(o.all, empty_products(o), *(o.values(*shape) for shape in [*EMPTY, (0, 0, 0)]))


GROUPS = {"views": views, "creation": creation, "indexing": indexing, "products": products, "reductions": reductions}


@pytest.mark.few(12)
@pytest.mark.parametrize("dtype", rarely_long(DTYPES))
@pytest.mark.parametrize("group", GROUPS)
def test_ops(group, dtype):
    operands = Operands(dtype)
    outputs = GROUPS[group](operands)
    function = check(operands.all, outputs, *(operands.values(*shape) for shape in SHAPES))
    if group in ("views", "creation"):
        for shape in EMPTY:
            check(operands.all, outputs, operands.values(*shape), function=function)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64"])
def test_ranges(dtype):
    a, b, c = (T.scalar(n, dtype=dtype) for n in "abc")
    function = compiled([a, b, c], [T.Arange()(a, b, c)])
    bounds = [(0, 7, 1), (3, 3, 1), (5, 1, 1), (1, 100, 7), (2, 9, 3)]
    if np.dtype(dtype).kind != "u":
        bounds += [(5, -3, -2), (-3, 5, 2), (-5, 5, -1)]
    if np.dtype(dtype).kind == "f":
        bounds += [(0, 1, 0.1), (0.5, 2.25, 0.25), (1, 2, 0.3)]
    for bound in bounds:
        values = [np.array(n, dtype) for n in bound]
        check([a, b, c], [T.Arange()(a, b, c)], values, exact=True, function=function)
    with pytest.raises(ValueError, match="arange has a step of 0"):
        function(*(np.array(n, dtype) for n in (0, 3, 0)))
    if np.dtype(dtype).kind == "f":
        with pytest.raises(ValueError, match="not finite"):
            function(*(np.array(n, dtype) for n in (0, np.inf, 1)))


LAYOUTS = {
    "reversed": lambda a: a[..., ::-1],
    "stepped": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "F order": np.asfortranarray,
    "broadcast": lambda a: np.broadcast_to(a[..., :1], a.shape),
    "misaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), a.dtype, offset=1).reshape(a.shape),
    "inner": lambda a: np.pad(a, 2)[tuple(slice(2, -2) for _ in a.shape)],
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "record field": lambda a: np.rec.fromarrays([a.astype(bool), a], names="pad, x")["x"].view(np.ndarray),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "complex128", "bool"])
def test_layouts(dtype):
    """Strides, alignment and byte order of what is given change nothing, nor is it changed."""
    operands = Operands(dtype)
    x, y, v, t = operands.x, operands.y, operands.v, operands.t
    inputs, outputs = (
        [x, y, v, t],
        [x + y if dtype != "bool" else x | y, T.dot(x, y.T), x.sum(0), T.reshape(t, (-1,)), x.T, v[::-1]],
    )
    function = compiled(inputs, outputs)
    rng = np.random.default_rng(0)
    plain = [sample(rng, dtype, shape) for shape in [(4, 5), (4, 5), (5,), (2, 3, 4)]]
    for name, layout in LAYOUTS.items():
        given = [layout(a) for a in plain]
        before = [a.tobytes() for a in given]
        for a in given:
            a.flags.writeable = False
        for k, (got, want) in enumerate(
            zip(function(*given), expected(inputs, outputs, [a.copy() for a in given]), strict=True)
        ):
            assert_same(got, want.astype(want.dtype.newbyteorder("=")), what=f"{name}, output {k}")
        assert [a.tobytes() for a in given] == before


def test_broadcasting_is_decided_when_it_runs():
    x, y, t = T.matrix("x"), T.vector("y"), T.tensor3("t")
    outputs = [x + y, x * x.T, t - x, T.where(x > y, x, y), (t + y).sum((0, 2)), T.exp(y) * t]
    function = compiled([x, y, t], outputs)
    rng = np.random.default_rng(1)
    for shapes in [
        [(3, 3), (3,), (2, 3, 3)],
        [(1, 1), (4,), (2, 1, 4)],
        [(4, 4), (1,), (1, 1, 1)],
        [(1, 1), (1,), (5, 6, 1)],
    ]:
        check([x, y, t], outputs, [rng.standard_normal(s) for s in shapes], function=function)


def test_summing_back_to_a_shape_is_decided_when_it_runs():
    g, like, row = T.tensor3("g"), T.tensor3("like"), T.vector("row")
    outputs = [T.SumTo()(g, like), T.SumTo()(g, row), T.SumTo()(g.transpose((2, 1, 0)), like.transpose((2, 1, 0)))]
    function = compiled([g, like, row], outputs)
    rng = np.random.default_rng(2)
    full = rng.standard_normal((3, 4, 5))
    for shape in [(3, 4, 5), (1, 4, 5), (3, 1, 5), (1, 1, 1), (3, 4, 1), (1, 4, 1)]:
        for m in (1, 5):
            check([g, like, row], outputs, [full, np.zeros(shape), np.zeros(m)], function=function)
    check([g, like, row], outputs, [np.zeros((0, 4, 5)), np.zeros((1, 4, 5)), np.zeros(5)], function=function)
    with pytest.raises(ValueError, match="do not agree"):
        function(full, np.zeros((2, 4, 5)), np.zeros(5))


def test_outputs_share_memory_with_nothing():
    x, v = T.matrix("x"), T.vector("v")
    y = x + 1
    outputs = [x, x, x.T, y, y, y.T, y[0], T.reshape(y, (-1,)), T.constant(np.ones(3)), v, y[:, None], T.shape(x)]
    function = compiled([x, v], outputs)
    for _ in range(3):
        a, b = np.arange(6.0).reshape(2, 3), np.arange(2.0)
        results = function(a, b)
        for k, r in enumerate(results):
            assert r.flags.writeable and r.flags.c_contiguous
            assert not any(np.shares_memory(r, other) for other in [a, b, *results[:k], *results[k + 1 :]])
            r[...] = 77
        np.testing.assert_array_equal(a, np.arange(6.0).reshape(2, 3))
        check([x, v], outputs, [a, b], function=function)


def test_outputs_whose_shape_depends_on_values():
    n, x = T.lscalar("n"), T.vector("x")
    outputs = [T.arange(n), x[:n], T.zeros((n, 2)), x[n:] * 2, T.reshape(T.arange(n * 2), (2, -1))]
    function = compiled([n, x], outputs)
    for size in (0, 1, 5, 5, 3, 1000, 2):
        check([n, x], outputs, [np.array(size), np.arange(7.0)], function=function)


def test_scalars_in_and_out():
    a, b = T.scalar("a"), T.lscalar("b")
    function = compiled([a, b], [a * 2, b + 1, a * b])
    for given in [(1.5, 2), (np.array(1.5), np.array(2)), (np.float64(1.5), np.int64(2)), (True, True)]:
        results = function(*given)
        assert all(type(r) is np.ndarray and r.shape == () for r in results)
        assert results[0] == given[0] * 2 and results[1] == given[1] + 1


def test_a_shape_alone_computes_nothing():
    x, y = T.matrix("x"), T.matrix("y")
    outputs = [T.shape(T.exp(x) * y), T.exp(x.T).sum(0).shape[0]]
    function = compiled([x, y], outputs)
    assert not function.kernels
    check([x, y], outputs, [np.ones((3, 2)), np.ones((1, 2))], function=function)
    with pytest.raises(ValueError, match="lengths 3 and 2"):
        function(np.ones((3, 2)), np.ones((2, 2)))


# --- ops without C


class Median(TensorOp):
    name = "median"

    def infer(self, inputs):
        return (TensorType("float64", inputs[0].type.shape[:-1]), TensorType("int64", (None,)))

    def evaluate(self, x):
        if x.size and np.isnan(x).any():
            raise ArithmeticError("a NaN came in")
        return np.median(x, axis=-1), np.argsort(x, axis=None)[:3]


def test_an_op_without_c_runs_in_python():
    x = T.matrix("x")
    middle, order = Apply(Median(), [x.T + 1]).outputs
    outputs = [middle * 2, order, T.exp(middle).sum()]
    function = compiled([x], outputs)
    rng = np.random.default_rng(3)
    for shape in [(4, 5), (4, 5), (7, 2), (1, 9)]:
        check([x], outputs, [rng.standard_normal(shape)], function=function)
    with pytest.raises(ArithmeticError, match="a NaN came in"):
        function(np.full((2, 2), np.nan))
    check([x], outputs, [rng.standard_normal((3, 3))], function=function)


# --- shared values


class Container:
    def __init__(self, value):
        self.value = value


def test_updates_are_written_after_success_alone():
    x, w = T.vector("x"), T.vector("w")
    container = Container(np.zeros(3))
    function = compiled([x, w], [(x * w).sum(), w + x], updates=[(1, 1)], shared=[None, container])
    before = container.value
    (total,) = function(np.ones(3))
    assert total == 0
    np.testing.assert_array_equal(container.value, 1)
    np.testing.assert_array_equal(before, 0)
    kept = container.value
    with pytest.raises(ValueError, match="do not agree"):
        function(np.ones(4))
    assert container.value is kept
    container.value = np.full(6, 2.0)[::2]
    (total,) = function(np.ones(3))
    assert total == 6
    np.testing.assert_array_equal(container.value, 3)


# --- errors


def test_after_an_error_the_function_works_and_nothing_leaks():
    x, y, j = T.vector("x"), T.vector("y"), T.lvector("j")
    function = compiled([x, y, j], [T.exp(x) * 2, (x * 3 + y)[j]])
    table = function._caller.runtime.pool
    good = [np.arange(3.0), np.arange(3.0), np.array([0, -3, 2])]
    function(*good)
    live = table().live
    for bad in [[np.ones(3), np.ones(4), good[2]], [*good[:2], np.array([0, 3])], [*good[:2], np.array([-4])]]:
        for _ in range(5):
            with pytest.raises((ValueError, IndexError)):
                function(*bad)
    assert table().live == live
    assert function(*good)[1].tolist() == [0, 0, 8]


def test_lengths_that_do_not_agree_are_reported_with_names_shapes_and_line():
    x, y, m = T.vector("x"), T.vector("y"), T.matrix("m")
    cases = [
        ([x, y], x * y, (np.ones(3), np.ones(4)), r"lengths 3 and 4 .*x \(3,\), y \(4,\)"),
        ([m, x], T.dot(m, x), (np.ones((2, 3)), np.ones(4)), r"lengths 3 and 4 .*m \(2, 3\), x \(4,\)"),
        ([x, y], T.concatenate([m := T.outer(x, x), T.outer(y, y)]), (np.ones(3), np.ones(4)), "lengths 3 and 4"),
        ([x, y], T.set_subtensor(x[1:], y), (np.ones(3), np.ones(4)), "lengths 4 and 2"),
        ([x], T.reshape(x, (2, 2)), (np.ones(3),), r"x of shape \(3,\) has 3 elements, not the 4"),
        ([x], T.broadcast_to(x, (2, 2)), (np.ones(3),), "lengths 3 and 2"),
        ([x], T.dimshuffle(x), (np.ones(3),), "lengths 3 and 1"),
    ]
    for inputs, output, values, message in cases:
        with pytest.raises(ValueError, match=message) as caught:
            compiled(inputs, [output], name="model")(*values)
        text = str(caught.value)
        assert text.startswith("model: ") and "test_executor.py:" in text and len(text.splitlines()) <= 4


def test_indices_out_of_range_are_reported_with_axis_size_and_line():
    x, i, j = T.matrix("x"), T.lscalar("i"), T.lvector("j")
    outputs = [x[i], x[:, i], x[j], x[:, j], T.set_subtensor(x[0, j], 1.0), T.inc_subtensor(x[:, i], 1.0)]
    axes, sizes = [0, 1, 0, 1, 1, 1], [4, 5, 4, 5, 5, 5]
    for output, axis, size in zip(outputs, axes, sizes, strict=True):
        function = compiled([x, i, j], [output])
        for index in (size, size + 1, -size - 1, 2**63 - 1, -(2**63)):
            with pytest.raises(
                IndexError, match=f"index {index} is out of bounds for axis {axis} of x with size {size}"
            ) as caught:
                function(np.zeros((4, 5)), index, np.array([0, index, 1]))
            assert "test_executor.py:" in str(caught.value)
        for index in (size - 1, -size, 0):
            check(
                [x, i, j],
                [output],
                [np.arange(20.0).reshape(4, 5), np.array(index), np.array([index])],
                function=function,
            )


def test_other_errors():
    x, i, n = T.vector("x"), T.lscalar("i"), T.lscalar("n")
    big = np.array(2**61)
    for output, values, error, message in [
        (x[::i], (np.ones(3), 0, 0), ValueError, "step of a slice is 0"),
        (T.zeros((n, i)), (np.ones(1), -1, 2), ValueError, "a length is negative"),
        (T.zeros((n, i)), (np.ones(1), big, big), MemoryError, "no memory for an array of shape"),
        (T.zeros((n, i)), (np.ones(1), np.array(2**45), np.array(1)), MemoryError, "no memory"),
        (x.max(), (np.ones(0), 0, 0), ValueError, "of no elements is not defined"),
        (i**n, (np.ones(1), 2, -1), ValueError, "negative integer powers"),
    ]:
        function = compiled([x, i, n], [output])
        with pytest.raises(error, match=message):
            function(*values)
    assert compiled([x, i, n], [T.zeros((n, i, 0))])(np.ones(1), 2**29, 2**29)[0].shape == (2**29, 2**29, 0)
    with pytest.raises(MemoryError):
        compiled([x, i, n], [T.zeros((n, i, 0))])(np.ones(1), big, big)


# --- whole graphs


def joined(graphs):
    """One graph of the inputs, outputs and updates of several."""
    inputs, outputs, updates = [], [], []
    for graph in graphs:
        updates += [(i + len(inputs), o + len(outputs)) for i, o in graph.updates]
        inputs += graph.inputs
        outputs += graph.outputs
    return FunctionGraph(inputs, outputs, updates)


@pytest.mark.few(1)
@pytest.mark.parametrize("first", range(6))
def test_random_graphs_give_the_bits_of_numpy(first):
    """Sums and products of small whole numbers, so every order of computation is exact; odd seeds have updates.

    Five graphs are compiled as one.
    """
    drawn = [random_graph(random.Random(seed), updates=seed % 2 == 1) for seed in range(first, 30, 6)]
    graph, arrays = joined([g for g, _ in drawn]), [a for _, those in drawn for a in those]
    want = interpret(graph, [a.copy() for a in arrays])
    updates = dict(graph.updates)
    candidates = [graph]
    if first % 3 == 0:
        candidates.append(optdb.query("fast_run -assume_equal")(graph, GraphEditor())[0])
    for candidate in candidates:
        containers = [Container(a.copy()) if k in updates else None for k, a in enumerate(arrays)]
        function = compiled_graph(candidate, shared=containers)
        given = [a for k, a in enumerate(arrays) if k not in updates]
        for _ in range(2):
            for k in updates:
                containers[k].value = arrays[k].copy()
            own = [w for o, w in enumerate(want) if o not in updates.values()]
            for got, wanted in zip(function(*given), own, strict=True):
                np.testing.assert_array_equal(got, wanted, strict=True)
            for k, o in updates.items():
                np.testing.assert_array_equal(containers[k].value, want[o], strict=True)


# --- threads, size, profile


@pytest.mark.long
def test_threads_share_a_function():
    x, y = T.vector("x"), T.matrix("y")
    function = compiled([x, y], [T.exp(x) + y, (x * y).sum(), T.dot(y, x)])
    rng = np.random.default_rng(4)
    cases = [[rng.standard_normal(n), rng.standard_normal((3, n))] for n in (1, 2, 3, 5, 8, 13, 21, 34)]
    wanted = [[r.tobytes() for r in function(*case)] for case in cases]
    wrong = []

    def work(k):
        for n in range(10_000):
            which = (k + n) % len(cases)
            if [r.tobytes() for r in function(*cases[which])] != wanted[which]:
                wrong.append(which)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


@pytest.mark.long
@pytest.mark.parametrize("links", mostly_long([500, 2_500], {500}))
def test_a_chain_of_two_nodes_a_link(links):
    """The compiler takes time in proportion; test_function compiles a chain of 20,000 nodes."""
    x = T.vector("x")
    y = x
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        for k in range(links):
            y = T.sin(y) * x if k % 3 else y + 0.125
        function = compiled([x], [y])
        value = np.array([0.5, 1.25, -0.75])
        result = function(value)
    finally:
        sys.setrecursionlimit(limit)
    assert len(function.program.sites) > 1.6 * links
    np.testing.assert_allclose(result[0], expected([x], [y], [value])[0], rtol=1e-9)


def test_the_profile_counts_calls_and_bytes():
    x = T.matrix("x")
    profile = RunProfile("step")
    function = compiled([x], [T.dot(T.exp(x), x), x.T], profile=profile)
    for _ in range(3):
        function(np.ones((4, 4)))
    rows = {step.text.split(" = ")[1].split("(")[0]: step for step in profile.steps if " = " in step.text}
    assert profile.calls == 3 and rows["exp"].calls == 3 and rows["dot"].calls == 3
    assert rows["exp"].bytes == 3 * 2 * 16 * 8 and rows["dot"].bytes == 3 * 3 * 16 * 8
    assert 0 < profile.step_seconds < profile.seconds
    assert rows["dot"].kernel == "ag_product" and "test_executor.py" in rows["dot"].lines[0]
    assert abs(sum(profile.share(s.seconds) for s in profile.steps) - 100) < 1e-6
    assert "exp" in str(profile) and profile.to_dict()["calls"] == 3
    assert "clock()" not in compiled([x], [T.exp(x)]).source.split("struct frame")[1]


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64"])
def test_a_number_set_at_strides(dtype):
    x, v, step = T.tensor(dtype, (None,)), T.tensor(dtype, ()), T.lscalar()
    f = ag.function([x, v, step], T.set_subtensor(x[1::step], v))
    for n in (0, 1, 2, 9, 27, 40):
        for each in (1, 3, -2):
            expected = np.zeros(n, dtype)
            given = expected.copy()
            expected[1::each] = 1
            np.testing.assert_array_equal(f(given, np.ones((), dtype), each), expected)
