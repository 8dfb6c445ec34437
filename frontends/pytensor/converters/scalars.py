"""The meaning of PyTensor's scalar ops on tensors, element by element.

Operands are cast to the dtype of the output before arithmetic, as PyTensor does it; functions of integers are computed
in the floating-point dtype of the output.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from pytensor.scalar import basic as ps
from pytensor.scalar import math as pm
from pytensor.scalar.loop import ScalarLoop

from .... import ops as T
from ....control.scan import while_loop
from ..table import SCALARS, found_for, scalar
from ..versions import classes, xlogx

ARITHMETIC: dict[type, Callable[..., Any]] = {
    ps.Sub: T.sub, ps.TrueDiv: T.true_div, ps.IntDiv: T.floor_div, ps.Mod: T.mod, ps.Pow: T.pow,
    ps.Maximum: T.maximum, ps.Minimum: T.minimum, ps.ArcTan2: T.arctan2,
    ps.Abs: T.abs, ps.Sign: T.sgn, ps.Ceil: T.ceil, ps.Floor: T.floor, ps.Trunc: T.trunc, ps.RoundHalfToEven: T.rint,
    ps.Neg: T.neg, ps.Reciprocal: T.reciprocal, ps.Sqr: T.sqr, ps.Sqrt: T.sqrt, ps.Conj: T.conj,
    ps.Log: T.log, ps.Log2: T.log2, ps.Log10: T.log10, ps.Log1p: T.log1p,
    ps.Exp: T.exp, ps.Exp2: T.exp2, ps.Expm1: T.expm1,
    ps.Cos: T.cos, ps.Sin: T.sin, ps.Tan: T.tan, ps.Cosh: T.cosh, ps.Sinh: T.sinh, ps.Tanh: T.tanh,
    ps.ArcCos: T.arccos, ps.ArcSin: T.arcsin, ps.ArcTan: T.arctan,
    ps.ArcCosh: T.arccosh, ps.ArcSinh: T.arcsinh, ps.ArcTanh: T.arctanh,
    ps.Invert: T.invert,
    pm.Erf: T.erf, pm.Erfc: T.erfc, pm.Gamma: T.gamma, pm.GammaLn: T.gammaln, pm.Psi: T.digamma,
    pm.Sigmoid: T.sigmoid, pm.Softplus: T.softplus, pm.Log1mexp: T.log1mexp,
}  # fmt: skip
"""Functions of operands of the output's dtype."""
FOLDED: dict[type, Callable[..., Any]] = {
    ps.Add: T.add, ps.Mul: T.mul, ps.AND: T.and_, ps.OR: T.or_, ps.XOR: T.xor,
}  # fmt: skip
"""The same, for any number of operands."""
TESTS: dict[type, Callable[..., Any]] = {
    ps.LT: T.lt, ps.GT: T.gt, ps.LE: T.le, ps.GE: T.ge, ps.EQ: T.eq, ps.NEQ: T.ne, ps.IsNan: T.isnan, ps.IsInf: T.isinf,
    ps.Real: T.real, ps.Imag: T.imag,
}  # fmt: skip
"""Functions whose output has another dtype than their operands."""


def as_dtype(x: Any, dtype: str) -> Any:
    """Return `x` in a dtype.  The imaginary part is dropped where it must be, as PyTensor does it."""
    if x.dtype == dtype:
        return x
    return T.cast(T.real(x) if x.type.kind == "c" and not dtype.startswith("complex") else x, dtype)


def applied(op: Any, dtypes: list[str], operands: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the outputs of a scalar op on tensors; None for an op without a known meaning."""
    meaning = found_for(SCALARS, type(op)) or _named(op)
    if meaning is None:
        return None
    found = meaning(op, dtypes, *operands)
    if found is NotImplemented:
        return None
    several = found if isinstance(found, tuple) else (found,)
    return tuple(as_dtype(v, dtype) for v, dtype in zip(several, dtypes, strict=True))


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda op, dtypes, *xs: function(*(as_dtype(x, dtypes[0]) for x in xs))


def _named(op: Any) -> Callable[..., Any] | None:
    """Return the meaning of an op that names its function of scipy.special, as PyMC's `i1e` does; None for others.

    PyTensor's `Elemwise` calls that function in place of the op's own `impl`.
    """
    module, _, name = (getattr(op, "nfunc_spec", None) or ("",))[0].rpartition(".")
    function = getattr(T.special, name, None) if module == "scipy.special" else None
    return None if function is None else _plain(function)


def _folded(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda op, dtypes, *xs: reduce(function, [as_dtype(x, dtypes[0]) for x in xs])


def _real(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the meaning of a function of real numbers; PyTensor's own `perform` takes complex ones."""
    plain = _plain(function)
    return lambda op, dtypes, *xs: plain(op, dtypes, *xs) if dtypes[0].startswith("float") else NotImplemented


for _kind, _function in ARITHMETIC.items():
    scalar(_kind)((_real if _kind.__module__ == pm.__name__ else _plain)(_function))
for _kind, _function in FOLDED.items():
    scalar(_kind)(_folded(_function))
for _kind, _function in TESTS.items():
    scalar(_kind)(lambda op, dtypes, *xs, _f=_function: _f(*xs))


SPECIAL = {
    pm.Erfcx: "erfcx", pm.Erfinv: "erfinv", pm.Erfcinv: "erfcinv", pm.GammaInc: "gammainc", pm.GammaIncC: "gammaincc",
    pm.GammaIncInv: "gammaincinv", pm.GammaIncCInv: "gammainccinv", pm.BetaInc: "betainc", pm.BetaIncInv: "betaincinv",
    pm.I0: "i0", pm.I1: "i1", pm.Ive: "ive", pm.J0: "j0", pm.J1: "j1", pm.Jv: "jv", pm.Kve: "kve",
    pm.Hyp2F1: "hyp2f1", pm.Owens_t: "owens_t",
}  # fmt: skip
"""Functions of `T.special`, by SciPy's names; those that it lacks run by PyTensor's `perform`."""

for _kind, _name in SPECIAL.items():
    scalar(_kind)(_plain(getattr(T.special, _name)))

# --- of PyTensor 2 only
scalar(*classes(ps, "Deg2Rad"))(_plain(T.deg2rad))
scalar(*classes(ps, "Rad2Deg"))(_plain(T.rad2deg))
scalar(*classes(ps, "Angle"))(lambda op, dtypes, x: T.angle(x))
scalar(*classes(pm, "Iv"))(_plain(T.special.iv))


@scalar(ps.Switch)
def _switch(op: Any, dtypes: list[str], condition: Any, x: Any, y: Any) -> Any:
    test = condition if condition.dtype == "bool" else T.ne(condition, 0)
    return T.switch(test, as_dtype(x, dtypes[0]), as_dtype(y, dtypes[0]))


@scalar(ps.Clip)
def _clip(op: Any, dtypes: list[str], x: Any, low: Any, high: Any) -> Any:
    x, low, high = (as_dtype(v, dtypes[0]) for v in (x, low, high))
    return T.switch(T.lt(x, low), low, T.switch(T.gt(x, high), high, x))


@scalar(ps.RoundHalfAwayFromZero)
def _round(op: Any, dtypes: list[str], x: Any) -> Any:
    x = as_dtype(x, dtypes[0])
    return T.sign(x) * T.floor(T.abs(x) + 0.5)


@scalar(*classes(ps, "ComplexFromPolar"))
def _polar(op: Any, dtypes: list[str], r: Any, theta: Any) -> Any:
    unit = as_dtype(T.cos(theta), dtypes[0]) + as_dtype(T.sin(theta), dtypes[0]) * T.constant(1j, dtypes[0])
    return as_dtype(r, dtypes[0]) * unit


@scalar(*classes(xlogx, "XlogX", "XlogY0"))
def _xlogy(op: Any, dtypes: list[str], x: Any, y: Any = None) -> Any:
    """Return `x * log(y)`, and 0 where x is 0, also if y is NaN: there SciPy's `xlogy` gives NaN."""
    x, y = (as_dtype(v, dtypes[0]) for v in (x, x if y is None else y))
    return T.switch(T.eq(x, 0), T.zeros_like(x), x * T.log(y))


@scalar(*classes(pm, "GammaL", "GammaU"))
def _incomplete_gamma(op: Any, dtypes: list[str], k: Any, x: Any) -> Any:
    k, x = (as_dtype(v, dtypes[0]) for v in (k, x))
    part = T.special.gammainc if isinstance(op, pm.GammaL) else T.special.gammaincc
    return part(k, x) * T.gamma(k)


def on_scalar_graph(graph: Any, xs: Any) -> Any:
    """Return the outputs of a graph of scalar ops on tensors; NotImplemented if an op has no known meaning."""
    known = dict(zip(graph.inputs, xs, strict=True))

    def value(v: Any) -> Any:
        return known[v] if v in known else T.constant(v.data, v.type.dtype)

    for node in graph.toposort():
        operands = tuple(value(i) for i in node.inputs)
        found = applied(node.op, [o.type.dtype for o in node.outputs], operands)
        if found is None:
            return NotImplemented
        known.update(zip(node.outputs, found, strict=True))
    return tuple(value(o) for o in graph.outputs)


@scalar(ScalarLoop)
def _scalar_loop(op: Any, dtypes: list[str], steps: Any, *xs: Any) -> Any:
    """Return the states after `steps` steps, each element for itself, or until its condition holds.

    The loop runs until every element has ended; ended elements keep their states.
    """
    graph = op.fgraph
    states = len(graph.outputs) - int(op.is_while)
    steps, *given = T.broadcast_arrays(steps, *xs)
    firsts, others = given[:states], given[states:]
    kinds = [o.type.dtype for o in graph.outputs[:states]]
    firsts = [as_dtype(x, kind) for x, kind in zip(firsts, kinds, strict=True)]
    known = on_scalar_graph(graph, (*firsts, *others))
    if known is NotImplemented:
        return NotImplemented
    step = T.constant(0, "int64")
    running = T.gt(steps, 0)

    def body(state: Any) -> Any:
        found = on_scalar_graph(graph, (*state["x"], *others))
        goes_on = state["running"]
        x = [T.switch(goes_on, new, old) for new, old in zip(found[:states], state["x"], strict=True)]
        after = T.and_(goes_on, T.lt(state["step"] + 1, steps))
        if op.is_while:
            after = T.and_(after, T.logical_not(found[states]))
        done = T.switch(goes_on, found[states], state["done"]) if op.is_while else state["done"]
        return {"x": x, "running": after, "done": done, "step": state["step"] + 1}

    first = {"x": list(firsts), "running": running, "done": T.zeros_like(running), "step": step}
    end = while_loop(lambda state: T.any(state["running"]), body, first)
    return (*end["x"], *((end["done"],) if op.is_while else ()))


scalar(ps.Abs)(lambda op, dtypes, x: T.abs(x))
scalar(ps.Cast, ps.Identity)(lambda op, dtypes, x: x)
scalar(ps.Second)(lambda op, dtypes, x, y: T.fill(x, as_dtype(y, dtypes[0])) if x.ndim or y.ndim else y)
scalar(ps.Complex)(lambda op, dtypes, x, y: as_dtype(x, dtypes[0]) + as_dtype(y, dtypes[0]) * T.constant(1j, dtypes[0]))
scalar(pm.PolyGamma)(lambda op, dtypes, n, x: T.polygamma(n, as_dtype(x, dtypes[0])))
scalar(pm.TriGamma)(lambda op, dtypes, x: T.polygamma(1, as_dtype(x, dtypes[0])))
scalar(ps.Composite)(lambda op, dtypes, *xs: on_scalar_graph(op.fgraph, xs))
