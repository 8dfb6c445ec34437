"""One rule at work on an expression, and data to see what it does to values."""

import numpy as np

from arignote.graph import FunctionGraph, leaves
from arignote.graph.node import Constant
from arignote.ops.core.interpret import interpret
from arignote.optdb import EquilibriumOptimizer, TopoOptimizer
from arignote.optdb.rules.conforming import TensorConform


def graph_of(*outputs):
    """The graph of the outputs over their leaves, in order of name."""
    found = [v for v in leaves(outputs) if not isinstance(v, Constant)]
    return FunctionGraph(sorted(found, key=lambda v: v.name or ""), outputs)


def rewritten(graph, rule):
    """The graph after one walk of one rule, which must not fail."""
    result, _ = TopoOptimizer(rules=(rule,), conform=TensorConform(), strict=True)(graph)
    return result


def normalized(graph, rules):
    """The graph after the rules have come to a fixed point, which they must."""
    result, _ = EquilibriumOptimizer(rules=tuple(rules), conform=TensorConform(), strict=True)(graph)
    return result


def values_of(graph, arrays):
    """The outputs, or None if the run fails as NumPy's would."""
    try:
        return interpret(graph, arrays)
    except (ValueError, IndexError, ArithmeticError):
        return None


FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, np.nan, np.inf, -np.inf, 1e-3, -1e-3, 1e-7, -1e-7, 1e-9, 1e-20,
    -1e-20, 0.1, 0.9999, 1.0001, 5.0, -5.0, 9.5, -9.5, 12.0, 17.0, 26.5, -27.0, 40.0, -40.0, 88.0, -88.0, 100.0, -104.0,
    700.0, -708.0, 745.0, -745.0, 800.0, -800.0, 1e5, -1e5, 1e10, 1e30, -1e30, 1e155, 1e200, -1e300,
]  # fmt: skip


def sample(rng, dtype, shape):
    """An array with special values, the extremes of the dtype, and random numbers of all sizes."""
    kind = np.dtype(dtype).kind
    size = int(np.prod(shape))
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        limits = np.iinfo(dtype)
        pool = [limits.min, limits.max, limits.max - 1, limits.min + 1, 0, 1, 2, 3, 5, 7, 8, 16, 100, limits.max // 2]
        pool += [] if kind == "u" else [-1, -2, -3, -7]
        picked = np.array([pool[k] for k in rng.integers(0, len(pool), size)], dtype=dtype)
        return picked.reshape(shape)
    if kind == "c":
        part = {"complex64": "float32", "complex128": "float64"}[dtype]
        made = np.empty(shape, dtype)
        made.real, made.imag = sample(rng, part, shape), sample(rng, part, shape)
        return made
    limits = np.finfo(dtype)
    with np.errstate(all="ignore"):
        tiny = limits.smallest_subnormal
        own = [limits.max, -limits.max, limits.smallest_normal, tiny, -tiny, limits.eps]
        pool = np.concatenate([np.array(FLOATS).astype(dtype), np.array(own, dtype=dtype)])
        random = (rng.standard_normal(size) * 10.0 ** rng.integers(-4, 3, size)).astype(dtype)
    picked = np.where(rng.random(size) < 0.6, pool[rng.integers(0, len(pool), size)], random)
    return picked.astype(dtype).reshape(shape)


def tame(rng, dtype, shape):
    """Small numbers: for integers those that may be exponents and indices."""
    if np.dtype(dtype).kind in "biu":
        return rng.integers(0, 2 if dtype == "bool" else 5, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)
