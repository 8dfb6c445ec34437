"""Products in tiles, over the stand-in for a GPU: values of all readers, tiles, dtypes and layouts, and equal bits."""

import shutil

import cuda_stand_in
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arignote import ops as T
from arignote.cbackend.ctext.device_products import DTYPES
from arignote.cbackend.ctext.device_tiles import tiles
from arignote.engines.cuda import device as devices
from arignote.engines.opencl import products
from arignote.engines.opencl.call import Call
from arignote.engines.opencl.memory import OnDevice, Traffic
from arignote.graph import TensorType
from arignote.ops.core.tensor import TensorVariable

pytestmark = pytest.mark.long

COMPILER = cuda_stand_in.Compiler()
LENGTHS = st.sampled_from([1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 65, 130])
SETTINGS = settings(max_examples=60)


@pytest.fixture
def device(monkeypatch):
    """A CUDA device without a GPU."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    made = cuda_stand_in.Driver()
    monkeypatch.setattr(devices, "driver", lambda: made)
    monkeypatch.setattr(devices, "nvrtc", lambda: COMPILER)
    return devices.CudaDevice(0)


def placed(device, array, order, apart, turned, before):
    """A copy of an array on the device: axes in another order, `apart` elements between rows, some axes backwards."""
    shape = [array.shape[k] for k in order]
    whole = np.zeros((*shape[:-1], shape[-1] + apart), array.dtype)
    view = np.moveaxis(whole[..., : shape[-1]], range(array.ndim), order)
    view = view[tuple(slice(None, None, -1 if t else 1) for t in turned)]
    view[...] = array
    flat = np.concatenate([np.full(before, 7, array.dtype), whole.reshape(-1)])
    start = (view.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // array.itemsize
    strides = tuple(s // array.itemsize for s in view.strides)
    made = device.memory.put(flat, Traffic())
    return OnDevice(made.buffer, array.dtype, array.shape, strides, before + start)


def multiplied(device, node, *arrays):
    call = Call(device, Traffic())
    (made,) = products.ProductKernel(node, device).run(arrays, call)
    return device.memory.get(made, Traffic())


def matrices(rng, dtype, shape):
    if dtype.startswith("float"):
        found = rng.normal(size=shape).astype(dtype)
        found[rng.random(shape) < 0.001] = rng.choice([np.nan, np.inf, -np.inf])
        return found
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def node_of(dtype, a, b):
    return T.matmul(*(TensorVariable(TensorType(dtype, (None,) * x.ndim)) for x in (a, b))).owner


ORDER, TURNED = st.permutations([0, 1, 2]), st.tuples(*[st.booleans()] * 3)
LAYOUT = st.tuples(ORDER, st.sampled_from([0, 1, 4]), TURNED, st.integers(0, 4))


@SETTINGS
@given(
    dtype=st.sampled_from(sorted(DTYPES)), sizes=st.tuples(LENGTHS, LENGTHS, LENGTHS), batch=st.integers(1, 3),
    layouts=st.tuples(LAYOUT, LAYOUT), shared=st.sampled_from([None, 0, 1]), tile=st.integers(0, 3),
    cut=st.sampled_from([None, 16, 40]), seed=st.integers(0, 1 << 30),
)  # fmt: skip
def test_products_in_any_layout(device, dtype, sizes, batch, layouts, shared, tile, cut, seed):
    (m, n, k), rng = sizes, np.random.default_rng(seed)
    a, b = (
        matrices(rng, dtype, (1 if shared == which else batch, *lengths))
        for which, lengths in enumerate(((m, k), (k, n)))
    )
    chosen = tiles(dtype)[min(tile, len(tiles(dtype)) - 1)]
    share = k if cut is None else min(k, cut)
    plan = chosen, -(-k // share), share
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        patch.setattr(products, "_plan", lambda *_: plan)
        node = node_of(dtype, a, b)
        got = multiplied(device, node, placed(device, a, *layouts[0]), placed(device, b, *layouts[1]))
        plain = multiplied(device, node, *(placed(device, x, (0, 1, 2), 0, (0, 0, 0), 0) for x in (a, b)))
        wanted = a @ b
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_array_equal(got.view(f"u{got.itemsize}"), plain.view(f"u{got.itemsize}"))
    if not dtype.startswith("float"):
        np.testing.assert_array_equal(got, wanted)
        return
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_array_equal(got[~finite], wanted[~finite])
    with np.errstate(all="ignore"):
        scale = (np.abs(a).astype("f8") @ np.abs(b).astype("f8"))[finite]
    assert (np.abs(got[finite] - wanted[finite]) <= 4 * k * np.finfo(dtype).eps * scale).all()


def test_plans_keep_processors_busy(device):
    """Few tiles with a long k are cut in parts, small products take small tiles, and many tiles are not cut."""
    for dtype in ("float32", "float64", "int8"):
        for batch, rows, across, inner, is_cut in ((1, 9, 10, 40_000, True), (1, 4096, 4096, 512, False)):
            tile, parts, share = products._plan(dtype, device, batch, rows, across, inner)
            assert (parts > 1) == is_cut and (parts - 1) * share < inner <= parts * share
            assert (tile == tiles(dtype)[0]) != is_cut and share % tile.depth == 0
    assert products._plan("int8", device, 1, 1, 1, 5 << 30)[1] >= 5  # an item counts the values of a part in 32 bits


@pytest.mark.parametrize("sizes", [(9, 10, 4000), (1, 300, 2500), (70, 1, 1)])
def test_products_by_their_own_plans(device, sizes):
    (m, n, k), rng = sizes, np.random.default_rng(0)
    a, b = rng.normal(size=(1, m, k)), rng.normal(size=(1, k, n))
    got = multiplied(device, node_of("float64", a, b), device.memory.put(a, Traffic()), device.memory.put(b, Traffic()))
    np.testing.assert_allclose(got, a @ b, rtol=1e-12, atol=1e-12 * k)


@pytest.mark.parametrize(
    "of_a, of_b", [((4, 5, 33), (33, 7)), ((2, 3, 5, 33), (1, 33, 7)), ((2, 1, 5, 33), (3, 33, 7))]
)
def test_batches_that_share_a_matrix(device, of_a, of_b):
    """Rows of all matrices that meet the same one are rows of one matrix."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, s) for s in (of_a, of_b))
    got = multiplied(device, node_of("int64", a, b), device.memory.put(a, Traffic()), device.memory.put(b, Traffic()))
    np.testing.assert_array_equal(got, a @ b)
    layout = products._matrices(None, (of_a, of_b), ([0] * a.ndim, [0] * b.ndim))
    assert layout.shape == got.shape
    assert layout.a[0].size == (1 if b.size == 33 * 7 else 6)
