"""CUDA C++ of device kernels: golden texts, which NVRTC compiles where it is installed.  No GPU is needed."""

import math
from functools import cache, reduce

import pytest

from arignote import ops as T
from arignote.cbackend.ctext.device import source
from arignote.cbackend.ctext.device_groups import group_source
from arignote.cbackend.ctext.device_products import DTYPES
from arignote.cbackend.ctext.device_scatter import scatter_source
from arignote.cbackend.ctext.device_tiles import BY_INNER, BY_OUTER, INNER, OUTER, tiled_source, tiles
from arignote.cbackend.lowering.devices.groups import groups_of, row_split, split_of
from arignote.cbackend.lowering.devices.work_items import gather_items, work_items
from arignote.cbackend.lowering.devices.work_rows import row_items
from arignote.cbackend.lowering.nests.indexing import GATHER, Indexing, indexing_kernel
from arignote.engines.device.dialects.cuda import CUDA
from arignote.engines.device.dialects.opencl import OPENCL
from arignote.graph import FunctionGraph
from arignote.ops.elementwise.records import Elementwise
from arignote.ops.lowered.fused import Fused

x = T.matrix("x", dtype="float32")
GATHERED = indexing_kernel(GATHER, "float32", Indexing(2, (("array", 0), ("loop", 1)), ((0,),), (0,)), (0, 1))
WORK = {
    "elementwise": lambda: work_items((T.matrix("a", dtype="float32") + T.vector("b", dtype="float32")).owner),
    "gather": lambda: gather_items(GATHERED),
}


def sums(items, *shape):
    """The text of a reduction of a contiguous array."""
    return items, shape, split_of(math.prod(shape[l] for l in items.kept), math.prod(shape[l] for l in items.reduced))


def rows(items, *shape):
    """The text of passes over rows of a contiguous array."""
    return items, shape, row_split(shape[-1])


SUM, MEAN_AND_MAX = T.vector("x", dtype="float32").sum().owner, FunctionGraph([x], [x.sum(axis=0), x.max(axis=0)])
GROUPED = {
    "rows": lambda: sums(work_items(x.max(axis=1).owner), 4096, 4096),
    "short_rows": lambda: sums(work_items(x.max(axis=1).owner), 4096, 20),
    "columns": lambda: sums(work_items(Fused(MEAN_AND_MAX)(x)[0].owner), 4096, 4096),
    "parts": lambda: sums(work_items(SUM), 1 << 28),
    "planes": lambda: sums(work_items(T.tensor3("x", dtype="float32").sum(axis=(0, 2)).owner), 64, 32, 784),
    "softmax": lambda: rows(row_items(T.nn.softmax(x).owner, held=True), 4096, 1000),
    "long_softmax": lambda: rows(row_items(T.nn.softmax(x).owner), 4096, 100_000),
}
"""Reductions and passes over rows: the items, the shape of the operand, and the order of additions."""


@cache
def nvrtc():
    """The module of NVRTC; None where it is not installed, or not of a release that is."""
    try:
        from cuda.bindings import nvrtc as found

        found.nvrtcVersion()
    except (ImportError, RuntimeError):
        return None
    return found


def require_compiles(text):
    """The text becomes PTX; skips the test without NVRTC."""
    found = nvrtc()
    if found is None:
        pytest.skip("no NVRTC: pip install 'arignote[cuda]'")
    _, program = found.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], [])
    (result,) = found.nvrtcCompileProgram(program, 2, [b"--gpu-architecture=compute_80", b"--fmad=false"])
    _, size = found.nvrtcGetProgramLogSize(program)
    message = b" " * size
    found.nvrtcGetProgramLog(program, message)
    assert result == found.nvrtcResult.NVRTC_SUCCESS, message.decode()
    _, size = found.nvrtcGetPTXSize(program)
    made = b" " * size
    found.nvrtcGetPTX(program, made)
    assert b".extern" not in made, "a function is declared and not defined, which only the driver notices"


@pytest.mark.parametrize("name", WORK)
def test_the_dialects_of_a_kernel(golden, name):
    """The two texts differ in their prelude, in qualifiers and in how an item finds its place."""
    made = WORK[name]()
    for dialect, ending in ((OPENCL, "cl"), (CUDA, "cu")):
        text = source(made, dialect)
        golden(f"device_{name}.{ending}", text[len(dialect.prelude) :])
    require_compiles(text)


@pytest.mark.parametrize("name", GROUPED)
def test_groups_that_reduce(golden, name):
    """The kernels of the plans for each layout."""
    items, shape, split = GROUPED[name]()
    steps = {loop: math.prod(shape[loop + 1 :]) for loop in range(len(shape))}
    groups = groups_of(items, split, shape, [steps], 256, 1024)
    texts = {ending: group_source(items, dialect, groups) for dialect, ending in ((OPENCL, "cl"), (CUDA, "cu"))}
    golden(f"device_{name}.cu", texts["cu"][len(CUDA.prelude) :])
    if name == "short_rows":
        golden(f"device_{name}.cl", texts["cl"][len(OPENCL.prelude) :])
    require_compiles(texts["cu"])


@pytest.mark.parametrize("readers", [(INNER, OUTER), (BY_INNER, BY_OUTER)], ids="-".join)
def test_the_text_of_products(golden, readers):
    text = tiled_source("float32", CUDA, tiles("float32")[0], readers)
    golden(f"device_product_{readers[0]}_{readers[1]}.cu", text[len(CUDA.prelude) :])


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_products_of_all_dtypes_in_tiles(dtype):
    for tile, readers in zip(tiles(dtype), ((INNER, OUTER), (OUTER, INNER), (BY_INNER, BY_OUTER), (BY_OUTER, INNER))):
        require_compiles(tiled_source(dtype, CUDA, tile, readers))


@pytest.mark.long
def test_scatters_of_all_dtypes(golden):
    golden("device_scatter.cu", scatter_source("float32", True, CUDA)[len(CUDA.prelude) :])
    for dtype in sorted({*DTYPES, "bool"}):
        for adds in (False, True):
            require_compiles(scatter_source(dtype, adds, CUDA))


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_all_scalar_operations_compile(dtype):
    """One kernel of every elementwise operation that devices have."""
    leaf = T.vector("x", dtype=dtype)
    values = []
    for op in sorted({o for o in vars(T).values() if isinstance(o, Elementwise)}, key=lambda o: o.name):
        try:
            value = op(*[leaf] * (op.arity or 2))
            work_items(value.owner)
        except (TypeError, ValueError):
            continue  # not of this dtype, or not on devices
        values.append(T.cast(value, "float64"))
    assert len(values) > 40
    graph = FunctionGraph([leaf], [reduce(T.add, values)])
    require_compiles(source(work_items(Fused(graph)(leaf).owner), CUDA))
