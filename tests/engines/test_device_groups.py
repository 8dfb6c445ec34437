"""Reductions and row passes by groups of work items: plans, and values over the stand-in for the CUDA driver."""

import math
import shutil

import cuda_stand_in
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.cbackend.lowering.devices import groups as plans
from arignote.cbackend.lowering.devices.work_items import work_items
from arignote.cbackend.lowering.devices.work_rows import row_items
from arignote.engines.device.dialects import cuda as devices
from arignote.graph import FunctionGraph, TensorType
from arignote.ops.core.tensor import TensorVariable
from arignote.ops.lowered.fused import Fused

pytestmark = pytest.mark.long

DTYPES = ("float32", "float64", "int32", "uint8", "bool")
LENGTHS = (1, 2, 3, 7, 31, 32, 33, 64, 100, 127, 128, 129, 257, 700, 1025)
FUNCTIONS = {}
DRIVER, COMPILER = cuda_stand_in.Driver(), cuda_stand_in.Compiler()
HERE = settings(max_examples=40)


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    """A driver without a GPU, the same in all tests."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    monkeypatch.setattr(devices, "driver", lambda: DRIVER)
    monkeypatch.setattr(devices, "nvrtc", lambda: COMPILER)
    devices._found.cache_clear()
    DRIVER.calls.clear()
    yield DRIVER
    devices._found.cache_clear()


def function_of(key, build, *variables):
    if key not in FUNCTIONS:
        FUNCTIONS[key] = ag.function(list(variables), build(*variables), mode=ag.Mode("fast_run", backend="cuda"))
    return FUNCTIONS[key]


def variable(dtype, rank, *last):
    return TensorVariable(TensorType(dtype, (None,) * (rank - len(last)) + last))


LAYOUTS = {
    "contiguous": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "reversed": lambda a: a[..., ::-1].copy()[..., ::-1],
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "planes": lambda a: np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 0, a.ndim // 2)), a.ndim // 2, 0),
}


def array(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < rng.choice([0.01, 0.5, 0.99])
    if dtype != "float32" and dtype != "float64":
        return rng.integers(0, 100, shape).astype(dtype)
    found = rng.normal(size=shape).astype(dtype)
    if seed % 3 == 0:
        for special in (np.nan, np.inf, -np.inf, -0.0):
            found[rng.random(shape) < 0.01] = special
    return found


# --- plans


@HERE
@given(st.integers(1, 1 << 24), st.integers(1, 1 << 30))
def test_the_order_of_a_reduction_covers_all_elements_once(outputs, count):
    split = plans.split_of(outputs, count)
    assert split.lanes & (split.lanes - 1) == 0 and split.lanes <= plans.LANES
    assert (split.parts - 1) * split.part < count <= split.parts * split.part
    assert split.parts == 1 or outputs * split.lanes * split.parts <= plans.ITEMS


@given(st.integers(2, (1 << 31) - 1), st.integers(0, (1 << 31) - 1), st.integers(-1, 1))
def test_divisions_are_products(divisor, number, beside):
    """All numbers, and those next to multiples."""
    factor, shift = plans.reciprocal(divisor)
    assert factor < 1 << 32
    for n in (number, number // divisor * divisor + beside):
        assert not 0 <= n < 1 << 31 or (n * factor >> 32) >> shift == n // divisor


@HERE
@given(st.integers(1, 1 << 20), st.integers(1, 1 << 20), st.integers(0, 2), st.sampled_from([16, 64, 256, 1024]))
def test_groups_fit_the_device_and_have_all_lanes(rows, columns, layout, most):
    x = T.matrix("x", dtype="float32")
    node = Fused(FunctionGraph([x], [x.sum(axis=1), x.max(axis=1)]))(x)[0].owner
    split = plans.split_of(rows, columns)
    strides = ({0: columns, 1: 1}, {0: 1, 1: rows}, {0: 2 * columns, 1: -2})[layout]
    groups = plans.groups_of(work_items(node), split, (rows, columns), [strides], min(256, most), most)
    assert groups.items <= most and groups.sums * groups.along == split.lanes
    assert groups.unroll % groups.sums == 0 and groups.held == 0


@HERE
@given(st.integers(1, 1 << 16), st.sampled_from(["float32", "float64"]))
def test_rows_are_held_if_they_fit(count, dtype):
    x = T.matrix("x", dtype=dtype)
    items, split = row_items(T.nn.softmax(x).owner, held=True), plans.row_split(count)
    groups = plans.groups_of(items, split, (9, count), [{0: count, 1: 1}], 256, 1024)
    assert bool(groups.held) == (count <= (16 * plans.ROW_LANES if dtype == "float32" else 8192))
    if groups.held:
        assert groups.held - 4 < -(-count // groups.along) <= groups.held <= plans.HELD


# --- values


@HERE
@given(
    st.sampled_from(DTYPES), st.sampled_from(["sum", "prod", "max", "min", "any", "all"]),
    st.sampled_from([(0,), (1,)]), st.sampled_from(LENGTHS), st.sampled_from(LENGTHS),
    st.sampled_from(sorted(LAYOUTS)), st.integers(0, 99),
)  # fmt: skip
def test_reductions_of_matrices(dtype, name, axis, rows, columns, layout, seed):
    """NumPy's values, and the same bits in all layouts."""
    value = array((rows, min(columns, 40_000 // rows)), dtype, seed)
    f = function_of((dtype, name, axis), lambda x: getattr(x, name)(axis=axis), variable(dtype, 2))
    require_reduced(f, value, name, axis, layout)


def require_reduced(f, value, name, axis, layout):
    got = f(np.ascontiguousarray(value))
    assert f(LAYOUTS[layout](value)).tobytes() == got.tobytes()
    with np.errstate(all="ignore"):
        wanted = np.asarray(getattr(value, name)(axis=axis))
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    if value.dtype.kind != "f" or name not in ("sum", "prod"):
        np.testing.assert_array_equal(got, wanted)
        return
    with np.errstate(all="ignore"):
        exact = np.asarray(getattr(value.astype("f8"), name)(axis=axis))
        size = np.abs(value.astype("f8")).sum(axis=axis) if name == "sum" else np.abs(exact)
    rounding = 50 * np.finfo(value.dtype).eps * size
    finite = np.isfinite(exact)
    assert (np.abs(got[finite] - exact[finite]) <= rounding[finite] + np.finfo(value.dtype).tiny).all()
    np.testing.assert_array_equal(got[~finite], exact[~finite].astype(got.dtype))


@pytest.mark.parametrize("axis", [(0, 2), (1,), (0, 1, 2)])
@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_reductions_of_planes(axis, layout):
    f = function_of(axis, lambda x: x.sum(axis=axis), variable("float32", 3))
    for shape in ((5, 3, 70), (70, 33, 2), (1, 9, 300)):
        require_reduced(f, array(shape, "float32", 1), "sum", axis, layout)


def test_few_outputs_are_reduced_in_parts(stand_in):
    """A second launch reduces the partial results; outputs of a kernel have results of their own."""
    build = lambda x: [x.sum(axis=1), x.max(axis=1), (x * x).sum(axis=1)]  # noqa: E731
    f = function_of("parts", build, variable("float64", 2))
    value = array((2, 70_001), "float64", 1)
    stand_in.calls.clear()
    got = f(value)
    assert len(stand_in.calls) == 4 and stand_in.calls[0][0][0] == 2 * plans.split_of(2, 70_001).parts
    for one, wanted in zip(got, build(value), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-12)
    for one, other in zip(got, f(np.asfortranarray(value)), strict=True):
        assert one.tobytes() == other.tobytes()


def test_no_elements_and_no_outputs(stand_in):
    f = function_of(("float32", "sum", (1,)), lambda x: x.sum(axis=(1,)), variable("float32", 2))
    assert f(np.ones((3, 0), "f4")).tolist() == [0, 0, 0] and f(np.ones((0, 3), "f4")).shape == (0,)
    g = function_of("softmax", T.nn.softmax, variable("float32", 2))
    assert g(np.ones((0, 3), "f4")).shape == (0, 3) and g(np.ones((3, 0), "f4")).shape == (3, 0)


def normed(x, w):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / T.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5) * w


ROWS = {
    "softmax": lambda x, w: [T.nn.softmax(x)],
    "log_softmax": lambda x, w: [T.nn.log_softmax(x)],
    "logsumexp": lambda x, w: [T.nn.logsumexp(x, axis=-1)],
    "both": lambda x, w: [T.nn.softmax(x) * w, T.nn.logsumexp(x, axis=-1)],
    "norm": lambda x, w: [normed(x, w)],
    "gradient": lambda x, w: [ag.grad((T.nn.softmax(x) * w).sum(), x)],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_row_passes_are_one_launch(name, dtype, stand_in):
    """Values near NumPy's, with the same bits in all layouts, held in registers or read again."""
    for length in (3, 130, 1025) if dtype == "float32" else (33, 700):
        x, w = variable(dtype, 2, length), variable(dtype, 1, length)
        f = ag.function([x, w], ROWS[name](x, w), mode=ag.Mode("fast_run", backend="cuda"), on_unused_input="ignore")
        plain = ag.function([x, w], ROWS[name](x, w), mode="NUMPY", on_unused_input="ignore")
        value, weight = array((10, length), dtype, 1), array(length, dtype, 2)
        stand_in.calls.clear()
        got = f(value, weight)
        assert len(stand_in.calls) == 1 and math.prod(stand_in.calls[0][1]) <= 1024
        rtol = 1e-4 if dtype == "float32" else 1e-10
        for one, wanted in zip(got, plain(value, weight), strict=True):
            np.testing.assert_allclose(one, wanted, rtol=rtol, atol=rtol)
        for layout in LAYOUTS.values():
            for one, other in zip(got, f(layout(value), weight), strict=True):
                assert one.tobytes() == other.tobytes()


def test_rows_with_special_values_and_long_rows():
    f = function_of("softmax", T.nn.softmax, variable("float32", 2))
    value = array((3, 20_000), "float32", 1)
    value[0, 5], value[1, 7] = np.inf, np.nan
    plain = ag.function([x := variable("float32", 2)], T.nn.softmax(x), mode="NUMPY")
    np.testing.assert_allclose(f(value), plain(value), rtol=1e-4)


@pytest.mark.parametrize("length", [1, 1000])
def test_single_rows_are_expanded(length, stand_in):
    """One group would compute a single row."""
    f = function_of("vector", T.nn.softmax, variable("float64", 1))
    value = array(length, "float64", 1)
    stand_in.calls.clear()
    np.testing.assert_allclose(f(value), np.exp(value) / np.exp(value).sum(), rtol=1e-12)
    assert len(stand_in.calls) > 1
