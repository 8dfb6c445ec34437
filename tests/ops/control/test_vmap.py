"""One example made many: every op, each of its operands with and without the new axis, against one call an example."""

from itertools import product
from random import Random

import numpy as np
import pytest
from draws import mostly_long
from forests import forest
from random_graphs import random_graph

import arignote as ag
from arignote import ops as T
from arignote.graph.facets import classes_of
from arignote.ops.control.batching import NoBatch
from arignote.ops.core.interpret import evaluate
from arignote.ops.core.tensor import TensorOp
from arignote.ops.sparse.extremes import SparseExtreme, SparseExtremes
from arignote.ops.sparse.rows import SparseRows
from arignote.ops.sparse.values import SparseValues

N = 3
F, I, M = "float64", "int64", "positive definite"
"""Kinds of arguments: numbers, indices, matrices A @ A.T + I."""

TREES = list(map(T.constant, forest(np.random.default_rng(0), 4, 3, 2, 2, 2, "float64")))
PLACES = np.int32([2, 0, 2]), np.int32([0, 1, 1, 3])
CASES = {
    "trees": (lambda x: T.TreeFold("add", 2)(x, *TREES), [(F, (4, 2))]),
    "scan": (lambda x, s: ag.scan(lambda x, s: s * x, x, s)[0], [(F, (4,)), (F, ())]),
    "cond": (lambda x, s: ag.cond(s > 0, lambda: x * s, lambda: x - s), [(F, (4,)), (F, ())]),
    "while_loop": (lambda x: ag.while_loop(lambda s: s < 9, lambda s: s * 2 + 1, T.abs(x)), [(F, ())]),
    "slope of a while_loop": (
        lambda x, y: ag.grad(ag.while_loop(lambda s: s < 9, lambda s: s * (1 + T.abs(y)) + 1, T.abs(x)), y),
        [(F, ()), (F, ())],
    ),
    "checkpoint": (lambda x: ag.grad(ag.checkpoint(T.tanh)(x * x).sum(), x), [(F, (3,))]),
    "callback": (
        lambda x, y: ag.pure_callback(np.add, ag.ShapeDtypeStruct((3,), F), x, y, vmap_method="sequential"),
        [(F, (3,)), (F, ())],
    ),
    "array_op": (
        lambda x, y: 2 * ag.array_op("sum_of_two", lambda a, b: a + b, result=lambda a, b: a)(x, y),
        [(F, (3,)), (F, ())],
    ),
    "elementwise": (lambda x, y: T.exp(x) * y - T.maximum(x, y), [(F, (2, 4)), (F, (4,))]),
    "scalars": (lambda x, y: T.where(x > y, x, y) + x, [(F, ()), (F, ())]),
    "rank grows": (lambda x, y: x + y, [(F, ()), (F, (2, 3))]),
    "cast": (lambda x: T.cast(x * 3, "int32"), [(F, (4,))]),
    "fill": (T.fill, [(F, (2, 3)), (F, (3,))]),
    "sum": (lambda x: x.sum(1), [(F, (2, 3, 2))]),
    "sum of all": (lambda x: x.sum(), [(F, (2, 3))]),
    "prod": (lambda x: x.prod((0, 2)), [(F, (2, 3, 2))]),
    "argmax": (lambda x: x.argmax(1), [(F, (2, 5))]),
    "argmin of all": (lambda x: x.argmin(), [(F, (2, 5))]),
    "mean and variance": (lambda x: (x - x.mean(0)) / x.std(0), [(F, (4, 3))]),
    "cumsum": (lambda x: x.cumsum(0), [(F, (3, 2))]),
    "cumprod of all": (T.cumprod, [(F, (3, 2))]),
    "softmax": (lambda x: T.nn.softmax(x, axis=0), [(F, (3, 2))]),
    "log_softmax": (T.nn.log_softmax, [(F, (3, 2))]),
    "logsumexp": (lambda x: T.logsumexp(x, axis=1), [(F, (3, 2))]),
    "sort": (lambda x: T.sort(x, axis=0), [(F, (5, 2))]),
    "argsort": (T.argsort, [(F, (2, 5))]),
    "searchsorted": (lambda x: T.searchsorted(T.constant([0.0, 0.5, 1.0]), x), [(F, (4,))]),
    "transpose": (lambda x: T.transpose(x, (2, 0, 1)), [(F, (2, 3, 4))]),
    "new axes": (lambda x: x[:, None] * x, [(F, (3,))]),
    "squeeze": (lambda x: T.squeeze(x, 1), [(F, (3, 1))]),
    "reshape": (lambda x: x.reshape((3, -1)), [(F, (2, 6))]),
    "lengths": (lambda x: x * x.shape[0] + x.shape[1], [(F, (2, 3))]),
    "a length alone": (lambda x: x.shape[1] * 2, [(F, (2, 3))]),
    "shape as a vector": (lambda x: T.sum(x) * x.shape, [(F, (2, 3))]),
    "broadcast_to": (lambda x: T.broadcast_to(x, (2, 3, 4)), [(F, (3, 1))]),
    "alloc": (lambda x: T.full((2, 3), x), [(F, ())]),
    "zeros_like": (lambda x: T.zeros_like(x) + 1, [(F, (2, 3))]),
    "tile and repeat": (lambda x: T.tile(T.repeat(x, 2, axis=1), (2, 1)), [(F, (2, 3))]),
    "make_vector": (lambda x, y: T.stack([x, y, x * y]), [(F, ()), (F, ())]),
    "concatenate": (lambda x, y: T.concatenate([x, y], axis=1), [(F, (2, 3)), (F, (2, 1))]),
    "pad and roll": (lambda x: T.roll(T.pad(x, 1), 2, axis=1), [(F, (2, 3))]),
    "windows": (lambda x: T.sliding_window_view(x, 3, axis=1), [(F, (2, 5))]),
    "flip": (lambda x: T.flip(x, 1), [(F, (2, 3))]),
    "split": (lambda x: T.split(x, 3, axis=1)[1], [(F, (2, 6))]),
    "slices": (lambda x: x[1:, ::-2], [(F, (4, 5))]),
    "an integer": (lambda x: x[:, -2], [(F, (4, 5))]),
    "an index": (lambda x, i: x[i], [(F, (4, 5)), (I, ())]),
    "an index behind": (lambda x, i: x[1:, i], [(F, (4, 5)), (I, ())]),
    "two indices": (lambda x, i, j: x[i, :, j], [(F, (4, 5, 4)), (I, ()), (I, ())]),
    "array": (lambda x, i: x[i], [(F, (4, 2)), (I, (5,))]),
    "array behind": (lambda x, i: x[:, i], [(F, (2, 4)), (I, (2, 3))]),
    "arrays": (lambda x, i, j: x[i, j], [(F, (4, 4, 2)), (I, (3, 1)), (I, (2,))]),
    "arrays apart": (lambda x, i, j: x[i, :, j], [(F, (4, 2, 4)), (I, (3,)), (I, (1,))]),
    "array and integer apart": (lambda x, i, j: x[i, 1:, j], [(F, (4, 3, 4)), (I, (3,)), (I, ())]),
    "take_along_axis": (lambda x, i: T.take_along_axis(x, i, axis=1), [(F, (2, 4)), (I, (2, 3))]),
    "set": (lambda x, y: T.set_subtensor(x[1:, 2], y), [(F, (4, 5)), (F, (3,))]),
    "set a number": (lambda x: T.set_subtensor(x[0], 7.0), [(F, (4, 5))]),
    "increase": (lambda x, y: T.inc_subtensor(x[:, ::2], y), [(F, (2, 5)), (F, (3,))]),
    "increase at an index": (lambda x, y, i: T.inc_subtensor(x[1:, i], y), [(F, (4, 5)), (F, (3,)), (I, ())]),
    "scatter": (lambda x, y, i: T.inc_subtensor(x[i], y), [(F, (4, 2)), (F, (5, 2)), (I, (5,))]),
    "scatter a vector": (lambda x, y, i: T.inc_subtensor(x[:, i], y), [(F, (2, 4)), (F, (5,)), (I, (5,))]),
    "scatter apart": (lambda x, y, i, j: T.set_subtensor(x[i, :, j], y),
                      [(F, (4, 2, 4)), (F, (3, 2)), (I, (3,)), (I, (3,))]),
    "products of parts": (lambda x, y, i: x.at[1:, i].multiply(y), [(F, (3, 4)), (F, (5,)), (I, (5,))]),
    "extrema of parts": (lambda x, y, i: x.at[i].max(y), [(F, (4, 2)), (F, (5, 2)), (I, (5,))]),
    "sparse rows": (lambda d, x: SparseRows()(d, np.int32([2, 0, 2]), np.int32([0, 2, 2, 3]), x),
                    [(F, (3,)), (F, (3, 2))]),
    "sparse values": (lambda d, e: SparseValues()(d, *PLACES, e, *PLACES, *PLACES, 3), [(F, (3,)), (F, (3,))]),
    "sparse extremes": (lambda d: SparseExtremes("max")(d, *PLACES, 3), [(F, (3,))]),
    "sparse extreme": (lambda d: SparseExtreme("min")(d, np.int32([1, 0, 1]), np.int32([2, 0, 2]), 2, 3), [(F, (3,))]),
    "weighted gather": (lambda x, w: T.WeightedGather()(x, np.int32([[[2, -1, 0]] * 2]), w),
                        [(F, (1, 2, 3)), (F, (1, 2, 3))]),
    "dot of vectors": (T.dot, [(F, (4,)), (F, (4,))]),
    "matrix and vector": (T.dot, [(F, (2, 4)), (F, (4,))]),
    "vector and matrix": (T.dot, [(F, (4,)), (F, (4, 2))]),
    "matrices": (lambda x, y: x @ y, [(F, (2, 4)), (F, (4, 3))]),
    "batches": (lambda x, y: x @ y, [(F, (5, 2, 4)), (F, (4, 3))]),
    "batches and a row": (lambda x, y: x @ y, [(F, (4,)), (F, (2, 4, 3))]),
    "einsum": (lambda x, y: T.einsum("ij,kj->ik", x, y), [(F, (2, 4)), (F, (3, 4))]),
    "outer": (T.outer, [(F, (2,)), (F, (4,))]),
    "solve": (T.linalg.solve, [(M, (3, 3)), (F, (3, 2))]),
    "solve_triangular": (lambda x, y: T.linalg.solve_triangular(x, y, lower=True), [(M, (3, 3)), (F, (3, 2))]),
    "inv and det": (lambda x: T.linalg.inv(x) * T.linalg.det(x), [(M, (3, 3))]),
    "cholesky": (T.linalg.cholesky, [(M, (3, 3))]),
    "cholesky_gradient": (T.CholeskyGradient(), [(M, (3, 3)), (F, (3, 3))]),
    "slogdet": (lambda x: T.linalg.slogdet(x)[1], [(M, (3, 3))]),
    "eigvalsh": (T.linalg.eigvalsh, [(M, (3, 3))]),
    "eigvals of two": (lambda a, b: T.sum(T.real(T.linalg.eigvals(a, b))), [(M, (3, 3)), (M, (3, 3))]),
    "svdvals": (T.linalg.svdvals, [(F, (3, 2))]),
    "pinv": (T.linalg.pinv, [(F, (2, 4, 3)), (F, ())]),
    "pinv by thresholds": (T.linalg.pinv, [(F, (4, 2, 4, 3)), (F, (2,))]),
    "qr": (lambda x: T.matmul(*T.linalg.qr(x)), [(F, (3, 3))]),
    "lu_solve": (lambda a, b: T.linalg.lu_solve(T.linalg.lu_factor(a), b), [(M, (3, 3)), (F, (3, 2))]),
    "qz": (lambda a, b: T.stack(T.linalg.qz(a, b)), [(F, (3, 3)), (M, (3, 3))]),
    "solve_banded": (lambda ab, b: T.linalg.solve_banded((1, 1), ab, b), [(F, (3, 4)), (F, (4,))]),
    "solve_sylvester": (T.linalg.solve_sylvester, [(M, (3, 3)), (M, (2, 2)), (F, (3, 2))]),
    "solve_continuous_are": (T.linalg.solve_continuous_are, [(F, (3, 3)), (F, (3, 2)), (M, (3, 3)), (M, (2, 2))]),
    "solve_discrete_are": (T.linalg.solve_discrete_are, [(F, (3, 3)), (F, (3, 2)), (M, (3, 3)), (M, (2, 2))]),
    "fft": (lambda x: T.fft.irfft(T.fft.rfft(x, axis=0) * 2, axis=0), [(F, (5, 2))]),
    "topk": (lambda x: T.add(*T.topk(x, 3, axis=0)), [(F, (5, 2))]),
    "watched": (lambda x: ag.tap(x, "x") * 2, [(F, (5, 2))]),
    "median": (T.median, [(F, (6,))]),
    "quantiles": (lambda x: T.quantile(x, [0.3, 0.9], axis=0), [(F, (5, 2))]),
    "assume": (lambda x: T.assume(x, "symmetric") @ x, [(M, (3, 3))]),
    "by phase": (lambda x: T.ByPhase()(x * 2, np.ones((3, 3))), [(F, (3, 3))]),
    "promised lengths": (lambda x: T.specify_shape(x, (3, None)) * x[np.array([True, False, True])][0], [(F, (3, 2))]),
    "checked lengths": (lambda x: T.CheckLengths((("x", 0),))(x, 3, x.shape[0]), [(F, (3, 2))]),
    "conditions": (
        lambda x, n: T.Check("got {0} and {1}")(x, T.all(n < 9), n[0], T.cast(n[1], "float64")),
        [(F, (3, 2)), (N, (2,))],
    ),
    "conditions of shared values": (lambda x: T.Check("got {0}")(T.ones(2), x[0] < 99, x[0]), [(F, (2,))]),
    "diag": (T.diag, [(F, (3, 3))]),
    "diagonal matrix": (T.diag, [(F, (3,))]),
    "tril": (lambda x: T.tril(x, -1), [(F, (3, 3))]),
    "convolution": (lambda x, w: T.nn.conv1d(x, w, stride=2, padding=1, groups=2), [(F, (2, 4, 6)), (F, (6, 2, 3))]),
    "gradients of a convolution": (
        lambda x, w: ag.grad(T.sum(T.tanh(T.nn.conv1d(x, w, groups=2))), w), [(F, (2, 4, 6)), (F, (6, 2, 3))]
    ),
    "pooling": (lambda x: T.nn.max_pool2d(x, 2) + T.nn.avg_pool2d(x, 2), [(F, (1, 2, 4, 5))]),
    "pooling back": (
        lambda x, g: T.MaxPoolGradient((2, 2), (1, 2), (1, 1))(x, T.MaxPool((2, 2), (1, 2), (1, 1))(x), g),
        [(F, (1, 2, 4, 5)), (F, (1, 2, 3, 2))],
    ),
    "gradient of a broadcast row": (lambda x, y: ag.grad(T.sum(T.exp(x * y)), y), [(F, (4, 3)), (F, (3,))]),
    "gradient of a broadcast column": (lambda x, y: ag.grad(T.sum(T.exp(x * y)), y), [(F, (4, 3)), (F, (4, 1))]),
    "gradient of a gather": (lambda x, i: ag.grad(T.sum(T.exp(x[i])), x), [(F, (4, 2)), (I, (3,))]),
}  # fmt: skip


def argument(kind, shape, rng):
    if kind == I:
        return rng.integers(-4, 4, shape)
    x = rng.standard_normal(shape)
    return x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1]) if kind == M else x


@pytest.mark.parametrize("static", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("name", CASES)
def test_an_op_for_many_examples_is_the_op_for_each(name, static):
    function, arguments = CASES[name]
    for mapped in product([True, False], repeat=len(arguments)):
        if any(mapped):
            assert_mapped(function, arguments, mapped, static)


def assert_mapped(function, arguments, mapped, static):
    rng = np.random.default_rng(7)
    values = [argument(k, (N, *s) if m else s, rng) for (k, s), m in zip(arguments, mapped, strict=True)]
    variables = [T.tensor(f"x{k}", v.dtype, v.shape if static else (None,) * v.ndim) for k, v in enumerate(values)]
    result = ag.vmap(function, in_axes=[0 if m else None for m in mapped])(*variables)
    (found,) = evaluate([result], dict(zip(variables, values, strict=True)))
    ones = [T.tensor(f"y{k}", v.dtype, s) for k, (v, (_, s)) in enumerate(zip(values, arguments, strict=True))]
    one = function(*ones)
    expected = []
    for n in range(N):
        given = [v[n] if m else v for v, m in zip(values, mapped, strict=True)]
        expected.append(evaluate([one], dict(zip(ones, map(np.asarray, given), strict=True)))[0])
    assert result.dtype == one.dtype
    assert found.shape == (N, *expected[0].shape)
    np.testing.assert_allclose(found, np.stack(expected), rtol=1e-12, atol=1e-12)


def test_every_rule_is_for_a_class_of_ops_and_is_tried():
    loaded = [kind for kind in classes_of(TensorOp) if kind.__module__.startswith("arignote.ops.")]
    ours = [kind for kind in loaded if "batching" in vars(kind)]
    tried = set()
    for function, arguments in CASES.values():
        result = function(*(T.tensor(dtype="int64" if k == I else F, shape=(None,) * len(s)) for k, s in arguments))
        seen = [result]
        while seen:
            v = seen.pop()
            if v.owner is not None:
                tried.add(type(v.owner.op))
                seen.extend(v.owner.inputs)
    assert [kind.__name__ for kind in ours if not any(issubclass(t, kind) for t in tried)] == []


@pytest.mark.parametrize("seed", mostly_long(range(40), range(10)))
def test_random_graphs_of_many_examples(seed):
    graph, values = random_graph(Random(seed))
    arrays = dict(zip(graph.inputs, values, strict=True))
    rng = np.random.default_rng(seed)
    chosen = [v for v in graph.inputs if rng.random() < 0.6] or list(graph.inputs[:1])
    many = {v: T.tensor(f"many_{v.name}", v.dtype, (None, *v.type.shape)) for v in chosen}
    values = {many[v]: np.stack([arrays[v], arrays[v] * 2 - 1, arrays[v][...] * 0]) for v in chosen}
    results = ag.vectorize(list(graph.outputs), many)
    shared = {v: arrays[v] for v in graph.inputs if v not in many}
    found = evaluate(results, {**values, **shared})
    for n in range(3):
        one = evaluate(list(graph.outputs), {**shared, **{v: values[many[v]][n] for v in chosen}})
        for whole, part in zip(found, one, strict=True):
            np.testing.assert_allclose(whole[n], part, rtol=1e-12)


# --- the functions


def compiled(inputs, result, *values):
    return ag.function(inputs, result)(*values)


def test_compiled_and_in_other_axes():
    x, w = T.matrix("x"), T.matrix("w")
    layer = ag.vmap(lambda column, w: T.tanh(w @ column), in_axes=(1, None), out_axes=-1)(x, w)
    a, b = np.arange(12.0).reshape(3, 4) / 9, np.ones((2, 3))
    np.testing.assert_allclose(compiled([x, w], layer, a, b), np.tanh(b @ a))


def test_several_results_and_results_without_examples():
    x, y = T.matrix("x"), T.scalar("y")
    first, second, third = ag.vmap(lambda row, y: (row.sum(), y * 2, row * y), in_axes=(0, None))(x, y)
    a = np.arange(6.0).reshape(3, 2)
    found = compiled([x, y], [first, second, third], a, 5.0)
    for f, e in zip(found, (a.sum(1), np.full(3, 10.0), a * 5), strict=True):
        np.testing.assert_array_equal(f, e)


@pytest.mark.parametrize("mapped", [lambda f: ag.jit(ag.vmap(f)), lambda f: ag.vmap(ag.jit(f))])
def test_arguments_have_their_names_and_are_given_by_them(mapped):
    def score(weights, points):
        return weights @ points

    w, p = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    for found in (mapped(score)(w, points=p), mapped(score)(points=p, weights=w)):
        np.testing.assert_array_equal(found, [3.0, 12.0])
    with pytest.raises(ValueError, match=r"weights\[:, None\] \(2, 1, 3\), points\[:, :, None\] \(2, 2, 1\)"):
        mapped(score)(w, p[:, :2])


def test_maps_inside_of_maps_and_under_gradients():
    x, y = T.matrix("x"), T.matrix("y")
    table = ag.vmap(lambda a: ag.vmap(lambda b: T.sum(T.square(a - b)))(y))(x)
    a, b = np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(4, 2) ** 0.5
    np.testing.assert_allclose(compiled([x, y], table, a, b), np.square(a[:, None] - b).sum(2))
    per_example = ag.vmap(lambda row, w: ag.grad(T.square(row @ w), w), in_axes=(0, None))(x, w := T.vector("w"))
    v = np.array([2.0, -1.0])
    np.testing.assert_allclose(compiled([x, w], per_example, a, v), 2 * (a @ v)[:, None] * a)


def test_vectorize_replaces_an_intermediate():
    x = T.vector("x")
    middle = T.exp(x)
    result = middle * x
    many = T.matrix("many")
    a, m = np.array([1.0, 2.0]), np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(compiled([x, many], ag.vectorize(result, {middle: many}), a, m), m * a)


def test_nothing_is_looped_over_and_lines_stay():
    x = T.matrix("x")
    result = ag.vmap(lambda row: T.tanh(row) * 2)(x)
    assert str(ag.function([x], result).graph).count("fused") == 1
    assert "test_vmap" in str(result.owner.origin[0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, v: ag.vmap(3), TypeError, "vmap: expected a function of variables, got 3"),
        (lambda x, v: ag.vmap(T.exp, in_axes=None)(x), ValueError, "in_axes is None for every argument"),
        (lambda x, v: ag.vmap(T.exp, in_axes=(0, 0))(x), ValueError, "in_axes gives 2 axes for 1 argument"),
        (lambda x, v: ag.vmap(T.exp, in_axes=2)(x), ValueError, r"argument 0: x .* has no axis 2"),
        (lambda x, v: ag.vmap(T.exp, out_axes=2)(x), ValueError, "out_axes is 2, and a result has 2 axes"),
        (lambda x, v: ag.vmap(T.add)(np.ones((2, 3)), np.ones((3, 3))), ValueError, "differ in the number of examples"),
        (lambda x, v: ag.vmap(T.unique)(x), NoBatch, "unique"),
        (lambda x, v: ag.vmap(lambda r: v[: T.cast(r.sum(), "int64")])(x), NoBatch, "a bound of a slice would differ"),
        (lambda x, v: ag.vmap(lambda r: T.zeros(T.cast(r.sum(), "int64")))(x), NoBatch, "the lengths of its result"),
        (lambda x, v: ag.vmap(lambda r: T.arange(r.sum()))(x), NoBatch, "arange cannot be .* many examples at once"),
        (lambda x, v: ag.vectorize(v, {}), ValueError, "replace is empty"),
        (lambda x, v: ag.vectorize(v, {v: v}), TypeError, r"v .* does not fit v .*: expected float64"),
        (lambda x, v: ag.vectorize("v", {v: x}), TypeError, "vectorize: outputs is 'v'; expected a variable"),
    ],
)  # fmt: skip
def test_mistakes(call, error, message):
    with pytest.raises(error, match=message):
        call(T.matrix("x"), T.vector("v"))


# --- Jacobians and Hessians


def differences(function, x, step=1e-6):
    columns = []
    for k in range(x.size):
        d = np.zeros(x.size)
        d[k] = step
        d = d.reshape(x.shape)
        columns.append((function(x + d) - function(x - d)) / (2 * step))
    return np.stack(columns, axis=-1).reshape((*np.shape(function(x)), *x.shape))


@pytest.mark.few(1)
@pytest.mark.parametrize("static", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: T.tanh(x) * T.sum(x), (4,)),
        (lambda x: T.sum(T.exp(x)), (3,)),
        (lambda x: x @ x, (3, 3)),
        (T.nn.softmax, (2, 3)),
        (lambda x: T.exp(x) * x, ()),
        (lambda x: x[None, 1:] * x[:, None][:-1], (4,)),
        (lambda x: T.linalg.inv(x + 5 * T.eye(x.shape[0])), (3, 3)),
        (T.cumprod, (4,)),
        (lambda x: x[[0, 0, 2]], (3,)),
        (lambda x: x * 2, (0,)),
    ],
)
def test_jacobian_is_that_of_differences(function, shape, static):
    a = np.random.default_rng(1).standard_normal(shape)
    x = T.tensor("x", "float64", shape if static else (None,) * len(shape))
    y = function(x)
    f, jacobian = ag.function([x], y), ag.function([x], ag.jacobian(y, x), on_unused_input="ignore")
    found = jacobian(a)
    assert found.shape == (*f(a).shape, *a.shape)
    if a.size:
        np.testing.assert_allclose(found, differences(f, a), rtol=1e-6, atol=1e-7)


def test_hessian_of_a_quadratic_form_and_of_several():
    x, y = T.vector("x"), T.matrix("y")
    m = np.arange(9.0).reshape(3, 3)
    (of_x, of_both), (_, of_y) = ag.hessian(x @ m @ x + T.sum(y**3), [x, y])
    a, b = np.ones(3), np.arange(6.0).reshape(2, 3)
    by_x, by_y = compiled([x, y], [of_x, of_y], a, b)
    np.testing.assert_allclose(by_x, m + m.T)
    np.testing.assert_array_equal(of_both.eval({x: a, y: b}), np.zeros((3, 2, 3)))
    np.testing.assert_allclose(by_y.reshape(6, 6), np.diag(6 * b.ravel()))
    linear = ag.hessian(T.sum(x * 3), x)
    np.testing.assert_array_equal(compiled([x], linear, a), np.zeros((3, 3)))


def test_jacobian_by_several_and_without_connection():
    x, y = T.vector("x"), T.vector("y")
    by_x, by_y = ag.jacobian(x * 2, (x, y), disconnected="zero")
    a, b = compiled([x, y], [by_x, by_y], np.ones(2), np.ones(3))
    np.testing.assert_array_equal(a, 2 * np.eye(2))
    np.testing.assert_array_equal(b, np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"jacobian: y .* is disconnected"):
        ag.jacobian(x * 2, [x, y])
    with pytest.raises(ValueError, match='jacobian: disconnected must be "raise" or "zero", got'):
        ag.jacobian(x, x, disconnected="none")
    with pytest.raises(TypeError, match="jacobian: the expression must be a real floating-point tensor, got"):
        ag.jacobian(T.lvector("i"), x)
    with pytest.raises(ValueError, match=r"jacobian: i .* is disconnected"):
        ag.jacobian(x, T.lvector("i"))
    with pytest.raises(TypeError, match=r"jvp: .* i .* is not differentiable"):
        ag.jvp(x, T.lvector("i"), np.ones(2, int))


def test_arrays_give_values_and_variables_expressions():
    x = np.arange(6.0).reshape(3, 2)
    v = T.vector("v")
    rng = T.random.RandomStream(1)
    squares = ag.vmap(lambda row: (row**2).sum())
    np.testing.assert_array_equal(squares(x), [1.0, 13.0, 41.0])
    assert squares(x.astype("f4")).dtype == "float32"
    np.testing.assert_array_equal(ag.vmap(lambda a, b: a @ b, (0, None))(x, np.ones(2)), [1.0, 5.0, 9.0])
    distances = ag.vmap(lambda p: ag.vmap(lambda q: ((p - q) ** 2).sum())(x))(x)
    np.testing.assert_array_equal(distances, [[0, 8, 32], [8, 0, 8], [32, 8, 0]])
    symbolic = [
        squares(T.constant(x)), squares(T.matrix("m")), ag.vmap(lambda row: row @ v)(x),
        ag.vmap(lambda row: row + rng.normal())(x),
    ]  # fmt: skip
    assert all(isinstance(found, T.TensorVariable) for found in symbolic)
    np.testing.assert_array_equal(symbolic[2].eval({v: [1.0, 1.0]}), [1.0, 5.0, 9.0])


def test_programs_with_loops_are_mapped_over_arrays():
    def positive(row):
        total = 0.0
        for value in row:
            if value > 2:
                total += value
        return total

    np.testing.assert_array_equal(ag.vmap(positive)(np.arange(6.0).reshape(3, 2)), [0.0, 3.0, 9.0])
