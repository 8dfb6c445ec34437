"""Whether two results agree as far as a contract demands, with the true value from mpmath where one may be better."""

import math

import numpy as np

from arignote.graph import Constant

DIGITS = 400
"""Of true values: 1 - erf(26) is 1e-296."""
SPARE_ULPS = 4
"""What two evaluations may differ by where a contract asks for the nearer one: both may be a few ulp off."""


def ordinals(x):
    """Integers such that neighbouring floats are neighbouring integers; +0 and -0 are the same."""
    bits = x.view(f"i{x.dtype.itemsize}").astype(object)
    lowest = -(1 << (8 * x.dtype.itemsize - 1))
    return np.where(bits < 0, lowest - bits, bits)


def ulps_apart(a, b):
    """The distance of two arrays of floats in units in the last place."""
    return np.abs(ordinals(np.ascontiguousarray(a)) - ordinals(np.ascontiguousarray(b)))


def parts(x):
    """The real numbers that an array is made of."""
    return [x.real, x.imag] if x.dtype.kind == "c" else [x]


def disagreements(contract, before, after, scale=0.0, finite=False):
    """Where `after` is not what the contract allows for `before`, as a mask; truths are not asked for here.

    `scale`: the size of the operands, which the rounding of a sum goes by; `finite`: whether they all are.
    """
    wrong = np.zeros(before.shape, dtype=bool)
    for a, b in zip(parts(before), parts(after), strict=True):
        wrong |= _real_disagreements(contract, np.atleast_1d(a), np.atleast_1d(b), scale, finite).reshape(before.shape)
    return wrong


def _real_disagreements(contract, a, b, scale, finite):
    if a.dtype.kind != "f":
        return a != b
    relaxed = contract.relaxed
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if "signed zero" not in relaxed and not contract.nearer:
        same &= np.isnan(a) | (a != 0) | (np.signbit(a) == np.signbit(b))
    both = np.isfinite(a) & np.isfinite(b)
    if contract.ulps:
        close = ulps_apart(a, b) <= contract.ulps
        zeros = (a == 0) & (b == 0)  # a zero of the other sign is another special value
        same |= ~np.isnan(a) & ~np.isnan(b) & close & ~zeros
    if "rounding" in relaxed:
        eps = float(np.finfo(a.dtype).eps)
        scale = max([scale, *(float(v) for v in np.abs(a[both]))])
        with np.errstate(all="ignore"):
            same |= both & (np.abs(a.astype("f8") - b.astype("f8")) <= 64 * eps * max(scale, 1.0))
    if "nan" in relaxed:
        same |= np.isnan(a) | np.isnan(b)
    if "inf" in relaxed:
        same |= np.isinf(a) | np.isinf(b)
    if "overflow" in relaxed:
        same |= ~np.isfinite(a) | ~np.isfinite(b)
    if "domain" in relaxed and not finite:
        same |= np.isnan(b)
    if "underflow" in relaxed:
        tiny = np.finfo(a.dtype).smallest_normal
        same |= (np.abs(a) < tiny) | (np.abs(b) < tiny)
    return ~same


def farther_from_truth(output, at, before, after):
    """Whether `after` is farther than `before` from the true value of `output` for the values `at` of the leaves.

    A NaN must come from a NaN; at infinities the two must agree unless `before` is NaN or only limits could tell.
    """
    values = [float(v) for v in at.values()]
    if any(math.isnan(v) for v in values):
        return not math.isnan(after) and math.isnan(before)
    if any(math.isinf(v) for v in values):
        return not math.isnan(before) and math.isnan(after)
    truth = true_value(output, at)
    if truth is None:  # not a real number
        return not math.isnan(after)
    if math.isnan(after):
        return True
    kind = np.dtype(output.dtype).type
    with np.errstate(all="ignore"):
        nearest = kind(as_float(truth))
    if abs(int(ulps_apart(np.atleast_1d(kind(after)), np.atleast_1d(nearest))[0])) <= SPARE_ULPS:
        return False
    if math.isnan(before) or math.isinf(before):
        return False
    return abs(truth - float(after)) > abs(truth - float(before)) * (1 + 1e-9) + spacing(nearest)


def as_float(truth):
    try:
        return float(truth)
    except OverflowError:
        return math.inf if truth > 0 else -math.inf


def spacing(x):
    """The distance to the next float; that at the largest one for infinities."""
    return float(np.spacing(min(np.abs(x), np.finfo(x.dtype).max)))


def true_value(output, at):
    """The value of an elementwise scalar graph to 400 digits' range; None where it is not real."""
    import mpmath

    with mpmath.workdps(DIGITS):
        known = {}
        stack = [output]
        while stack:
            v = stack[-1]
            missing = [i for i in (v.owner.inputs if v.owner else ()) if i not in known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            known[v] = _true(mpmath, v, known, at)
            if known[v] is None:
                return None
        return known[output]


def _true(mp, v, known, at):
    if isinstance(v, Constant):
        return mp.mpf(float(v.data.flat[0]))
    if v.owner is None:
        return mp.mpf(float(at[v]))
    operands = [known[i] for i in v.owner.inputs]
    try:
        value = _functions(mp)[v.owner.op.name](*operands)
    except (ZeroDivisionError, ValueError):
        return mp.inf if v.owner.op.name in ("true_div", "reciprocal") else -mp.inf
    if isinstance(value, mp.mpc):
        return None if value.imag else value.real
    return None if isinstance(value, mp.mpf) and mp.isnan(value) else value


def _functions(mp):
    def fold(f):
        return lambda *xs: xs[0] if len(xs) == 1 else fold(f)(f(xs[0], xs[1]), *xs[2:])

    return {
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
        "erfc": lambda a: mp.erfc(a) if a < 1e100 else mp.exp(-a * a) / (a * mp.sqrt(mp.pi)),
        "sigmoid": lambda a: 1 / (1 + mp.exp(-a)), "softplus": lambda a: mp.log1p(mp.exp(a)),
        "log1mexp": lambda a: mp.log(-mp.expm1(a)), "pow": lambda a, b: a**b,
    }  # fmt: skip
