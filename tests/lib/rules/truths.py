"""Value of a graph of real numbers to many digits, by mpmath: the judge between two roundings of it."""

import numpy as np

from arignote.graph import Constant
from arignote.ops.elementwise.records import Cast, Elementwise, fill
from arignote.ops.nn import LogSoftmax, LogSumExp, Softmax
from arignote.ops.reductions.reduce import Reduce

DIGITS = 400
"""Of scalars: 1 - erf(26) is 1e-296."""
DIGITS_NEAR_ONE = 700
"""Of arccosh: the cosh of the least normal number is 1 + 2e-616."""
SPARE_DIGITS = 40
"""Of sums, besides those that the largest term has before the point."""


def true_value(output, at):
    """The value of an elementwise scalar graph to many digits, for values `at` of variables; None if it is not real."""
    import mpmath

    with mpmath.workdps(DIGITS_NEAR_ONE if output.owner.op.name == "arccosh" else DIGITS):
        known = {}
        stack = [output]
        while stack:
            v = stack[-1]
            missing = [i for i in (v.owner.inputs if v.owner and v not in at else ()) if i not in known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            known[v] = _true(mpmath, v, known, at)
        return known[output]


def _true(mp, v, known, at):
    if isinstance(v, Constant):
        return mp.mpf(float(v.data.flat[0]))
    if v in at:
        return mp.mpf(float(at[v]))
    operands = [known[i] for i in v.owner.inputs]
    if v.owner.op.name == "switch" and operands[0] is not None:  # the branch that is not taken need not be real
        return operands[1] if operands[0] else operands[2]
    return None if None in operands else _applied(mp, v.owner.op.name, operands)


def _applied(mp, name, operands):
    """The value of one operation; None where it is not real."""
    try:
        value = _functions(mp)[name](*operands)
    except (ZeroDivisionError, ValueError):
        if name == "true_div" and not operands[0]:
            return None
        return mp.inf if name in ("true_div", "reciprocal") else -mp.inf
    if isinstance(value, mp.mpc):
        return None if value.imag else value.real
    return None if isinstance(value, mp.mpf) and mp.isnan(value) else value


def true_array(graph, arrays):
    """The only output of a graph as an array of mpmath's numbers, NaN where it is not real.

    None where an operation is not known here.
    """
    import mpmath as mp

    known = {v: _exact(mp, a) for v, a in zip(graph.inputs, arrays, strict=True)}
    with mp.workdps(_digits(graph, arrays)):
        for node in graph.order:
            inputs = [_exact(mp, i.data) if isinstance(i, Constant) else known[i] for i in node.inputs]
            value = _array(mp, node, inputs)
            if value is None:
                return None
            known[node.out] = np.asarray(value)
    return known[graph.outputs[0]]


def true_summands(graph, arrays):
    """How large the summands are that make up each element of the only output: what rounding of sums is measured by.

    Of a sum, the sum of their sizes; of a product, the product; of other functions the size of the value.
    None where an operation is not known here.
    """
    import mpmath as mp

    known = {v: _exact(mp, a) for v, a in zip(graph.inputs, arrays, strict=True)}
    sizes = {v: np.asarray(abs(a)) if a.dtype == object else a for v, a in known.items()}
    with mp.workdps(_digits(graph, arrays)):
        for node in graph.order:
            for i in node.inputs:
                if isinstance(i, Constant):
                    known[i] = _exact(mp, i.data)
                    sizes[i] = np.asarray(abs(known[i])) if known[i].dtype == object else known[i]
            value = _array(mp, node, [known[i] for i in node.inputs])
            if value is None:
                return None
            known[node.out] = np.asarray(value)
            size = _size(mp, node, known, [sizes[i] for i in node.inputs])
            sizes[node.out] = np.asarray(size)
    return sizes[graph.outputs[0]]


def _size(mp, node, known, sizes):
    op, value = node.op, known[node.out]
    if value.dtype != object:
        return value
    if isinstance(op, Reduce) and op.scalar.name == "add":
        return np.add.reduce(sizes[0], axis=op.axis)
    if op is fill or op.name in _MOVING:
        return _array(mp, node, sizes)
    if op.name in ("add", "sub"):
        return _elementwise(mp, "add", sizes)
    if op.name in ("mul", "neg", "identity"):
        return _elementwise(mp, "mul", sizes)
    if op.name == "true_div":
        return _elementwise(mp, "true_div", [sizes[0], abs(known[node.inputs[1]])])
    return abs(value)


def _digits(graph, arrays):
    """Enough for sums of the largest number and 1; for functions of one element enough for all cancellations."""
    if all(isinstance(node.op, Elementwise) for node in graph.order):
        return DIGITS_NEAR_ONE if any(node.op.name == "arccosh" for node in graph.order) else DIGITS
    sizes = [np.abs(a[np.isfinite(a)]).max(initial=1.0) for a in arrays if a.dtype.kind == "f"]
    return SPARE_DIGITS + int(np.log10(max(sizes, default=1.0)))


def _exact(mp, a):
    """Floats as mpmath's numbers; integers, which are lengths and positions, as they are."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.frompyfunc(lambda v: mp.mpf(float(v)), 1, 1)(a), object) if a.dtype.kind == "f" else a


def _array(mp, node, inputs):
    op = node.op
    if all(i.dtype != object for i in inputs) and node.out.type.kind in "biu":
        return op.evaluate(*inputs)[0]
    if isinstance(op, Cast):
        return inputs[0] if inputs[0].dtype == object else _exact(mp, inputs[0].astype("float64"))
    if op is fill:
        return np.broadcast_to(inputs[1], np.broadcast_shapes(*(i.shape for i in inputs)))
    if isinstance(op, Elementwise):
        return _elementwise(mp, op.name, inputs) if op.name in _functions(mp) else None
    if isinstance(op, Reduce):
        return getattr(np, op.scalar.name).reduce(inputs[0], axis=op.axis) if op.scalar.name in ("add", "mul") else None
    if isinstance(op, (Softmax, LogSoftmax, LogSumExp)):
        return _softmax_family(mp, op, inputs[0])
    return op.evaluate(*inputs)[0] if op.name in _MOVING else None


_MOVING = frozenset({
    "dimshuffle", "reshape", "subtensor", "advanced_subtensor", "inc_subtensor", "advanced_inc_subtensor", "join",
    "alloc", "broadcast_to", "shape_i", "make_vector", "arange",
})  # fmt: skip
"""Ops that never look at elements, and may be given any."""


def _elementwise(mp, name, inputs):
    def at(*operands):
        operands = [mp.mpf(int(v)) if isinstance(v, (bool, int, np.generic)) else v for v in operands]
        value = mp.nan if any(map(mp.isnan, operands)) else _applied(mp, name, operands)
        return mp.nan if value is None else value

    return np.asarray(np.frompyfunc(at, len(inputs), 1)(*inputs), object)


def _softmax_family(mp, op, x):
    e = _elementwise(mp, "exp", [x])
    total = np.add.reduce(e, axis=op.axis, keepdims=True)
    if isinstance(op, LogSumExp):
        return np.squeeze(_elementwise(mp, "log", [total]), op.axis)
    return _elementwise(mp, "true_div", [e, total]) if isinstance(op, Softmax) else x - _elementwise(mp, "log", [total])


def _functions(mp):
    def fold(f):
        return lambda *xs: xs[0] if len(xs) == 1 else fold(f)(f(xs[0], xs[1]), *xs[2:])

    def erfc(a):
        return mp.erfc(a) if a < 1e100 else mp.exp(-a * a) / (a * mp.sqrt(mp.pi))

    def ndtr(a):
        return erfc(max(-a, mp.mpf(-1e100)) / mp.sqrt(2)) / 2

    def log_ndtr(a):
        return mp.log(ndtr(a)) if a < 5 else mp.log1p(-ndtr(-a))

    return {
        "ndtr": ndtr, "log_ndtr": log_ndtr,
        "add": fold(lambda a, b: a + b), "mul": fold(lambda a, b: a * b), "sub": lambda a, b: a - b,
        "true_div": lambda a, b: a / b,
        "neg": lambda a: -a, "abs": abs, "square": lambda a: a * a, "sqrt": mp.sqrt, "reciprocal": lambda a: 1 / a,
        "exp": mp.exp, "exp2": lambda a: mp.mpf(2) ** a, "expm1": mp.expm1, "log": mp.log,
        "log2": lambda a: mp.log(a, 2),
        "log1p": lambda a: mp.log(1 + a), "logaddexp": lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
        "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan,
        "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh,
        "arcsinh": mp.asinh, "arccosh": mp.acosh, "arctanh": mp.atanh,
        "deg2rad": mp.radians, "rad2deg": mp.degrees, "erf": lambda a: mp.erf(max(min(a, 1e100), -1e100)),
        "erfc": erfc,
        "sigmoid": lambda a: 1 / (1 + mp.exp(-a)), "softplus": lambda a: mp.log1p(mp.exp(a)),
        "log1mexp": lambda a: mp.log(-mp.expm1(a)), "pow": lambda a, b: a**b,
        "identity": lambda a: a, "stop_gradient": lambda a: a, "fill": lambda like, a: a,
        "minimum": fold(min), "maximum": fold(max),
    }  # fmt: skip
