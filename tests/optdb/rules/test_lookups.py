"""Reads at computed indices inside fused loops: values, errors, and which of them join groups."""

from __future__ import annotations

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.core.interpret import interpret
from arignote.ops.lowered.fused import Fused

DTYPES = ["bool", "uint8", "int8", "int64", "float16", "float32", "float64", "complex64", "complex128"]
INDICES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def bilinear(x, u, v):
    i, j = T.floor(u).astype("int64"), T.floor(v).astype("int64")
    a, b = u - i, v - j
    rows = x[i, j] * (1 - a) + x[i + 1, j] * a, x[i, j + 1] * (1 - a) + x[i + 1, j + 1] * a
    return rows[0] * (1 - b) + rows[1] * b


def variables(given):
    return [T.tensor(str(a.dtype), a.shape) for a in given]


def compiled(of, given, **options):
    """Return a function of arrays like those given, which is one fused node, and its graph."""
    inputs = variables(given)
    y = of(*inputs)
    f = ag.function(inputs, y, **options)
    assert [type(node.op) for node in f.graph.order if node.op.name != "dimshuffle"] == [Fused]
    return f, FunctionGraph(inputs, [y])


def agrees(of, *given):
    for threads in (1, 2):
        f, graph = compiled(of, given, threads=threads)
        (expected,) = interpret(graph, given)
        np.testing.assert_array_equal(f(*given), expected)
        assert f(*given).dtype == expected.dtype


def table(rng, dtype, *shape):
    return (40 * rng.standard_normal(shape)).astype("float64").round().astype(dtype)


@pytest.mark.parametrize("n", [2, 3, 7, 16, 33, 1000, 100_003])
def test_bilinear_samples_are_one_loop(n):
    rng = np.random.default_rng(n)
    agrees(bilinear, rng.standard_normal((20, 30)), 18 * rng.random(n), 28 * rng.random(n))
    agrees(bilinear, rng.standard_normal((30, 20)).T, 18 * rng.random(2 * n)[::-2], 28 * rng.random(n))


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("dtype", DTYPES)
def test_tables_of_each_dtype(dtype):
    rng = np.random.default_rng(0)
    x, i = table(rng, dtype, 90), rng.integers(-90, 89, 333)
    agrees(lambda x, i: T.where(T.eq(x[i], x[i + 1]), x[i], x[i + 1]), x, i)
    agrees(lambda x, i: T.where(T.eq(x[i], x[i + 1]), x[i], x[i + 1]), x[::-3][:20], i % 19)


@pytest.mark.parametrize("dtype", INDICES)
def test_indices_of_each_dtype(dtype):
    rng = np.random.default_rng(0)
    agrees(lambda x, i: 2 * x[i], rng.standard_normal(100), rng.integers(0, 100, 333).astype(dtype))


@pytest.mark.parametrize("rows, columns", [(0, 5), (5, 0), (1, 9), (7, 33), (300, 400)])
def test_index_arrays_that_are_broadcast(rows, columns):
    rng = np.random.default_rng(rows)
    i, j = rng.integers(-50, 50, rows), rng.integers(-60, 60, columns)
    agrees(lambda x, i, j: 2 * x[i[:, None], j[None, :]], rng.standard_normal((50, 60)), i, j)


def test_indices_that_are_looked_up():
    rng = np.random.default_rng(0)
    agrees(lambda x, i, j: x[i[j]] + i[j], rng.standard_normal(40), rng.integers(-40, 40, 50), rng.integers(0, 50, 99))
    agrees(lambda i: i[i] + i, rng.permutation(300))


def test_a_sum_of_looked_up_elements_is_one_loop():
    rng = np.random.default_rng(0)
    agrees(lambda x, i: (x[i] * 2).max(), rng.standard_normal(40), rng.integers(-40, 40, 5000))


BAD = [(100, 100), (-101, -101), (2**63 - 1, 2**63 - 1), (-(2**63), -(2**63))]


@pytest.mark.parametrize("index, shown", BAD)
@pytest.mark.parametrize("at", [0, 3, 77, 4999])
def test_an_index_outside_is_an_error(index, shown, at):
    rng = np.random.default_rng(0)
    x, i, w = rng.standard_normal(100), rng.integers(-100, 100, 5000), rng.standard_normal(5000)
    i[at] = index
    for threads in (1, 2):
        f, _ = compiled(lambda x, i, w: x[i] * w, (x, i, w), threads=threads)
        with pytest.raises(IndexError, match=f"index {shown} is out of bounds for axis 0 .* with size 100"):
            f(x, i, w)
        assert f(x, abs(i % 50), w).shape == (5000,)


def test_the_message_names_the_read_and_its_axis():
    rng = np.random.default_rng(0)
    x, i, j = rng.standard_normal((60, 50)), rng.integers(0, 50, (70, 33)), rng.integers(0, 50, (70, 33))
    i[69, 30] = 55
    f, _ = compiled(lambda x, i, j: x[i, j] + x[j, i], (x, i, j))
    with pytest.raises(IndexError, match=r"index 55 is out of bounds for axis 1 of .* with size 50"):
        f(x, i, j)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_not_a_number_is_no_position():
    f, _ = compiled(bilinear, (np.ones((5, 5)), np.ones(3), np.ones(3)))
    with pytest.raises(IndexError, match="index -9223372036854775808 is out of bounds"):
        f(np.ones((5, 5)), np.array([1, np.nan, 1]), np.ones(3))


def test_empty_tables():
    nothing, some = np.zeros(0, "int64"), np.arange(5)
    f, _ = compiled(lambda x, i: 2 * x[i], (np.zeros(0), some))
    with pytest.raises(IndexError, match=r"index 0 is out of bounds for axis 0 of .* with size 0"):
        f(np.zeros(0), some)
    agrees(lambda x, i: 2 * x[i], np.zeros(0), nothing)
    agrees(lambda x, i, j: 2 * x[i[:, None], j[None, :]], np.ones((3, 4)), some + 1000, nothing)


def test_a_negative_power_beside_a_read():
    x, i = np.arange(9), np.arange(9)
    f, _ = compiled(lambda x, i, j: x[i] ** j, (x, i, i))
    np.testing.assert_array_equal(f(x, i, i), x**i)
    with pytest.raises(ValueError, match="negative integer powers"):
        f(x, i, i - 1)


def test_a_table_made_by_the_same_loop_is_computed_first():
    rng = np.random.default_rng(0)
    x, i = rng.standard_normal(40), rng.integers(0, 40, 40)
    inputs = variables((x, i))
    y = T.exp(inputs[0])
    f = ag.function(inputs, y[inputs[1]] + y)
    np.testing.assert_allclose(f(x, i), np.exp(x)[i] + np.exp(x), rtol=1e-15)


def test_an_input_that_is_updated_survives_an_error():
    state, i, x = ag.shared(np.ones(40), name="state"), T.tensor("int64", (40,)), T.tensor("float64", (9,))
    f = ag.function([x, i], [], updates={state: state + x[i]})
    with pytest.raises(IndexError):
        f(np.ones(9), np.full(40, 9))
    np.testing.assert_array_equal(state.get_value(), np.ones(40))
    f(np.ones(9), np.full(40, -9))
    np.testing.assert_array_equal(state.get_value(), np.full(40, 2.0))
    assert any(node.op.name == "advanced_subtensor" for node in f.graph.order)


def test_a_gradient_reads_in_the_loop_as_well():
    rng = np.random.default_rng(0)
    given = rng.standard_normal((20, 30)), 18 * rng.random(500), 28 * rng.random(500)
    inputs = variables(given)
    g = ag.grad(bilinear(*inputs).sum(), inputs[1])
    f = ag.function(inputs, g)
    np.testing.assert_allclose(f(*given), interpret(FunctionGraph(inputs, [g]), given)[0], rtol=1e-12, atol=1e-13)


def test_kernels_with_reads_have_a_text_form():
    from arignote.cbackend.ir.parse import parse_kernel
    from arignote.cbackend.ir.verify import verify
    from arignote.cbackend.lowering.lower import lower

    f, _ = compiled(bilinear, (np.ones((5, 5)), np.ones(3), np.ones(3)))
    kernel = lower(f.graph.order[-1])
    verify(kernel)
    assert "indexed" in str(kernel) and parse_kernel(str(kernel)) == kernel
