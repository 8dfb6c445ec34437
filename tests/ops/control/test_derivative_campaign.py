"""The zoo of ops: reverse against forward against differences, and `ag.vmap` of values and slopes against calls."""

import numpy as np
import pytest
from every_op import ZOO, A, B, K, N, V, X, Y

import arignote as ag
from arignote import ops as T
from arignote.graph import Constant, NoGradient, leaves
from arignote.ops.control.batching import NoBatch
from arignote.ops.lowered.assumed import CheckAssumed

pytestmark = pytest.mark.long
LOOSE = {"float16", "float32", "complex64"}
INDICES, ROWS = (T.constant(np.array(numbers, "int32")) for numbers in ([0, 2, 1], [0, 1, 2, 3]))
FITTED = [
    X.reshape((K + 1, -1)), T.inc_subtensor(X[K - 1 :], Y[1:]), T.specify_shape(X, (3, K + 1)),
    X[np.array([True, False, True])], T.CheckLengths((("q", 0),))(X, K + 1, 3), CheckAssumed((("q", 0),))(X, K + 1, 3),
    T.SolveBanded(1, 1)(X, Y), T.KernelGradient((2,), (1,), 3)(X[None], Y[None, :, :1], K),
    T.MaxPoolGradient((2, 3), (1, 2), (2, 1))(X, T.MaxPool((2, 3), (1, 2), (2, 1))(X), Y[:1, :1]),
    T.constant([1.5, 2.0, -1.0]) + V, T.SparseRows()(V, INDICES, ROWS, V), T.SparseAcross()(V, INDICES, ROWS, X, K + 1),
    T.SparseEntries()(V, INDICES, INDICES, X, K + 1),
    T.SparseValues()(V, INDICES, ROWS, V, *2 * [INDICES, ROWS], K + 1),
    T.SparseExtremes("max")(V, INDICES, ROWS, K + 1), T.SparseExtremes("min", True)(V, INDICES, ROWS, K + 1),
    T.SparseExtreme("max")(V, INDICES, INDICES, K + 1, K + 1),
    T.InPlace(T.IncSubtensor(("s100",), set=True), ((0, 0),))(X, Y[K:], K),
]  # fmt: skip
"""Ops whose operands in the zoo do not fit each other, with operands that do."""
EVERY = [v for v in ZOO if not v.owner.op.name.startswith("sparse_")] + FITTED
NOT_TRIED = {
    "rewrites pack their operands; the tests of these kernels compare them with what they replace": {
        "blocked_convolution", "blocked_kernel_gradient", "convolution_pair", "packed_dot", "sparse_dot",
        "sparse_columns", "two_of_four", "bfloat_convolution", "packed_bfloat_dot", "byte_convolution", "assume_equal",
        "look_up", "byte_softmax", "nibble_product", "widened_dot",
    },
    "draws of NumPy's generators are told apart by their state: test_random.py": {"generator_draw", "numpy_draw"},
    "lengths alone are their operands": {"alloc", "arange", "eye"},
    "places of sparse matrices, in integers, the same for all examples: test_sparse_patterns.py": {
        "sparse_pattern", "sparse_union", "sparse_places", "sparse_order",
    },
    "its operands are the nodes of trees: the tests of ensembles": {"tree_fold"},
}  # fmt: skip
"""The ops of which nothing is checked here, by the reason."""
NOT_MAPPED = {
    "rewrites make it": {
        "region", "dot22", "dot22scalar", "gemm", "gemv", "ger", "top", "pipeline", "assembled",
        "from_blocks", "blocked_pool", "channel_sums", "attention", "bfloat_dot", "bfloat_attention",
        "byte_product", "quantize_in_blocks", "mean", "fused_product", "fused", "inplace",
    },
    "would differ": {"whole_if", "nonzero", "unique", "unique_parts", "repeated_positions", "joined_ranges",
                     "non_max_suppression"},
}  # fmt: skip
"""The ops that have no rule for many examples, by a part of the message."""
NOT_DERIVED = {
    "rewrites make it": {"top", "mean"},
    "determine": {
        "eig 1", "eig_pencil 1", "eig_pencil 2", "schur 0", "schur 1", "qz 0", "qz 1", "qz 2", "qz 3",
    },
}
"""The results in floats that have no derivative, by a part of the message."""


def result_of(output):
    """The name of the op, and which of several results this is."""
    node = output.owner
    return node.op.name if len(node.outputs) == 1 else f"{node.op.name} {node.outputs.index(output)}"


def names_of(listed):
    return {name for names in listed.values() for name in names}


def matrix(rng, more):
    a = rng.normal(size=(3, 3))
    return a @ a.T + 3 * np.eye(3) + more * rng.normal(size=(3, 3))


def value(v, rng):
    made = {
        N: lambda: rng.permutation(3), K: lambda: np.int64(2), A: lambda: rng.uniform(2, 3),
        B: lambda: rng.uniform(0.1, 1), V: lambda: np.sort(rng.normal(size=3)),
        X: lambda: matrix(rng, 0), Y: lambda: matrix(rng, 0.1),
    }  # fmt: skip
    return np.asarray(made[v]())


def evaluated(output, at):
    return output.eval({v: at[v] for v in leaves([output]) if v in at})


def require_reason(reason):
    """The refusal of a slope's ops is a stated one."""
    assert any(text in str(reason) for text in NOT_MAPPED), reason


def require_listed(name, listed, reason):
    """The refusal gives the reason under which the op is listed."""
    assert any(name in names and text in str(reason) for text, names in listed.items()), f"{name}: {reason}"


def mapped(outputs, moving, rng, at):
    """Values of all examples at once, and one after the other."""
    many = {v: T.tensor(dtype=v.dtype, shape=(None, *v.type.shape)) for v in moving}
    points = [{**at, **{v: value(v, rng) for v in moving}} for _ in range(3)]
    wanted = [[evaluated(o, p) for p in points] for o in outputs]
    stacked = {**at, **{many[v]: np.array([p[v] for p in points]) for v in moving}}
    return [evaluated(o, stacked) for o in ag.vectorize(outputs, many)], wanted


def test_no_op_is_left_out():
    """Each op of the zoo is tried, or listed with a reason, and nothing else is listed."""
    ops = {v.owner.op.name for v in ZOO}
    assert names_of(NOT_TRIED) | names_of(NOT_MAPPED) <= ops
    assert names_of(NOT_DERIVED) <= {result_of(v) for v in ZOO}
    mapped = ops - names_of(NOT_TRIED) - names_of(NOT_MAPPED)
    sloped = [v for v in EVERY if has_slope(v) and result_of(v) not in names_of(NOT_DERIVED)]
    derived = {v.owner.op.name for v in sloped} - names_of(NOT_TRIED)
    assert (len(ops), len(mapped), len(derived)) == (151, 98, 100)


def has_slope(output):
    """Whether a float64 input moves a result in which differences show."""
    moved = any(v.type.kind == "f" for v in leaves([output]) if not isinstance(v, Constant))
    return moved and output.type.kind in "fc" and output.dtype not in LOOSE


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("number", range(len(EVERY)))
def test_an_op(number, seed):
    output, rng = EVERY[number], np.random.default_rng(seed)
    name = output.owner.op.name
    variables = [v for v in leaves([output]) if not isinstance(v, Constant)]
    at = {v: value(v, rng) for v in variables}
    if name in names_of(NOT_TRIED):
        return
    try:
        shape = evaluated(output, at).shape
    except (ValueError, IndexError, TypeError):
        assert any(fitted.owner.op.name == name for fitted in FITTED) and number < len(EVERY) - len(FITTED), name
        return
    moving = [v for v in variables if v is not K]
    assert moving, name
    check_mapped(output, moving, rng, at)
    if has_slope(output):
        check_slopes(output, [v for v in variables if v.type.kind == "f"], at, rng, shape)


def check_mapped(output, moving, rng, at):
    try:
        got, wanted = mapped([output], moving, rng, at)
    except NoBatch as reason:
        require_listed(output.owner.op.name, NOT_MAPPED, reason)
        return
    assert output.owner.op.name not in names_of(NOT_MAPPED)
    np.testing.assert_allclose(got[0], np.array(wanted[0]), rtol=1e-9, atol=1e-9)


def check_slopes(output, floating, at, rng, shape):
    weights = rng.normal(size=(2, *shape))
    parts = [T.real(output), T.imag(output)] if output.type.kind == "c" else [output]
    cost = sum(T.sum(part * w) for part, w in zip(parts, weights, strict=False))
    along = [rng.normal(size=at[v].shape) for v in floating]
    along = [(d + d.T) / 2 if v is X else d for v, d in zip(floating, along, strict=True)]
    try:
        slopes = ag.grad(cost, floating, disconnected="zero")
    except NoGradient as reason:
        require_listed(result_of(output), NOT_DERIVED, reason)
        return
    assert result_of(output) not in names_of(NOT_DERIVED)

    def moved(step):
        return float(evaluated(cost, {**at, **{v: at[v] + step * d for v, d in zip(floating, along, strict=True)}}))

    h = 1e-4
    expected = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
    reverse = sum((evaluated(g, at) * d).sum() for g, d in zip(slopes, along, strict=True))
    forward = evaluated(ag.jvp(cost, floating, along), at)
    np.testing.assert_allclose(reverse, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-9)
    try:
        got, wanted = mapped(slopes, floating, rng, at)
    except NoBatch as reason:
        require_reason(reason)
        return
    for many, ones in zip(got, wanted, strict=True):
        np.testing.assert_allclose(many, np.array(ones), rtol=1e-8, atol=1e-8)
