"""The theory of real numbers: floats without rounding, with the laws of exponentials, logarithms, roots and so on.

A term is a value with the condition under which it is defined.  Exponentials are products of powers of atoms, one for
each term of the exponent, so that exp(a + b) is exp(a) * exp(b) by construction; a root is a number whose power is
given; a logarithm is a number of which its exponential is known.  All that is left is polynomial arithmetic, which z3
decides.  A choice (`switch`, `maximum`, `abs`) is taken along one path at a time; a proof covers all paths.
Integers have no upper limit here, which a verdict says where it matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import z3

from .polynomials import Value, factors, linear, names_in, power, real
from .real_functions import COMPARISONS, FUNCTIONS, KNOWN, NOT_ON_INTEGERS, TRUTH
from .terms import NotTranslated, Term, limit
from .theory import PART, Theory

QUICK = 300
"""Milliseconds for a question on the way."""
MOST_PATHS = 64
MOST_OPERANDS = 8
"""Operands of an unknown function that the solver compares; more are the same only as expressions."""


class Reals(Theory):
    """Terms over the reals along one path of choices."""

    name = "reals"

    def __init__(self, choices: Sequence[bool] = ()) -> None:
        super().__init__()
        self.choices: list[bool] = list(choices)
        self.taken: list[bool] = []
        self.open: list[bool] = []
        """Whether the other side of each choice is possible."""
        self.path: list[Any] = []
        self._atoms: dict[tuple[str, str], Any] = {}
        self._exponents: dict[str, Any] = {}
        """The exponent of each atom of an exponential, by the name of the atom."""
        self._logarithms: dict[str, Any] = {}
        """The argument of each logarithm, by the name of its value."""
        self._calls: list[tuple[str, tuple[Any, ...], Any]] = []
        self.inverses: dict[tuple[str, str], Any] = {}
        """The argument of an inverse function, by the function and the value."""

    # --- questions

    def solver(self, timeout: int) -> z3.Solver:
        solver = z3.Tactic("qfnra-nlsat").solver() if not self._has_integers() else z3.Solver()
        limit(solver, timeout)
        solver.add(*self.side, *self.path)
        return solver

    def _has_integers(self) -> bool:
        return any(z3.is_int(v) for v in self.leaves.values())

    def valid(self, statement: Any, timeout: int = QUICK, under: Sequence[Any] = ()) -> bool:
        self.require_time()
        statement = z3.simplify(statement)
        if z3.is_true(statement):
            return True
        if z3.is_false(statement) and not under:
            return False
        solver = self.solver(timeout)
        solver.add(*under, z3.Not(statement))
        if solver.check() == z3.unsat:
            return True
        if not self._exponents or timeout == QUICK:
            return False
        self.facts.add("exp(a) >= 1 exactly where a >= 0")
        for name, exponent in self._exponents.items():
            solver.add((real(exponent) >= 0) == (z3.Real(name) >= 1))
        return bool(solver.check() == z3.unsat)

    def decide(self, condition: Any) -> bool:
        """Whether the condition holds on this path; a choice if both are possible."""
        condition = z3.simplify(condition)
        if z3.is_true(condition) or z3.is_false(condition):
            return bool(z3.is_true(condition))
        if self.valid(condition):
            return True
        if self.valid(z3.Not(condition)):
            return False
        k = len(self.taken)
        if k > 24:
            raise NotTranslated("more choices than are followed")
        answer = self.choices[k] if k < len(self.choices) else True
        self.taken.append(answer)
        self.path.append(condition if answer else z3.Not(condition))
        return answer

    # --- leaves and numbers

    def _leaf(self, name: str, dtype: str) -> Value:
        kind = np.dtype(dtype).kind
        value = z3.Bool(name) if kind == "b" else z3.Int(name) if kind in "iu" else z3.Real(name)
        if kind in "iu":
            limits = np.iinfo(dtype)
            self.side += [value >= int(limits.min), value <= int(limits.max)]
        self.leaves[name] = value
        return Value(value)

    def _constant(self, value: Any, dtype: str) -> Value:
        kind = np.dtype(dtype).kind
        if kind == "b":
            return Value(z3.BoolVal(bool(value)))
        if kind in "iu":
            return Value(z3.IntVal(int(value)))
        if np.isnan(value):
            return Value(z3.RealVal(0), z3.BoolVal(False))
        if np.isinf(value):
            return Value(z3.RealVal(0), z3.BoolVal(False), 1 if value > 0 else -1)
        return Value(self._number(float(value), dtype))

    def _number(self, value: float, dtype: str) -> Any:
        """The real number that a constant means: a simple fraction or a known number that rounds to it."""
        kind = np.dtype(dtype).type
        exact = Fraction(value)
        simple = exact.limit_denominator(4096)
        if simple and kind(float(simple)) == kind(value):
            if simple != exact:
                self.facts.add("a constant is the simple fraction that rounds to it")
            return z3.Q(simple.numerator, simple.denominator)
        for name, number, build in KNOWN:
            if kind(number) == kind(value):
                self.facts.add(f"the constant {number:.6g} is {name}")
                return build(self)
            if kind(-number) == kind(value):
                self.facts.add(f"the constant {number:.6g} is {name}")
                return -build(self)
        written = Fraction(str(kind(value)))
        return z3.Q(written.numerator, written.denominator)

    def cast(self, t: Term, dtype: str) -> Term:
        if t.dtype == dtype:
            return t
        old, new = np.dtype(t.dtype).kind, np.dtype(dtype).kind
        if new == "c":
            if old == "c":
                return Term(self, dtype, t.value)
            return Term(self, dtype, (self.cast(t, PART[dtype]).value, Value(z3.RealVal(0))))
        if old == "c":
            raise NotTranslated("a complex number as a real one")
        v = t.value
        if old == new:
            if new in "iu" and not np.can_cast(t.dtype, dtype):
                raise NotTranslated("a cast to a narrower integer over the reals")
            return Term(self, dtype, v)
        if new == "b":
            return Term(self, dtype, Value(v.x != 0, v.defined))
        if old == "b":
            one, zero = (z3.IntVal(n) if new in "iu" else z3.RealVal(n) for n in (1, 0))
            return Term(self, dtype, Value(one if self.decide(v.x) else zero, v.defined))
        if new == "f":
            return Term(self, dtype, Value(real(v.x), v.defined))
        if old == "u" and new == "i" and np.can_cast(t.dtype, dtype):
            return Term(self, dtype, v)
        raise NotTranslated(f"a cast from {t.dtype} to {dtype} over the reals")

    # --- functions that have no closed form

    def opaque(self, name: str, operands: Sequence[Term], dtype: str) -> Term:
        self.uninterpreted = True
        values = [v for t in operands for v in self.parts(t)]
        if dtype in PART:
            return Term(self, dtype, tuple(self.call(f"{name}.{p}", values, z3.Real) for p in ("re", "im")))
        kind = np.dtype(dtype).kind
        return Term(self, dtype, self.call(name, values, {"b": z3.Bool, "i": z3.Int, "u": z3.Int}.get(kind, z3.Real)))

    def call(self, name: str, values: Sequence[Value], make: Callable[[str], Any]) -> Value:
        self.require_time()
        if any(v.infinite for v in values):
            raise NotTranslated(f"{name} of an infinity")
        defined = z3.And(*(v.defined for v in values)) if values else z3.BoolVal(True)
        args = tuple(z3.simplify(v.x, som=True) if z3.is_arith(v.x) else z3.simplify(v.x) for v in values)
        for other, known, result in self._calls:
            if (
                other == name
                and len(known) == len(args)
                and all(
                    a.sort() == b.sort() and (a.eq(b) or (len(args) <= MOST_OPERANDS and self.valid(a == b)))
                    for a, b in zip(args, known, strict=True)
                )
            ):
                return Value(result, defined)
        result = make(f"{name}#{len(self._calls)}")
        self._calls.append((name, args, result))
        return Value(result, defined)

    def known(self, name: str, x: Any, conditions: Callable[[Any], list[Any]]) -> Any:
        """The real number that is a function of x, with the statements that hold for it."""
        if isinstance(x, (int, Fraction)):
            x = z3.RealVal(x)
        x = z3.simplify(real(x), som=True)
        key = (name, x.sexpr())
        if key not in self._atoms:
            self._atoms[key] = z3.Real(f"{name}[{x.sexpr()}]")
            self.side += conditions(self._atoms[key])
        return self._atoms[key]

    def root(self, x: Any, n: int) -> Any:
        """The root of x that is not negative, where x is not."""
        x = z3.simplify(real(x), som=True)
        return self.known(f"root{n}", x, lambda r: [z3.Implies(x >= 0, z3.And(power(r, n) == x, r >= 0))])

    def exp(self, x: Any) -> Any:
        """exp(x) as a product of powers of atoms."""
        self.facts.add("exp(a + b) = exp(a) * exp(b), exp(-a) = 1 / exp(a)")
        result = z3.RealVal(1)
        for atom, factor in linear(z3.simplify(real(x), som=True)):
            result = result * self._exp_of(atom, factor)
        return result

    def _exp_of(self, atom: Any, factor: Fraction) -> Any:
        if atom is not None and atom.decl().name() in self._logarithms and factor.denominator <= 16:
            base = self._logarithms[atom.decl().name()]
        else:
            exponent = z3.RealVal(1) if atom is None else atom
            if factor.denominator > 16 or abs(factor.numerator) > 16:
                exponent, factor = exponent * z3.Q(factor.numerator, factor.denominator), Fraction(1)
            if z3.is_rational_value(exponent := z3.simplify(exponent)) and exponent.as_fraction() < 0:
                exponent, factor = z3.simplify(-exponent), -factor
            base = self.known("exp", exponent, lambda e: [e > 0])
            self._exponents[base.decl().name()] = exponent
            if atom is None and z3.is_rational_value(exponent) and exponent.as_fraction() == 1:
                self.side.append(z3.And(base > z3.Q(2718, 1000), base < z3.Q(2719, 1000)))
        return power(base if factor.denominator == 1 else self.root(base, factor.denominator), factor.numerator)

    def log(self, x: Any) -> Any:
        """log(x), for x that is positive: a sum over the factors of x that are."""
        x = z3.simplify(real(x))
        if z3.is_rational_value(x) and x.as_fraction() == 1:
            return z3.RealVal(0)
        parts = list(factors(x))
        several = len(parts) > 1 or any(n != 1 for _, n in parts)
        if several and all(self._positive(part) for part, _ in parts):
            self.facts.add("log(a * b) = log(a) + log(b) for positive a and b")
            return z3.Sum([n * self._log_of(part) for part, n in parts])
        return self._log_of(x)

    def _positive(self, x: Any) -> bool:
        return self.valid(x > 0, under=self.hypotheses)

    hypotheses: Sequence[Any] = ()
    """Conditions under which what is computed now is defined."""

    def _log_of(self, x: Any) -> Any:
        if z3.is_const(x) and x.decl().name() in self._exponents:
            self.facts.add("log(exp(a)) = a")
            return self._exponents[x.decl().name()]
        if z3.is_rational_value(x) and x.as_fraction() == 1:
            return z3.RealVal(0)
        self.facts.add("exp(log(a)) = a for positive a")
        value = self.known("log", x, lambda v: [])
        self._logarithms[value.decl().name()] = z3.simplify(real(x), som=True)
        if z3.is_rational_value(x):
            self.side.append(value > 0 if x.as_fraction() > 1 else value < 0)
        return value

    def odd(self, name: str, x: Any, conditions: Callable[[Any], list[Any]] = lambda v: []) -> Any:
        """An odd function of x that is not known otherwise."""
        x = z3.simplify(real(x), som=True)
        self.facts.add(f"{name} is odd")
        parts = list(linear(x))
        if parts and parts[0][1] < 0:
            return -self.known(name, -x, conditions)
        return z3.RealVal(0) if not parts else self.known(name, x, conditions)

    # --- elementwise ops

    def choose(self, condition: Term, a: Term, b: Term) -> Term:
        c = condition.value
        value = a.value if self.decide(c.x) else b.value
        if isinstance(value, tuple):
            return Term(self, a.dtype, tuple(_under(v, c.defined) for v in value))
        return Term(self, a.dtype, _under(value, c.defined))

    def apply(self, op: Any, operands: Sequence[Term], dtypes: Sequence[str], result: str) -> Term:
        name = op.name
        if name == "fill":
            return self.cast(operands[-1], result)
        if name == "switch":
            a, b = (self.cast(t, d) for t, d in zip(operands[1:], dtypes[1:], strict=True))
            return self.choose(self.cast(operands[0], "bool"), a, b)
        terms = [self.cast(t, d) for t, d in zip(operands, dtypes, strict=True)]
        if name in ("identity", "stop_gradient"):
            return self.cast(terms[0], result)
        if op.arity is None and len(terms) > 2:
            return reduce(lambda a, b: self.apply(op, (a, b), (dtypes[0],) * 2, result), terms)
        if op.of_truth:
            terms = [self.cast(t, "bool") for t in terms]
        kind = np.dtype(terms[0].dtype).kind
        if kind == "c":
            return self._complex(name, terms, result)
        fixed = getattr(op, "fixed", None)
        if fixed is not None and kind in fixed[0]:
            return self.constant(fixed[1], result)
        values = [t.value for t in terms]
        rule = (TRUTH if kind == "b" else FUNCTIONS).get(name)
        if any(v.infinite for v in values) and name not in ("maximum", "minimum", *COMPARISONS, "isinf", "neg"):
            values = [_undefined(v) for v in values]
        if kind in "iu" and name in NOT_ON_INTEGERS:
            raise NotTranslated(f"{name} of integers over the reals")
        if rule is None:
            return self.opaque(name, terms, result)
        if kind in "iu" and name in ("add", "sub", "mul", "neg", "square"):
            self.facts.add("integers do not overflow")
        value = rule(self, *values)
        assert isinstance(value, Value)
        return Term(self, result, _converted(value, result))

    def _complex(self, name: str, terms: Sequence[Term], result: str) -> Term:
        pairs = [t.value for t in terms]
        if name in ("add", "sub"):
            parts = [FUNCTIONS[name](self, a, b) for a, b in zip(*pairs, strict=True)]
        elif name == "neg":
            parts = [FUNCTIONS["neg"](self, a) for a in pairs[0]]
        elif name == "conj":
            parts = [pairs[0][0], FUNCTIONS["neg"](self, pairs[0][1])]
        elif name in ("real", "imag"):
            return Term(self, result, pairs[0][name == "imag"])
        elif name in ("mul", "square"):
            a, b = pairs if len(pairs) == 2 else pairs * 2
            defined = z3.And(*(v.defined for v in (*a, *b)))
            parts = [
                Value(a[0].x * b[0].x - a[1].x * b[1].x, defined),
                Value(a[0].x * b[1].x + a[1].x * b[0].x, defined),
            ]
        elif name in ("true_div", "reciprocal"):
            one = (Value(z3.RealVal(1)), Value(z3.RealVal(0)))
            a, b = pairs if len(pairs) == 2 else (one, pairs[0])
            size = b[0].x * b[0].x + b[1].x * b[1].x
            defined = z3.And(*(v.defined for v in (*a, *b)), size != 0)
            parts = [
                Value((a[0].x * b[0].x + a[1].x * b[1].x) / size, defined),
                Value((a[1].x * b[0].x - a[0].x * b[1].x) / size, defined),
            ]
        elif name == "abs":
            (a,) = pairs
            size = a[0].x * a[0].x + a[1].x * a[1].x
            return Term(self, result, Value(self.root(size, 2), z3.And(a[0].defined, a[1].defined)))
        else:
            return self.opaque(name, terms, result)
        return Term(self, result, tuple(parts))

    def fold(self, op: Any, terms: Sequence[Term], dtype: str) -> Term:
        terms = [self.cast(t, dtype) for t in terms]
        if not terms:
            return self.fold_of_none(op, dtype)
        return reduce(lambda a, b: self.apply(op, (a, b), (dtype, dtype), dtype), terms)

    # --- what is compared

    def equal(self, a: Value, b: Value, timeout: int, nan: bool = False) -> bool:
        """Whether the values are equal where `a` is defined, and `b` is defined there; with `nan` it need not be."""
        under = [a.defined]
        if nan:
            under, b = [a.defined, b.defined], Value(b.x, z3.BoolVal(True), b.infinite)
        if a.infinite or b.infinite:
            return a.infinite == b.infinite or self.valid(z3.Not(a.defined), timeout)
        if z3.is_bool(a.x):
            return self.valid(z3.And(b.defined, a.x == b.x), timeout, under)
        if not self.valid(b.defined, timeout, under):
            return False
        difference = z3.simplify(real(a.x) - real(b.x), som=True)
        if self.valid(difference == 0, timeout, under):
            return True
        logarithms = [n for n in names_in(difference) if n in self._logarithms]
        if not logarithms:
            return False
        positive = [self._logarithms[n] > 0 for n in logarithms]
        self.facts.add("exp is injective")
        try:
            whole = self.exp(difference)
        except NotTranslated:
            return False
        return self.valid(whole == 1, timeout, [*under, *positive]) and self.valid(z3.And(*positive), timeout, under)


def _under(v: Value, condition: Any) -> Value:
    return Value(v.x, z3.And(v.defined, condition), v.infinite)


def _undefined(v: Value) -> Value:
    return Value(v.x, z3.BoolVal(False)) if v.infinite else v


def _converted(v: Value, dtype: str) -> Value:
    wanted = np.dtype(dtype).kind
    if wanted == "f" and z3.is_int(v.x):
        return Value(real(v.x), v.defined, v.infinite)
    return v
