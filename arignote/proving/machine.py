"""The theory of machine numbers: bit-vectors, and floats of a format, with NumPy's meaning of every operation.

A term is a z3 expression with its dtype: `Bool`, a bit-vector of the width of the dtype, or a float; a complex number
is a pair of floats.  Functions without a closed form (`exp`, `pow`, sums in an order that is not stated) are
uninterpreted: equal operands give equal results, and nothing else is known but the facts that a proof names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import z3

from .terms import NotTranslated, OutOfFormat, Term
from .theory import PART, Theory

RNE = z3.RNE()


@dataclass(frozen=True)
class Format:
    """Bits of exponent and significand (with its hidden bit) of each floating-point dtype."""

    name: str
    bits: dict[str, tuple[int, int]]
    narrowed: dict[int, int] = field(default_factory=dict)
    """Width of the bit-vector in place of an integer of this width; none: its own."""

    def width(self, dtype: str) -> int:
        own = 8 * np.dtype(dtype).itemsize
        return self.narrowed.get(own, own)


OWN = Format("own", {"float16": (5, 11), "float32": (8, 24), "float64": (11, 53)})
HALF = Format("16 bits", {"float16": (4, 7), "float32": (5, 11), "float64": (8, 24)})
SMALL = Format("8 bits", {"float16": (3, 3), "float32": (4, 4), "float64": (5, 8)})
NARROW = Format("8-bit integers", OWN.bits, {16: 6, 32: 7, 64: 8, 8: 5})
MOST_OPERANDS = 24
"""Operands of an uninterpreted function that the solver compares; more are the same only as expressions."""


class Machine(Theory):
    """Terms over machine numbers of one format."""

    name = "machine"

    def __init__(self, form: Format) -> None:
        super().__init__()
        self.form = form
        self._bundles: dict[tuple[int, ...], int] = {}
        self._kept: list[Any] = []

    # --- leaves and numbers

    def sort(self, dtype: str) -> z3.SortRef:
        kind = np.dtype(dtype).kind
        if kind == "b":
            return z3.BoolSort()
        if kind in "iu":
            return z3.BitVecSort(self.form.width(dtype))
        if kind == "f":
            return z3.FPSort(*self.form.bits[dtype])
        raise NotTranslated(f"numbers of {dtype}")

    def _leaf(self, name: str, dtype: str) -> Any:
        value = z3.Const(name, self.sort(dtype))
        self.leaves[name] = value
        return value

    def _constant(self, value: Any, dtype: str) -> Any:
        kind = np.dtype(dtype).kind
        if kind == "b":
            return z3.BoolVal(bool(value))
        if kind in "iu":
            width = self.form.width(dtype)
            value = int(value)
            low, high = (0, 2**width - 1) if kind == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
            if not low <= value <= high:
                raise OutOfFormat(f"{value} in {width} bits")
            return z3.BitVecVal(value, width)
        return self._float(float(value), dtype)

    def _float(self, value: float, dtype: str) -> Any:
        sort = self.sort(dtype)
        if np.isnan(value):
            return z3.fpNaN(sort)
        if np.isinf(value):
            return z3.fpInfinity(sort, value < 0)
        if value == 0:
            return z3.fpZero(sort, bool(np.signbit(value)))
        exponent_bits, digits = self.form.bits[dtype]
        fraction = Fraction(abs(value))
        low = fraction.denominator.bit_length() - 1
        odd = fraction.numerator >> ((fraction.numerator & -fraction.numerator).bit_length() - 1)
        low = -low + (fraction.numerator.bit_length() - odd.bit_length())
        top = low + odd.bit_length() - 1
        bias = 2 ** (exponent_bits - 1) - 1
        if odd.bit_length() > digits or top > bias or low < 1 - bias - (digits - 1):
            raise OutOfFormat(f"{value!r} in {exponent_bits}+{digits} bits")
        return z3.FPVal(value, sort)

    # --- conversions

    def cast(self, t: Term, dtype: str) -> Term:
        if t.dtype == dtype:
            return t
        old, new = np.dtype(t.dtype).kind, np.dtype(dtype).kind
        if new == "c":
            if old == "c":
                return Term(self, dtype, tuple(self._cast_float(p, PART[dtype]) for p in t.value))
            part = self.cast(t, PART[dtype])
            return Term(self, dtype, (part.value, z3.fpZero(self.sort(PART[dtype]), False)))
        if old == "c":
            if new == "b":
                return Term(self, dtype, z3.Not(z3.And(*map(z3.fpIsZero, t.value))))
            raise NotTranslated("a complex number as a real one")
        x = t.value
        if new == "b":
            return Term(self, dtype, z3.Not(z3.fpIsZero(x)) if old == "f" else x != 0)
        if old == "b":
            one, zero = self.constant(1, dtype).value, self.constant(0, dtype).value
            return Term(self, dtype, z3.If(x, one, zero))
        if new in "iu":
            width = self.form.width(dtype)
            if old == "f":
                return Term(self, dtype, self._integer(x, dtype, width))
            more = width - x.size()
            if more < 0:
                return Term(self, dtype, z3.Extract(width - 1, 0, x))
            return Term(self, dtype, z3.SignExt(more, x) if old == "i" else z3.ZeroExt(more, x))
        if old == "f":
            return Term(self, dtype, self._cast_float(x, dtype))
        convert = z3.fpSignedToFP if old == "i" else z3.fpUnsignedToFP
        return Term(self, dtype, convert(RNE, x, self.sort(dtype)))

    def _cast_float(self, x: Any, dtype: str) -> Any:
        return z3.fpFPToFP(RNE, x, self.sort(dtype))

    def _integer(self, x: Any, dtype: str, width: int) -> Any:
        """Truncation; of a number out of range what the machine gives, which is uninterpreted."""
        signed = np.dtype(dtype).kind == "i"
        whole = z3.fpRoundToIntegral(z3.RTZ(), x)
        made = (
            z3.fpToSBV(z3.RTZ(), x, z3.BitVecSort(width)) if signed else z3.fpToUBV(z3.RTZ(), x, z3.BitVecSort(width))
        )
        back = z3.fpSignedToFP(RNE, made, x.sort()) if signed else z3.fpUnsignedToFP(RNE, made, x.sort())
        fits = z3.And(z3.Not(z3.fpIsNaN(x)), z3.Not(z3.fpIsInf(x)), z3.fpEQ(back, whole))
        return z3.If(fits, made, self.function(f"as_{dtype}", [x], z3.BitVecSort(width)))

    # --- functions

    def function(self, name: str, values: Sequence[Any], result: z3.SortRef) -> Any:
        """An uninterpreted function of z3 values."""
        self.uninterpreted = True
        key = f"{name}/{','.join(str(v.sort()) for v in values)}->{result}"
        if not values:
            return z3.Const(key, result)
        return z3.Function(key, *[v.sort() for v in values], result)(*values)

    def opaque(self, name: str, operands: Sequence[Term], dtype: str) -> Term:
        """The value of a function of which only congruence is known."""
        values = [v for t in operands for v in self.parts(t)]
        if len(values) > MOST_OPERANDS:
            name, values = f"{name} of {self._interned(values)}", []
        if dtype in PART:
            sort = self.sort(PART[dtype])
            return Term(self, dtype, tuple(self.function(f"{name}.{p}", values, sort) for p in ("re", "im")))
        return Term(self, dtype, self.function(name, values, self.sort(dtype)))

    def _interned(self, values: Sequence[Any]) -> int:
        """The number of these operands among all: the same if they are the same expressions."""
        simple = [z3.simplify(v) for v in values]
        self._kept += simple  # so that no other expression gets their numbers
        return self._bundles.setdefault(tuple(v.get_id() for v in simple), len(self._bundles))

    def choose(self, condition: Term, a: Term, b: Term) -> Term:
        if isinstance(a.value, tuple):
            pairs = zip(a.value, b.value, strict=True)
            return Term(self, a.dtype, tuple(z3.If(condition.value, x, y) for x, y in pairs))
        return Term(self, a.dtype, z3.If(condition.value, a.value, b.value))

    def apply(self, op: Any, operands: Sequence[Term], dtypes: Sequence[str], result: str) -> Term:
        """The result of an elementwise op, for operands that are converted to `dtypes`."""
        terms = [self.cast(t, d) for t, d in zip(operands, dtypes, strict=True)]
        name = op.name
        if name in ("fill",):
            return self.cast(terms[-1], result)
        if name in ("identity", "stop_gradient"):
            return self.cast(terms[0], result)
        if name == "switch":
            return self.choose(self.cast(operands[0], "bool"), *terms[1:])
        if op.arity is None and len(terms) > 2:
            return reduce(lambda a, b: self.apply(op, (a, b), (dtypes[0],) * 2, result), terms)
        if op.of_truth:
            terms = [self.cast(t, "bool") for t in terms]
        kind = np.dtype(terms[0].dtype).kind if terms else "f"
        fixed = getattr(op, "fixed", None)
        if fixed is not None and kind in fixed[0]:
            return self.constant(fixed[1], result)
        table = {"b": TRUTH, "i": INTEGER, "u": INTEGER, "f": FLOAT, "c": COMPLEX}[kind]
        rule = table.get(name)
        if rule is None:
            return self._unknown(op, terms, result)
        value = rule(self, kind, *(t.value for t in terms))
        return value if isinstance(value, Term) else Term(self, result, value)

    def _unknown(self, op: Any, terms: Sequence[Term], result: str) -> Term:
        if op.name == "clip":
            low = self.apply(_Named("maximum"), terms[:2], [t.dtype for t in terms[:2]], result)
            return self.apply(_Named("minimum"), [low, terms[2]], [result, result], result)
        if getattr(op, "even", False) and np.dtype(terms[0].dtype).kind == "f":
            self.facts.add(f"{op.name} is even")
            terms = [Term(self, terms[0].dtype, z3.fpAbs(terms[0].value))]
        if op.name == "pow":
            return self._power(op, terms, result)
        if getattr(op, "commutative", False) and len(terms) == 2 and not isinstance(terms[0].value, tuple):
            self.facts.add(f"{op.name} is commutative")
            both = [self.opaque(op.name, pair, result).value for pair in (terms, terms[::-1])]
            ordered = sorted(both, key=lambda v: v.get_id())
            self.side.append(ordered[0] == ordered[1])
            return Term(self, result, ordered[0])
        return self.opaque(op.name, terms, result)

    def _power(self, op: Any, terms: Sequence[Term], result: str) -> Term:
        x, n = terms
        if result in PART:
            return self.opaque("pow", terms, result)
        value = self.opaque("pow", terms, result).value
        if np.dtype(result).kind != "f":
            exponent = z3.simplify(n.value)
            if np.dtype(n.dtype).kind == "i":
                self.raises.append(n.value < 0)
            if isinstance(exponent, z3.BitVecNumRef) and exponent.as_signed_long() >= 0:
                return self._whole_power(x, exponent.as_signed_long())
            one, zero = self.constant(1, result).value, self.constant(0, result).value
            return Term(self, result, z3.If(n.value == zero, one, z3.If(n.value == one, x.value, value)))
        self.facts |= {"pow(x, 0) = 1", "pow(x, 1) = x", "pow(1, y) = 1"}
        one, zero = self.constant(1, result).value, self.constant(0, result).value
        value = z3.If(n.value == one, x.value, value)
        return Term(self, result, z3.If(z3.Or(z3.fpEQ(n.value, zero), x.value == one), one, value))

    def _whole_power(self, x: Term, n: int) -> Term:
        if n > 64:
            raise NotTranslated("an integer to a power above 64")
        result, power = z3.BitVecVal(1, x.value.size()), x.value
        while n:
            result = result * power if n & 1 else result
            power, n = power * power, n >> 1
        return Term(self, x.dtype, result)

    def fold(self, op: Any, terms: Sequence[Term], dtype: str) -> Term:
        """A reduction of the elements: in an order that is not stated for sums and products of floats."""
        terms = [self.cast(t, dtype) for t in terms]
        if not terms:
            return self.fold_of_none(op, dtype)
        if len(terms) == 1:
            return terms[0]
        if op.name == "add" and np.dtype(dtype).kind == "f":
            inner = [_negated(t.value) for t in terms]
            if None not in inner:
                self.facts.add("a sum of negated numbers is the negated sum")
                total = self.opaque(f"add_of_{len(terms)}", [Term(self, dtype, v) for v in inner], dtype)
                return Term(self, dtype, z3.fpNeg(total.value))
        if op.name in ("add", "mul") and np.dtype(dtype).kind in "fc":
            return self.opaque(f"{op.name}_of_{len(terms)}", terms, dtype)
        return reduce(lambda a, b: self.apply(op, (a, b), (dtype, dtype), dtype), terms)

    # --- what a contract asks for

    def same(self, contract: Any, a: Term, b: Term) -> z3.BoolRef:
        """Whether the contract allows `b` in place of `a`."""
        if isinstance(a.value, tuple):
            return z3.And(*(self._same(contract, x, y, PART[a.dtype]) for x, y in zip(a.value, b.value, strict=True)))
        return self._same(contract, a.value, b.value, a.dtype)

    def _same(self, contract: Any, a: Any, b: Any, dtype: str) -> z3.BoolRef:
        if np.dtype(dtype).kind != "f":
            return a == b
        relaxed = contract.relaxed
        options = [a == b]  # NaN equals NaN, and zeros of two signs differ
        if "signed zero" in relaxed:
            options.append(z3.fpEQ(a, b))
        if "nan" in relaxed:
            options += [z3.fpIsNaN(a), z3.fpIsNaN(b)]
        if "inf" in relaxed:
            options += [z3.fpIsInf(a), z3.fpIsInf(b)]
        if "overflow" in relaxed:
            options += [z3.fpIsInf(v) for v in (a, b)] + [z3.fpIsNaN(v) for v in (a, b)]
        if "underflow" in relaxed:
            options += [z3.fpIsSubnormal(v) for v in (a, b)] + [z3.fpIsZero(v) for v in (a, b)]
        if "domain" in relaxed:
            strange = [z3.Or(z3.fpIsNaN(v), z3.fpIsInf(v)) for v in self.leaves.values() if z3.is_fp(v)]
            options.append(z3.And(z3.Or(*strange), z3.fpIsNaN(b)))
        return z3.Or(*options)


def _negated(x: Any) -> Any:
    """The number whose negation is written; None if the expression is no negation."""
    return x.arg(0) if z3.is_app_of(x, z3.Z3_OP_FPA_NEG) else None


class _Named:
    arity = 2
    of_truth = False
    fixed = None
    even = commutative = False

    def __init__(self, name: str) -> None:
        self.name = name


Rule = Callable[..., Any]


# --- bools and integers


def _maximum(m: Machine, kind: str, a: Any, b: Any) -> Any:
    return z3.If(_less(kind, b, a), a, b)


def _minimum(m: Machine, kind: str, a: Any, b: Any) -> Any:
    return z3.If(_less(kind, a, b), a, b)


def _less(kind: str, a: Any, b: Any) -> Any:
    return z3.ULT(a, b) if kind == "u" else a < b


def _floor_div(m: Machine, kind: str, a: Any, b: Any) -> Any:
    zero = z3.BitVecVal(0, a.size())
    if kind == "u":
        return z3.If(b == 0, zero, z3.UDiv(a, b))
    rest = z3.SRem(a, b)
    below = z3.And(rest != 0, (rest < 0) != (b < 0))
    return z3.If(b == 0, zero, z3.If(below, a / b - 1, a / b))


def _mod(m: Machine, kind: str, a: Any, b: Any) -> Any:
    zero = z3.BitVecVal(0, a.size())
    if kind == "u":
        return z3.If(b == 0, zero, z3.URem(a, b))
    rest = z3.SRem(a, b)
    below = z3.And(rest != 0, (rest < 0) != (b < 0))
    return z3.If(b == 0, zero, z3.If(below, rest + b, rest))


def _fmod(m: Machine, kind: str, a: Any, b: Any) -> Any:
    zero = z3.BitVecVal(0, a.size())
    return z3.If(b == 0, zero, z3.URem(a, b) if kind == "u" else z3.SRem(a, b))


def _sign(m: Machine, kind: str, a: Any) -> Any:
    one, zero = z3.BitVecVal(1, a.size()), z3.BitVecVal(0, a.size())
    return z3.If(a == 0, zero, one if kind == "u" else z3.If(a < 0, -one, one))


def _itself(m: Machine, kind: str, a: Any) -> Any:
    return a


TRUTH: dict[str, Rule] = {
    "add": lambda m, k, a, b: z3.Or(a, b), "mul": lambda m, k, a, b: z3.And(a, b),
    "maximum": lambda m, k, a, b: z3.Or(a, b), "minimum": lambda m, k, a, b: z3.And(a, b),
    "bitwise_and": lambda m, k, a, b: z3.And(a, b), "bitwise_or": lambda m, k, a, b: z3.Or(a, b),
    "bitwise_xor": lambda m, k, a, b: z3.Xor(a, b), "bitwise_not": lambda m, k, a: z3.Not(a),
    "logical_and": lambda m, k, a, b: z3.And(a, b), "logical_or": lambda m, k, a, b: z3.Or(a, b),
    "logical_xor": lambda m, k, a, b: z3.Xor(a, b), "logical_not": lambda m, k, a: z3.Not(a),
    "eq": lambda m, k, a, b: a == b, "ne": lambda m, k, a, b: a != b,
    "lt": lambda m, k, a, b: z3.And(z3.Not(a), b), "gt": lambda m, k, a, b: z3.And(a, z3.Not(b)),
    "le": lambda m, k, a, b: z3.Or(z3.Not(a), b), "ge": lambda m, k, a, b: z3.Or(a, z3.Not(b)),
    "abs": _itself, "square": _itself, "conj": _itself, "real": _itself,
    "floor": _itself, "ceil": _itself, "trunc": _itself,
}  # fmt: skip

INTEGER: dict[str, Rule] = {
    "add": lambda m, k, a, b: a + b, "mul": lambda m, k, a, b: a * b, "sub": lambda m, k, a, b: a - b,
    "neg": lambda m, k, a: -a, "square": lambda m, k, a: a * a,
    "abs": lambda m, k, a: a if k == "u" else z3.If(a < 0, -a, a), "sign": _sign,
    "floor_div": _floor_div, "mod": _mod, "fmod": _fmod, "maximum": _maximum, "minimum": _minimum,
    "floor": _itself, "ceil": _itself, "trunc": _itself, "rint": _itself, "conj": _itself, "real": _itself,
    "bitwise_and": lambda m, k, a, b: a & b, "bitwise_or": lambda m, k, a, b: a | b,
    "bitwise_xor": lambda m, k, a, b: a ^ b, "bitwise_not": lambda m, k, a: ~a,
    "left_shift": lambda m, k, a, b: a << b,
    "right_shift": lambda m, k, a, b: z3.LShR(a, b) if k == "u" else a >> b,
    "eq": lambda m, k, a, b: a == b, "ne": lambda m, k, a, b: a != b,
    "lt": lambda m, k, a, b: _less(k, a, b), "gt": lambda m, k, a, b: _less(k, b, a),
    "le": lambda m, k, a, b: z3.Not(_less(k, b, a)), "ge": lambda m, k, a, b: z3.Not(_less(k, a, b)),
}  # fmt: skip

# --- floats


def _float_maximum(m: Machine, kind: str, a: Any, b: Any) -> Any:
    return z3.If(z3.Or(z3.fpGEQ(a, b), z3.fpIsNaN(a)), a, b)


def _float_minimum(m: Machine, kind: str, a: Any, b: Any) -> Any:
    return z3.If(z3.Or(z3.fpLEQ(a, b), z3.fpIsNaN(a)), a, b)


def _float_sign(m: Machine, kind: str, a: Any) -> Any:
    one = z3.FPVal(1.0, a.sort())
    zero = z3.fpZero(a.sort(), False)
    of_number = z3.If(z3.fpIsZero(a), zero, z3.If(z3.fpIsNegative(a), z3.fpNeg(one), one))
    return z3.If(z3.fpIsNaN(a), a, of_number)


def _negative(m: Machine, a: Any) -> Any:
    """The sign bit; that of NaN is uninterpreted."""
    return z3.If(z3.fpIsNaN(a), m.function("sign_of_nan", [], z3.BoolSort()), z3.fpIsNegative(a))


def _copysign(m: Machine, kind: str, a: Any, b: Any) -> Any:
    return z3.If(_negative(m, b), z3.fpNeg(z3.fpAbs(a)), z3.fpAbs(a))


def _finite(a: Any) -> Any:
    return z3.Not(z3.Or(z3.fpIsNaN(a), z3.fpIsInf(a)))


def _rounded(mode: Any) -> Rule:
    return lambda m, k, a: z3.fpRoundToIntegral(mode, a)


FLOAT: dict[str, Rule] = {
    "add": lambda m, k, a, b: z3.fpAdd(RNE, a, b), "mul": lambda m, k, a, b: z3.fpMul(RNE, a, b),
    "sub": lambda m, k, a, b: z3.fpSub(RNE, a, b), "true_div": lambda m, k, a, b: z3.fpDiv(RNE, a, b),
    "neg": lambda m, k, a: z3.fpNeg(a), "abs": lambda m, k, a: z3.fpAbs(a),
    "square": lambda m, k, a: z3.fpMul(RNE, a, a), "sqrt": lambda m, k, a: z3.fpSqrt(RNE, a),
    "reciprocal": lambda m, k, a: z3.fpDiv(RNE, z3.FPVal(1.0, a.sort()), a),
    "maximum": _float_maximum, "minimum": _float_minimum, "sign": _float_sign, "copysign": _copysign,
    "signbit": lambda m, k, a: _negative(m, a), "conj": _itself, "real": _itself,
    "floor": _rounded(z3.RTN()), "ceil": _rounded(z3.RTP()), "trunc": _rounded(z3.RTZ()), "rint": _rounded(RNE),
    "eq": lambda m, k, a, b: z3.fpEQ(a, b), "ne": lambda m, k, a, b: z3.fpNEQ(a, b),
    "lt": lambda m, k, a, b: z3.fpLT(a, b), "gt": lambda m, k, a, b: z3.fpGT(a, b),
    "le": lambda m, k, a, b: z3.fpLEQ(a, b), "ge": lambda m, k, a, b: z3.fpGEQ(a, b),
    "isnan": lambda m, k, a: z3.fpIsNaN(a), "isinf": lambda m, k, a: z3.fpIsInf(a),
    "isfinite": lambda m, k, a: _finite(a),
}  # fmt: skip

# --- complex numbers


def _pairwise(function: Rule) -> Rule:
    return lambda m, k, *pairs: tuple(function(m, k, *parts) for parts in zip(*pairs, strict=True))


def _product(m: Machine, kind: str, a: Any, b: Any) -> Any:
    mul, add, sub = (FLOAT[name] for name in ("mul", "add", "sub"))
    real = sub(m, kind, mul(m, kind, a[0], b[0]), mul(m, kind, a[1], b[1]))
    return real, add(m, kind, mul(m, kind, a[0], b[1]), mul(m, kind, a[1], b[0]))


def _quotient(m: Machine, kind: str, a: Any, b: Any) -> Any:
    """NumPy's quotient, by the larger part of the divisor.  Source: Smith, Algorithm 116, 1962."""
    mul, add, sub, div = (FLOAT[name] for name in ("mul", "add", "sub", "true_div"))
    one = z3.FPVal(1.0, a[0].sort())

    def by(large: Any, small: Any, real: Any, imag: Any) -> tuple[Any, Any]:
        ratio = div(m, kind, small, large)
        scale = div(m, kind, one, add(m, kind, large, mul(m, kind, small, ratio)))
        return mul(m, kind, real(ratio), scale), mul(m, kind, imag(ratio), scale)

    first = by(
        b[0],
        b[1],
        lambda r: add(m, kind, a[0], mul(m, kind, a[1], r)),
        lambda r: sub(m, kind, a[1], mul(m, kind, a[0], r)),
    )
    other = by(
        b[1],
        b[0],
        lambda r: add(m, kind, mul(m, kind, a[0], r), a[1]),
        lambda r: sub(m, kind, mul(m, kind, a[1], r), a[0]),
    )
    sizes = [z3.fpAbs(part) for part in b]
    by_zero = z3.And(z3.fpIsZero(b[0]), z3.fpIsZero(b[1]))
    wide = z3.fpGEQ(sizes[0], sizes[1])
    pairs = zip([div(m, kind, part, sizes[0]) for part in a], first, other, strict=True)
    return tuple(z3.If(by_zero, x, z3.If(wide, y, z)) for x, y, z in pairs)


def _equal(a: Any, b: Any) -> Any:
    return z3.And(z3.fpEQ(a[0], b[0]), z3.fpEQ(a[1], b[1]))


def _either(test: Callable[[Any], Any]) -> Rule:
    return lambda m, k, a: z3.Or(test(a[0]), test(a[1]))


def _before(a: Any, b: Any) -> Any:
    """NumPy's order of complex numbers: by the real part, then by the imaginary one."""
    numbers = z3.And(z3.Not(z3.fpIsNaN(a[1])), z3.Not(z3.fpIsNaN(b[1])))
    return z3.Or(z3.And(z3.fpLT(a[0], b[0]), numbers), z3.And(z3.fpEQ(a[0], b[0]), z3.fpLT(a[1], b[1])))


def _not_after(a: Any, b: Any) -> Any:
    numbers = z3.And(z3.Not(z3.fpIsNaN(a[1])), z3.Not(z3.fpIsNaN(b[1])))
    return z3.Or(z3.And(z3.fpLT(a[0], b[0]), numbers), z3.And(z3.fpEQ(a[0], b[0]), z3.fpLEQ(a[1], b[1])))


def _complex_extremum(largest: bool) -> Rule:
    def chosen(m: Machine, kind: str, a: Any, b: Any) -> Any:
        first = z3.Or(_not_after(b, a) if largest else _not_after(a, b), z3.fpIsNaN(a[0]), z3.fpIsNaN(a[1]))
        return tuple(z3.If(first, x, y) for x, y in zip(a, b, strict=True))

    return chosen


COMPLEX: dict[str, Rule] = {
    "lt": lambda m, k, a, b: _before(a, b), "gt": lambda m, k, a, b: _before(b, a),
    "le": lambda m, k, a, b: _not_after(a, b), "ge": lambda m, k, a, b: _not_after(b, a),
    "maximum": _complex_extremum(True), "minimum": _complex_extremum(False),
    "add": _pairwise(FLOAT["add"]), "sub": _pairwise(FLOAT["sub"]), "neg": _pairwise(FLOAT["neg"]),
    "mul": _product, "true_div": _quotient, "square": lambda m, k, a: _product(m, k, a, a),
    "conj": lambda m, k, a: (a[0], z3.fpNeg(a[1])), "real": lambda m, k, a: a[0], "imag": lambda m, k, a: a[1],
    "eq": lambda m, k, a, b: _equal(a, b), "ne": lambda m, k, a, b: z3.Not(_equal(a, b)),
    "isnan": _either(z3.fpIsNaN), "isinf": _either(z3.fpIsInf),
    "isfinite": lambda m, k, a: z3.And(_finite(a[0]), _finite(a[1])),
}  # fmt: skip
