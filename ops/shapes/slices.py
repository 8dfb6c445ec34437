"""Lengths of slices in the algebra of Dims: x[1:][:-1] is 2 shorter than x, whatever its length.

The rule is Python's: bounds beyond the end are cut off, negative ones count from the end.  Where the sign of a bound
is not known when the graph is built nothing is said (None).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph import Dim, dims


def slice_dim(length: Dim, start: Dim | None, stop: Dim | None, step: Dim | None) -> Dim | None:
    """The length of `slice(start, stop, step)` of an axis of `length`; None where the algebra cannot say."""
    step = 1 if step is None else step
    if not isinstance(step, int) or step == 0:
        return None
    if isinstance(length, int) and all(b is None or isinstance(b, int) for b in (start, stop)):
        return len(range(*slice(start, stop, step).indices(length)))
    if step < 0:  # the same positions upwards: from behind `stop` to behind `start`
        if stop == -1:
            return 0
        lower, upper = (None if b is None or b == -1 else dims.add(b, 1) for b in (stop, start))
    else:
        lower, upper = start, stop
    span = _span(length, lower, upper)
    return None if span is None else dims.floordiv(dims.add(span, abs(step) - 1), abs(step))


def _span(length: Dim, lower: Dim | None, upper: Dim | None) -> Dim | None:
    """Return the number of positions from `lower` (None: the first) up to `upper` (None: the end), exclusive."""
    if lower is None and upper is None:
        return length
    from_front = lower is None or not_negative(lower)
    to_back = upper is None or _negative(upper)
    if from_front and to_back:  # neither bound needs to be cut off: what they leave is negative if they cross
        return _or_none(difference(dims.add(length, upper or 0), lower or 0))
    if upper is None and lower is not None and _negative(lower):
        return lesser(difference(0, lower), length)
    first = 0 if lower is None else cut_off(lower, length)
    last = length if upper is None else cut_off(upper, length)
    if first is None or last is None:
        return None
    count = difference(last, first)
    return count if at_most(first, last) else greater(count, 0)


def total(a: Dim, b: Dim) -> Dim:
    """Return a + b with common terms cancelled."""
    return dims.add(a, b) if isinstance(b, int) else difference(a, difference(0, b))


def _or_none(count: Dim) -> Dim:
    """Return a number of positions, or 0 if it is negative: of x[2:][3:] as of x[5:]."""
    rest, number = dims.with_number(count)
    if number < 0 and not isinstance(rest, int) and rest.kind == "maximum" and rest.args[1] == 0:
        count = dims.add(rest.args[0], number)  # type: ignore[arg-type]
    return greater(count, 0)


def cut_off(bound: Dim, length: Dim) -> Dim | None:
    """Return `bound` as a position between 0 and `length`; None if its sign is not known."""
    if not_negative(bound):
        return lesser(joint_length([bound]), length)
    return greater(dims.add(length, bound), 0) if _negative(bound) else None


def _negative(dim: Dim) -> bool:
    return not_negative(difference(-1, dim))


# --- what is certainly not negative, not greater, the same


Linear = tuple[dict[Any, int], int]
"""A sum of symbols times integers, plus an integer."""


_LOOKED_INTO = 64
"""Most parts of a sum that are distinguished, so that a chain of 100,000 slices takes linear time."""


def linear(*parts: Dim) -> Linear:
    """Return the sum of `parts` as a sum of symbols that are no sums themselves."""
    terms: dict[Any, int] = {}
    constant, stack, seen = 0, [(part, 1) for part in parts], 0
    while stack:
        part, factor = stack.pop()
        seen += 1
        if isinstance(part, int):
            constant += factor * part
        elif seen > _LOOKED_INTO:
            terms[part] = terms.get(part, 0) + factor
        elif part.kind in ("add", "sub"):
            a, b = part.args
            stack.append((a, factor))  # type: ignore[arg-type]
            stack.append((b, factor if part.kind == "add" else -factor))  # type: ignore[arg-type]
        elif part.kind == "mul" and isinstance(part.args[1], int):
            stack.append((part.args[0], factor * part.args[1]))  # type: ignore[arg-type]
        else:
            terms[part] = terms.get(part, 0) + factor
    return {symbol: factor for symbol, factor in terms.items() if factor}, constant


def difference(a: Dim, b: Dim) -> Dim:
    """Return a - b with common terms cancelled: (a + b) - a is b, and a - max(a - b, 0) is min(b, a)."""
    if isinstance(b, int):
        return dims.add(a, -b)
    if b.kind == "maximum" and any(_has_term(part, a) for part in b.args):
        return lesser(*(difference(a, part) for part in b.args))  # type: ignore[arg-type]
    (left, m), (right, n) = linear(a), linear(b)
    if not any(symbol in left for symbol in right):
        return dims.sub(a, b)
    return _sum_of({symbol: left.get(symbol, 0) - right.get(symbol, 0) for symbol in {**left, **right}}, m - n)


def _has_term(part: Any, term: Dim) -> bool:
    """Whether `part` is a sum of symbols without bounds, `term` among them."""
    terms, _ = linear(part)
    return term in terms and all(symbol.kind not in ("maximum", "minimum") for symbol in terms)


def _sum_of(terms: dict[Any, int], constant: int) -> Dim:
    """Return the Dim of a sum."""
    result: Dim = 0
    for symbol, factor in sorted(terms.items(), key=lambda item: item[1] < 0):  # positive terms first
        if factor > 0:
            result = dims.add(result, dims.mul(symbol, factor))
        elif factor < 0:
            result = dims.sub(result, dims.mul(symbol, -factor))
    return dims.add(result, constant)


def joint_length(parts: Sequence[Dim]) -> Dim:
    """The length of `parts` one after the other: those of x[:k] and x[k:] make that of x.

    min(n, k) + max(n - k, 0) is n, for all integers.
    """
    total: Dim = 0
    for part in parts:
        total = dims.add(total, part)
    if isinstance(total, int) or total.kind not in ("add", "sub"):
        return total
    terms, constant = linear(*parts)
    cut = [symbol for symbol in terms if symbol.kind == "minimum"]
    for symbol in cut:
        for whole, other in (symbol.args, symbol.args[::-1]):
            rest = greater(difference(whole, other), 0)
            count = min(terms.get(symbol, 0), terms.get(rest, 0))
            if count > 0:
                more, number = linear(dims.mul(whole, count))
                constant += number
                for term, factor in ((symbol, -count), (rest, -count), *more.items()):
                    terms[term] = terms.get(term, 0) + factor
    return _sum_of(terms, constant)


def not_negative(dim: Dim) -> bool:
    """Whether `dim` is certainly 0 or more."""
    if isinstance(dim, int):
        return dim >= 0
    terms, constant = linear(dim)
    return constant >= 0 and all(factor > 0 and _is_natural(symbol) for symbol, factor in terms.items())


def _is_natural(symbol: Any) -> bool:
    if symbol.natural or symbol.kind != "floordiv":
        return bool(symbol.natural)
    terms, constant = linear(symbol.args[0])
    return constant >= 0 and all(factor > 0 and term.natural for term, factor in terms.items())


def at_most(a: Dim, b: Dim) -> bool:
    """Whether a <= b for certain."""
    if a is b:
        return True
    if not isinstance(b, int) and b.kind == "minimum" and not isinstance(a, int) and a.kind == "minimum":
        return all(any(_no_greater(part, bound) for part in a.args) for bound in b.args)
    if not isinstance(a, int) and a.kind in ("minimum", "maximum"):
        return (any if a.kind == "minimum" else all)(_no_greater(part, b) for part in a.args)
    return _no_greater(a, b)


def _no_greater(a: Any, b: Any) -> bool:
    return a is b or not_negative(difference(b, a))


def lesser(a: Dim, b: Dim) -> Dim:
    """The minimum, which is one of the two where their order is known."""
    if at_most(a, b):
        return a
    return b if at_most(b, a) else dims.minimum(a, b)


def greater(a: Dim, b: Dim) -> Dim:
    """The maximum, which is one of the two where their order is known."""
    if at_most(b, a):
        return a
    return b if at_most(a, b) else dims.maximum(a, b)
