"""Graphs compiled by the C backend without any optimizer, for tests of the backend alone."""

from functools import lru_cache

import numpy as np

from arignote.cbackend import Cache, Toolchain, compile_graph
from arignote.graph import FunctionGraph
from arignote.ops.core.interpret import interpret
from arignote.ops.lowered.fused_product import FusedProduct


@lru_cache(maxsize=1)
def tools():
    cache = Cache.open()
    toolchain = Toolchain.find(cache)
    assert toolchain is not None, "these tests need a C compiler"
    return toolchain, cache


def compiled(inputs, outputs, *, updates=(), **options):
    """The executable of the graph from `inputs` to `outputs`."""
    return compiled_graph(FunctionGraph(inputs, outputs, updates), **options)


def compiled_graph(graph, *, shared=None, name="f", **options):
    """The executable of `graph`."""
    toolchain, cache = tools()
    shared = shared or [None] * len(graph.inputs)
    return compile_graph(graph, name=name, shared=shared, toolchain=toolchain, cache=cache, **options)


def expected(inputs, outputs, values):
    """Results of NumPy for the same graph."""
    with np.errstate(all="ignore"):
        return interpret(FunctionGraph(inputs, outputs), values)


def check(inputs, outputs, *values, exact=False, function=None):
    """Compile (or take `function`), run, and compare every output with NumPy: dtype, shape, values."""
    function = function or compiled(inputs, outputs)
    for given in values:
        results = function(*given)
        for k, (got, want) in enumerate(zip(results, expected(inputs, outputs, given), strict=True)):
            assert_same(got, want, exact, f"output {k}: {outputs[k].owner}")
    return function


def assert_same(got, want, exact=False, what=""):
    assert type(got) is np.ndarray
    assert (got.dtype, got.shape) == (want.dtype, want.shape), what
    if exact or want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    single = {"float16": 2e-3, "float32": 2e-6, "complex64": 4e-6}.get(want.dtype.name, 1e-13)
    scale = max(1.0, float(np.max(np.abs(want[np.isfinite(want)]), initial=0)))
    np.testing.assert_allclose(got, want, rtol=single, atol=single * scale, err_msg=what)


def product_names(f) -> list[str]:
    """The name of each node of a function in order; of a fused product that of the product."""
    return [n.op.product.name if isinstance(n.op, FusedProduct) else n.op.name for n in f.graph.order]
