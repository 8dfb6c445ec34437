"""Values of the theory of real numbers, and z3 expressions taken apart as sums and products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import z3

TRUE = z3.BoolVal(True)


@dataclass(frozen=True)
class Value:
    """A real number (or a truth value), the condition under which it is one, and the sign if it is infinite."""

    x: Any
    defined: Any = TRUE
    infinite: int = 0


def real(x: Any) -> Any:
    return z3.ToReal(x) if z3.is_int(x) else x


def power(x: Any, n: int) -> Any:
    """x to a whole power, as products and quotients."""
    if n == 0:
        return z3.RealVal(1)
    product = reduce(lambda a, b: a * b, [x] * abs(n))
    return product if n > 0 else 1 / product


def linear(x: Any) -> Iterator[tuple[Any, Fraction]]:
    """(atom, factor) of each term of a sum; the atom is None for the number."""
    todo = [(x, Fraction(1))]
    found: dict[str, list[Any]] = {}
    while todo:
        term, factor = todo.pop()
        if z3.is_rational_value(term):
            atom, factor = None, factor * term.as_fraction()
        elif z3.is_add(term):
            todo += [(t, factor) for t in term.children()]
            continue
        elif z3.is_sub(term):
            first, *others = term.children()
            todo += [(first, factor), *((t, -factor) for t in others)]
            continue
        elif term.decl().kind() == z3.Z3_OP_UMINUS:
            todo.append((term.arg(0), -factor))
            continue
        elif z3.is_mul(term) and any(z3.is_rational_value(c) for c in term.children()):
            rest = [c for c in term.children() if not z3.is_rational_value(c)]
            for c in term.children():
                factor = factor * c.as_fraction() if z3.is_rational_value(c) else factor
            atom = reduce(lambda a, b: a * b, rest) if rest else None
            if len(rest) == 1:
                todo.append((rest[0], factor))
                continue
        elif z3.is_div(term) and z3.is_rational_value(term.arg(1)) and term.arg(1).as_fraction() != 0:
            todo.append((term.arg(0), factor / term.arg(1).as_fraction()))
            continue
        else:
            atom = term
        key = "" if atom is None else atom.sexpr()
        entry = found.setdefault(key, [atom, Fraction(0)])
        entry[1] += factor
    for key in sorted(found):
        if found[key][1]:
            yield found[key][0], found[key][1]


def factors(x: Any) -> Iterator[tuple[Any, int]]:
    """(factor, whole power) of a product."""
    todo = [(x, 1)]
    while todo:
        term, n = todo.pop()
        if z3.is_mul(term):
            todo += [(c, n) for c in term.children()]
        elif z3.is_div(term):
            todo += [(term.arg(0), n), (term.arg(1), -n)]
        elif term.decl().kind() == z3.Z3_OP_POWER and z3.is_rational_value(term.arg(1)):
            whole = term.arg(1).as_fraction()
            if whole.denominator != 1:
                yield term, n
            else:
                todo.append((term.arg(0), n * whole.numerator))
        elif z3.is_add(term) and _shared_divisor(term) is not None:
            divisor = _shared_divisor(term)
            todo += [(z3.simplify(z3.Sum([_times(c, divisor) for c in term.children()])), n), (divisor, -n)]
        else:
            yield term, n


def _shared_divisor(total: Any) -> Any:
    """The divisor of a term of the sum; None if no term is a quotient."""
    for term in total.children():
        for factor in term.children() if z3.is_mul(term) else (term,):
            if z3.is_div(factor) and not z3.is_rational_value(factor.arg(1)):
                return factor.arg(1)
    return None


def _times(term: Any, divisor: Any) -> Any:
    """The term times the divisor, which is cancelled if it divides the term."""
    if z3.is_div(term) and term.arg(1).eq(divisor):
        return term.arg(0)
    if z3.is_mul(term):
        for k, factor in enumerate(term.children()):
            if z3.is_div(factor) and factor.arg(1).eq(divisor):
                others = [c for j, c in enumerate(term.children()) if j != k]
                return reduce(lambda a, b: a * b, [*others, factor.arg(0)])
    return term * divisor


def names_in(x: Any) -> set[str]:
    """The names of the unknowns of an expression."""
    found: set[str] = set()
    todo, met = [x], set()
    while todo:
        term = todo.pop()
        if term.get_id() in met:
            continue
        met.add(term.get_id())
        if z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found.add(term.decl().name())
        todo += term.children()
    return found
