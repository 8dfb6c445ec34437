"""Kernels of whole nodes: broadcasting, strides, reductions, groups, softmax, in place; and their C text.

Values are compared with the NumPy meaning of the node, for lengths 0, 1 and odd ones and for arrays of any strides.
"""

from __future__ import annotations

import functools
import itertools
import math
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from ckernel import FLAGS, Library
from draws import RARE

from arignote.cbackend.ctext import helpers as headers
from arignote.cbackend.ctext.emit import helpers, kernel_c
from arignote.cbackend.ctext.preamble import preamble
from arignote.cbackend.ir.kernel import Status
from arignote.cbackend.lowering.lower import lower
from arignote.cbackend.lowering.nests.indexing import ADD, GATHER, SET, Indexing, indexing_kernel
from arignote.graph import DTYPES, Apply, FunctionGraph, TensorType
from arignote.ops.core.tensor import TensorVariable, constant
from arignote.ops.elementwise import records as E
from arignote.ops.lowered.fused import Fused, InPlace
from arignote.ops.nn import LogSoftmax, LogSumExp, Softmax
from arignote.ops.reductions.reduce import REDUCTIONS, ArgReduce, Reduce
from arignote.ops.shapes.shape import DimShuffle, Reshape
from arignote.targets.current import using
from arignote.targets.named import host

RNG = np.random.default_rng(5)


def var(dtype: str, *shape: int | None) -> TensorVariable:
    return TensorVariable(TensorType(dtype, shape))


def tensors(count: int, ndim: int, dtype: str = "float64") -> list[TensorVariable]:
    return [var(dtype, *[None] * ndim) for _ in range(count)]


def fused(inputs, *outputs) -> Apply:
    made = Fused(FunctionGraph(inputs, outputs))(*inputs)
    return (made[0] if isinstance(made, tuple) else made).owner


def random(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return RNG.random(shape) > 0.3
    if kind in "iu":
        return RNG.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)
    x = RNG.normal(size=shape)
    return (x if kind == "f" else x + 1j * RNG.normal(size=shape)).astype(dtype)


def layouts(x: np.ndarray) -> list[np.ndarray]:
    """The same values in C order, in Fortran order, spread out, and reversed in memory."""
    spread = np.zeros([2 * n for n in x.shape], x.dtype)[tuple(slice(None, None, 2) for _ in x.shape)]
    spread[...] = x
    backwards = np.ascontiguousarray(x[tuple(slice(None, None, -1) for _ in x.shape)])
    return [x, np.asfortranarray(x), spread, backwards[tuple(slice(None, None, -1) for _ in x.shape)]]


lowered = functools.cache(lower)
"""The kernel of a node, for tests that run it on many arrays."""


def check(library: Library, node: Apply, *values: np.ndarray, rtol: float = 8, atol: float = 0) -> None:
    """The kernel and the meaning of `node` agree; tolerances in epsilons."""
    for got, expected in zip(library.run(lowered(node), values), node.op.evaluate(*values), strict=True):
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        if got.dtype.kind in "biu":
            assert np.array_equal(got, expected)
            continue
        eps = np.finfo(got.dtype).eps
        for a, b in ((got.real, expected.real), (got.imag, expected.imag)):
            np.testing.assert_allclose(a, b, rtol=rtol * eps, atol=atol * eps)


# --- broadcasting and strides

X, Y = tensors(2, 2)
ROW, COLUMN = var("float64", 1, None), var("float64", None, 1)
POINT, VECTOR = var("float64"), var("float64", None)
CUBE = var("float64", None, None, None)
PAIRS = [
    (X, Y),
    (X, ROW),
    (COLUMN, ROW),
    (X, POINT),
    (VECTOR, X),
    (CUBE, COLUMN),
    (CUBE, VECTOR),
    (POINT, var("float64")),
]
LENGTHS = {"a": [0, 1, 3], "b": [1, 4, 9]}


@pytest.fixture(scope="module")
def sums() -> tuple[list[Apply], Library]:
    nodes = [E.sub(a, b).owner for a, b in PAIRS]
    return nodes, Library([lowered(n) for n in nodes])


@pytest.mark.parametrize("pair", range(len(PAIRS)))
def test_broadcasting_of_known_and_unknown_lengths(pair, sums):
    nodes, library = sums
    node = nodes[pair]
    for lengths in itertools.product([0, 1, 5], [1, 4], [1, 7]):
        for broadcast in itertools.product([False, True], repeat=3):
            values = []
            for i, squeeze in zip(node.inputs, (broadcast, (False,) * 3), strict=True):
                wanted = [1 if s else n for n, s in zip(lengths, squeeze, strict=True)][3 - i.ndim :]
                values.append(random("float64", tuple(n or w for n, w in zip(i.type.shape, wanted, strict=True))))
            check(library, node, *values, rtol=0)


def test_any_strides(sums):
    nodes, library = sums
    for shape in [(1, 1), (5, 1), (1, 6), (4, 7), (3, 300), (301, 1)]:
        x, y = random("float64", shape), random("float64", shape)
        for a, b in itertools.product(layouts(x), layouts(y)):
            check(library, nodes[0], a, b, rtol=0)


def test_a_transposed_operand_inside_a_group():
    node = fused([X], E.add(X, DimShuffle((1, 0))(X)))
    kernel = lower(node)
    assert [(o.axes, o.source) for o in kernel.inputs] == [((0, 1), 0), ((1, 0), 0)]
    for n in (1, 2, 9):
        check(Library([kernel]), node, random("float64", (n, n)), rtol=0)


def test_fill_needs_the_shape_but_not_the_values():
    node = fused([X, POINT], E.fill(X, POINT))
    (got,) = Library([lower(node)]).run(lower(node), [np.zeros((3, 4)), np.array(2.5)])
    assert got.shape == (3, 4)
    assert (got == 2.5).all()


def test_values_that_do_not_change_along_a_loop_are_computed_outside_of_it():
    text = kernel_c(lower(E.mul(E.exp(COLUMN), X).owner))  # exp is an op of its own here: nothing to hoist
    assert "exp(" not in text.split("*/", 1)[1]
    body = kernel_c(lower(fused([COLUMN, X], E.mul(E.exp(COLUMN), X)))).split("*/", 1)[1]
    assert body.index("= ag_exp_f64(") < body.index("for (i64 i1")
    assert body.count("= ag_exp_f64(") == 1


def test_equal_operations_are_done_once():
    assert kernel_c(lower(fused([X], E.add(E.exp(X), E.exp(X))))).count("ag_exp_f64(") == 1


def test_a_group_with_several_outputs_of_several_ranks():
    node = fused([X, VECTOR], E.mul(X, VECTOR), E.exp(VECTOR), E.gt(X, 0), E.add(X, 1))
    check(Library([lower(node)]), node, random("float64", (5, 7)), random("float64", (7,)))


def test_a_group_of_each_dtype():
    nodes = {}
    for dtype in DTYPES:
        x, y = tensors(2, 1, dtype)
        nodes[dtype] = fused([x, y], E.switch(E.gt(x, y), E.maximum(x, y), E.mul(x, y)), E.add(E.square(x), y))
    library = Library([lowered(node) for node in nodes.values()])
    for (dtype, node), n in itertools.product(nodes.items(), (0, 1, 31, 64, 1001)):
        check(library, node, random(dtype, (n,)), random(dtype, (n,)), atol=8)


@pytest.mark.long
def test_a_chain_of_5000_operations_is_one_kernel_of_linear_size():
    v = X
    for _ in range(5000):
        v = E.neg(E.add(v, 1.0))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(220)
    try:
        text = kernel_c(lower(fused([X], v)))
    finally:
        sys.setrecursionlimit(limit)
    assert text.count("\n") < 21_000
    assert max(map(len, text.splitlines())) <= 220


def test_constants_inside_a_group_are_exact_numbers():
    node = fused([X], E.mul(X, constant(0.1)), E.add(X, constant(np.full((1, 1), math.inf))))
    text = kernel_c(lower(node))
    assert "0x1.999999999999ap-4" in text
    check(Library([lower(node)]), node, random("float64", (2, 3)), rtol=0)


def test_a_constant_argument_is_an_operand():
    assert (
        kernel_c(lower(E.mul(X, constant(2.0)).owner)).split("\n", 1)[1]
        == kernel_c(lower(E.mul(X, constant(3.0)).owner)).split("\n", 1)[1]
    )


def test_array_constants_must_be_inputs():
    with pytest.raises(ValueError, match="must be one of its inputs"):
        lower(fused([VECTOR], E.mul(VECTOR, constant(np.arange(3.0)))))


def test_other_ops_have_no_kernel():
    with pytest.raises(TypeError, match="no loop nest"):
        lower(Reshape()(X, constant(6)).owner)


# --- in place


def test_an_output_may_lie_over_an_input():
    plain = fused([X, Y], E.add(E.mul(X, Y), X), E.exp(Y))
    node = InPlace(plain.op, ((0, 0), (1, 1)))(X, Y)[0].owner
    kernel = lower(node)
    assert "restrict" not in kernel_c(kernel)
    assert lower(plain, ((0, 0), (1, 1))) == kernel
    library = Library([kernel])
    for x, y in zip(layouts(random("float64", (5, 300))), layouts(random("float64", (5, 300))), strict=True):
        expected = plain.op.evaluate(x, y)
        library.run(kernel, [x, y], {0: x, 1: y})
        np.testing.assert_allclose(x, expected[0], rtol=1e-15)
        np.testing.assert_allclose(y, expected[1], rtol=1e-15)


def test_an_input_is_overwritten_after_all_others_have_read_it():
    node = fused([X], E.exp(X), Reduce(E.add, (0,))(X), Reduce(E.maximum, (1,))(X))
    kernel = lower(node, ((0, 0),))
    x = random("float64", (30, 70))
    expected = node.op.evaluate(x)
    got = Library([kernel]).run(kernel, [x], {0: x})
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_reduction_cannot_lie_over_its_input():
    with pytest.raises(ValueError, match="cannot overwrite"):
        lower(Reduce(E.add, (0,))(X).owner, ((0, 0),))


def test_only_results_of_the_last_loops_overwrite_an_input():
    v = var("float64", None)
    with pytest.raises(ValueError, match="cannot overwrite input 0"):
        lower(fused([X, v], E.exp(X), E.exp(v)), ((0, 0),))


def test_a_kernel_whose_rows_read_what_others_overwrite_is_not_cut():
    assert lower(fused([X], E.add(X, E.exp(X))), ((0, 0),)).splits is not None
    crossing = fused([X], E.add(X, DimShuffle((1, 0))(X)))
    assert lower(crossing).splits is not None
    assert lower(crossing, ((0, 0),)).splits is None


def test_parts_of_a_scatter_run_in_turn_and_those_of_a_gather_on_any_thread():
    rows = Indexing(2, (("array", 0), ("loop", 1)), ((0,),), (0,))
    for how in (GATHER, SET, ADD):
        kernel = indexing_kernel(how, "float64", rows, (0, 1))
        assert kernel.splits is not None and kernel.splits.sequential == (how != GATHER)


@pytest.mark.long
def test_softmax_in_place():
    floats = [d for d in DTYPES if d.startswith("float")]
    cases = itertools.product((Softmax, LogSoftmax), floats, (0, 1))
    nodes = [op(axis)(var(dtype, None, None)).owner for op, dtype, axis in cases]
    kernels = [lower(node, ((0, 0),)) for node in nodes]
    library = Library(kernels)
    for node, kernel in zip(nodes, kernels, strict=True):
        dtype = node.inputs[0].dtype
        x = random(dtype, (17, 301))
        expected = node.op.evaluate(x)[0]
        library.run(kernel, [x], {0: x})
        np.testing.assert_allclose(x, expected, rtol=8 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps)


# --- reductions


def reductions(dtype: str) -> list[Apply]:
    nodes = []
    for ndim in (1, 2, 3):
        if ndim == 3 and dtype not in ("bool", "int16", "uint64", "float32", "float64", "complex64"):
            continue
        (x,) = tensors(1, ndim, dtype)
        for count in range(ndim + 1):
            for axis in itertools.combinations(range(ndim), count):
                nodes += [Reduce(f, axis)(x).owner for f in REDUCTIONS.values()]
        nodes += [ArgReduce(name, axis)(x).owner for name in ("argmax", "argmin") for axis in (None, *range(ndim))]
        if dtype.startswith("float"):
            nodes += [op(axis)(x).owner for op in (Softmax, LogSoftmax, LogSumExp) for axis in range(ndim)]
    return nodes


@functools.cache
def reduced(dtype: str) -> tuple[dict[str, list[Apply]], Library]:
    """The reductions of a dtype by name, and their library."""
    nodes: dict[str, list[Apply]] = {}
    for node in reductions(dtype):
        nodes.setdefault(node.op.name, []).append(node)
    return nodes, Library([lowered(n) for group in nodes.values() for n in group], ["-Og"])


SHAPES = {
    1: [(0,), (1,), (5,), (700,)],
    2: [(0, 3), (3, 0), (1, 1), (5, 7), (1, 33), (33, 1), (300, 37), (3, 1030)],
    3: [(2, 3, 4), (1, 5, 1), (130, 3, 5), (3, 0, 2), (4, 140, 3)],
}
NAMES = [*REDUCTIONS, "argmax", "argmin", "softmax", "log_softmax", "logsumexp"]


@pytest.mark.few(20)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        pytest.param(n, d, marks=[pytest.mark.long] * (d in RARE))
        for n, d in itertools.product(NAMES, DTYPES)
        if d.startswith("float") or n not in NAMES[-3:]
    ],
)
def test_reductions_along_all_axes_of_arrays_of_any_layout(name, dtype):
    nodes, library = reduced(dtype)
    for node in nodes[name]:
        for shape in SHAPES[node.inputs[0].ndim]:
            x = random(dtype, shape)
            if name == "prod" and x.dtype.kind in "fc":
                x = np.sign(x) if x.dtype.kind == "f" else np.exp(1j * np.angle(x)).astype(dtype)
            size = float(np.abs(x.astype("complex128")).sum()) if name == "sum" and x.dtype.kind in "fc" else 20
            for layout in layouts(x):
                agree(library, node, layout, rtol=4000 if name == "prod" else 16, atol=size)


def agree(library: Library, node: Apply, x: np.ndarray, rtol: float, atol: float) -> None:
    try:
        node.op.evaluate(x)
    except ValueError:
        with pytest.raises(ValueError, match=str(Status.EMPTY_REDUCTION)):
            library.run(lowered(node), [x])
        return
    check(library, node, x, rtol=rtol, atol=atol)


@pytest.mark.parametrize(
    "name", ["max", "min", "argmax", "argmin", "sum", "any", "softmax", "log_softmax", "logsumexp"]
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_infinities_and_nan_in_reductions(name, dtype):
    nodes, library = reduced(dtype)
    rows = [
        [np.nan, 1, 2],
        [1, np.nan, np.nan],
        [np.inf, 1, np.nan],
        [np.inf, np.inf, 0],
        [-np.inf] * 3,
        [-np.inf, 1, np.inf],
        [np.nan] * 3,
    ]
    for node in nodes[name]:
        if node.inputs[0].ndim == 2:
            for x in (np.array(rows, dtype), np.array(rows, dtype).T.copy()):
                check(library, node, x, rtol=32)


@pytest.mark.few(1)
@pytest.mark.parametrize("level", ["-O2", "-O3"])
def test_an_element_counts_wherever_it_stands(level):
    """gcc 12 -O3 lost elements of float16 where the conversion stood inside of the comparison."""
    dtypes = ("bool", "int8", "float16", "float32", "float64")
    nodes = [Reduce(E.maximum, (0,))(var(d, None)).owner for d in dtypes]
    nodes += [ArgReduce("argmax", 0)(var(d, None)).owner for d in dtypes]
    nodes += [Reduce(E.add, (0,))(var(d, None)).owner for d in dtypes]
    library = Library([lowered(n) for n in nodes], [level])
    for n in (1, 2, 7, 8, 31, 33, 64, 100, 130, 257):
        for place, node in itertools.product(range(n), nodes):
            x = np.zeros(n, node.inputs[0].dtype)
            x[place] = 1
            assert library.run(lowered(node), [x])[0] == (place if node.op.name == "argmax" else 1), (node, n, place)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_positions_of_complex_extrema(dtype):
    nodes, library = reduced(dtype)
    x = np.array([[1 + 2j, 1 + 3j, 0], [complex(np.nan, 1), 5, 6], [1, complex(2, np.nan), complex(np.nan, 0)]], dtype)
    for name in ("argmax", "argmin"):
        for node in nodes[name]:
            if node.inputs[0].ndim == 2:
                check(library, node, x)


@pytest.mark.long
def test_a_known_length_of_1_needs_no_loop():
    x = var("float64", None, 1)
    for node in (
        Reduce(E.add, (1,))(x).owner,
        ArgReduce("argmax", 1)(x).owner,
        Softmax(1)(x).owner,
        LogSumExp(1)(x).owner,
    ):
        check(Library([lower(node)]), node, random("float64", (6, 1)))
    assert lower(Reduce(E.add, (1,))(x).owner).rank == 1


@pytest.mark.long
def test_reductions_with_producers_and_other_outputs_in_one_nest():
    product = E.mul(X, Y)
    for axes in ((0,), (1,), (0, 1)):
        node = fused(
            [X, Y],
            Reduce(E.add, axes)(product),
            product,
            Reduce(E.maximum, axes)(X),
            Reduce(E.logical_or, axes)(E.gt(X, Y)),
        )
        library = Library([lower(node)])
        for shape in ((1, 1), (5, 9), (200, 700), (3, 5000)):
            for x, y in zip(layouts(random("float64", shape)), layouts(random("float64", shape)), strict=True):
                check(library, node, x, y, atol=2 * math.prod(shape))


def test_reductions_of_different_axes_in_one_kernel():
    node = fused([X], Reduce(E.add, (0,))(X), Reduce(E.add, (1,))(X), Reduce(E.mul, (0, 1))(E.sign(X)), E.neg(X))
    check(Library([lower(node)]), node, random("float64", (40, 60)), atol=100)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1)])
def test_sums_are_at_least_as_exact_as_numpys(dtype, axis):
    node = Reduce(E.add, axis)(var(dtype, None, None)).owner
    kernel = lower(node)
    library = Library([kernel])
    for shape in ((4_000, 500), (500, 4_000)):
        x = (RNG.random(shape) + 0.1).astype(dtype)
        exact = x.astype("longdouble").sum(axis=axis)
        (got,) = library.run(kernel, [x])
        eps = np.finfo(dtype).eps
        worst = float(np.max(np.abs(got - exact) / exact)) / eps
        numpys = float(np.max(np.abs(x.sum(axis=axis) - exact) / exact)) / eps
        assert worst <= max(2.0, numpys), (worst, numpys)


def test_a_sum_gives_the_same_bits_each_time():
    node = Reduce(E.add, (0,))(var("float64", None)).owner
    kernel = lower(node)
    library = Library([kernel])
    x = random("float64", (100_001,))
    first = library.run(kernel, [x])[0].tobytes()
    for layout in layouts(x)[:1] * 5:
        assert library.run(kernel, [layout])[0].tobytes() == first


# --- bools beside numbers

LENGTHS = (0, 1, 5, 16, 31, 64, 83, 300, 5000)


def masked(dtype: str) -> list[Apply]:
    """Choices, products and sums by bools that are read, some beside costly functions."""
    mask, x, row = var("bool", None, None), var(dtype, None, None), var(dtype, 1, None)
    cheap = E.add(E.switch(E.logical_and(mask, E.gt(x, row)), x, row), E.mul(mask, x))
    if np.dtype(dtype).kind != "f":
        return [fused([mask, x, row], cheap)]
    costly = E.switch(mask, E.exp(x), row)
    return [
        fused([mask, x, row], cheap),
        fused([mask, x, row], costly),
        fused([mask, x, row], costly, mask),
        fused([mask, x, row], Reduce(E.add, (1,))(costly)),
        fused([mask, x, row], Reduce(E.add, (0,))(costly)),
        fused([mask, x, row], Softmax(1)(E.switch(mask, x, row))),
    ]


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint16"])
def test_bools_from_memory_choose_in_rows_of_any_length(dtype):
    nodes = masked(dtype)
    library = Library([lower(node) for node in nodes])
    for node, n in itertools.product(nodes, LENGTHS):
        mask, x, row = random("bool", (3, n)), random(dtype, (3, n)), random(dtype, (1, n))
        for m, a in itertools.product(layouts(mask), layouts(x)[::2]):
            check(library, node, m, a, row, atol=16)


def test_every_byte_but_zero_is_true():
    mask, x = var("bool", None), var("float32", None)
    node = fused([mask, x], E.switch(mask, E.exp(x), x), E.switch(mask, x, constant(np.float32(0))), E.mul(mask, x))
    kernel = lower(node)
    raw = np.arange(300, dtype="uint8") % 7
    values = random("float32", (300,))
    for got, expected in zip(
        Library([kernel]).run(kernel, [raw.view(bool), values]),
        node.op.evaluate(raw != 0, values),
        strict=True,
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_choices_keep_the_bits_of_what_they_choose():
    mask, x, y = var("bool", None), var("float64", None), var("float64", None)
    kernel = lower(E.switch(mask, x, y).owner)
    bits = np.array([0x7FF0000000000001, 0xFFF8000000000123, 0x8000000000000000, 1], "uint64")
    one, other = np.tile(bits, 40), np.tile(bits[::-1], 40)
    choice = random("bool", one.shape)
    library = Library([kernel])
    for m in layouts(choice):
        (got,) = library.run(kernel, [m, one.view("float64"), other.view("float64")])
        assert np.array_equal(got.view("uint64"), np.where(choice, one, other))


# --- text

A, B = tensors(2, 2)
F32, ROW32 = var("float32", None, None), var("float32", 1, None)
MASK = var("bool", None, None)
GOLDEN = {
    "add": E.add(VECTOR, var("float64", None)).owner,
    "scalars": E.mul(POINT, var("float64")).owner,
    "fused": fused([A, B], E.sub(E.add(E.mul(E.exp(A), B), E.sin(A)), E.true_div(B, constant(3.0)))),
    "row_and_column": fused([COLUMN, ROW], E.mul(E.exp(COLUMN), ROW), E.gt(COLUMN, ROW)),
    "integer_power": E.pow(*tensors(2, 1, "int64")).owner,
    "float16": E.add(*tensors(2, 1, "float16")).owner,
    "sum_of_squares": fused([A], Reduce(E.add, (1,))(E.mul(A, A))),
    "bias_gradient": fused([F32], Reduce(E.add, (0,))(F32)),
    "maximum_and_product": fused([A, B], Reduce(E.maximum, (1,))(A), E.mul(A, B)),
    "argmax": ArgReduce("argmax", 1)(F32).owner,
    "masked": fused([MASK, F32, ROW32], E.add(E.switch(MASK, F32, ROW32), MASK)),
    "masked_exp": fused([MASK, F32, ROW32], E.switch(MASK, E.exp(F32), ROW32)),
    "masked_maximum": fused([MASK, F32, ROW32], Reduce(E.maximum, (1,))(E.switch(MASK, F32, ROW32))),
    "softmax": Softmax(1)(F32).owner,
    "in_place": InPlace(E.add, ((0, 0),))(*tensors(2, 1)).owner,
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_text(name, golden):
    """The text for a processor without arithmetic of float16, as most are."""
    with using(replace(host(), features=tuple(f for f in host().features if f != "avx512_fp16"))):
        kernel = lower(GOLDEN[name])
        golden(f"{name}.c", preamble(helpers(kernel)) + "\n" + kernel_c(kernel))
        assert lower(GOLDEN[name]) == kernel


@pytest.mark.long
def test_golden_kernels_run():
    library = Library([lower(node) for node in GOLDEN.values()])
    for node in GOLDEN.values():
        shapes = {0: (), 1: (37,), 2: (5, 37)}
        values = [
            random(i.dtype, tuple(n or m for n, m in zip(i.type.shape, shapes[i.ndim], strict=True)))
            for i in node.inputs
        ]
        if node.op is E.pow:
            values[1] = np.abs(values[1] >> 1)
        check(library, node, *values, atol=16)


@pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump to look at machine code")
def test_transcendental_functions_are_called_in_vectors(tmp_path):
    kernel = lower(GOLDEN["fused"])
    source, target = tmp_path / "k.c", tmp_path / "k.o"
    source.write_text(preamble(helpers(kernel)) + kernel_c(kernel).replace("static void", "void"))
    flags = [f for f in FLAGS if f not in ("-Werror", "-shared")]
    subprocess.run(["gcc", *flags, "-c", str(source), "-o", str(target)], check=True, timeout=60)
    code = subprocess.run(
        ["objdump", "-dr", str(target)], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert any(f"_ZGV{isa}v_ag_sin_f64" in code for isa in ("eN8", "dN4", "cN4", "bN2"))
    assert "exp" not in code  # a polynomial that stands in the loop


def test_each_helper_is_found_in_the_header_that_defines_it():
    for number, file in enumerate(headers._FILES):
        for name in headers._sources(number):
            assert headers._file_of(name) == number, (file, name)
    assert [headers._file_of(name) for name in ("ag_exp", "ag_f32", "ag_exp_f16", "exq", "ag_no_such_f64")] == [-1] * 5
