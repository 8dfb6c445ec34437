"""How long a slice is, in the algebra of Dims: x[1:][:-1] has the length of x less 2, whatever that is.

The rule is Python's: bounds beyond the end are cut off, negative ones count from the end.  Where the sign of a bound
is not known when the graph is built nothing is said (None).
"""

from __future__ import annotations

from typing import Any

from ..graph import Dim, dims


def slice_dim(length: Dim, start: Dim | None, stop: Dim | None, step: Dim | None) -> Dim | None:
    """The length of `slice(start, stop, step)` of an axis of `length`; None where the algebra cannot say."""
    step = 1 if step is None else step
    if not isinstance(step, int) or step == 0:
        return None
    if isinstance(length, int) and all(b is None or isinstance(b, int) for b in (start, stop)):
        return len(range(*slice(start, stop, step).indices(length)))
    return _forward(length, start, stop, step) if step > 0 else _backward(length, start, stop, -step)


def _forward(length: Dim, start: Dim | None, stop: Dim | None, step: int) -> Dim | None:
    first = 0 if start is None else _cut_off(start, length)
    last = length if stop is None else _cut_off(stop, length)
    if first is None or last is None:
        return None
    return _steps(_span(first, last), step)


def _span(first: Dim, last: Dim) -> Dim:
    """last - first; n - minimum(n, k) is maximum(n - k, 0), so that x[1:] and x[:-1] are of one length."""
    if not isinstance(first, int) and first.kind == "minimum" and last in first.args:
        n, k = first.args
        return greater(difference(last, k if n is last else n), 0)  # type: ignore[arg-type]
    return difference(last, first)


def _backward(length: Dim, start: Dim | None, stop: Dim | None, step: int) -> Dim | None:
    """The same for the bounds one further on, so that both are positions between 0 and the length."""
    first = length if start is None else _one_further(start, length)
    last = 0 if stop is None else _one_further(stop, length)
    if first is None or last is None:
        return None
    return _steps(difference(first, last), step)


def _one_further(bound: Dim, length: Dim) -> Dim | None:
    return length if bound == -1 else _cut_off(dims.add(bound, 1), length)


def _cut_off(bound: Dim, length: Dim) -> Dim | None:
    """`bound` as a position between 0 and `length`; None if its sign is not known."""
    if not_negative(bound):
        return lesser(bound, length)
    if not_negative(difference(-1, bound)):
        return greater(dims.add(length, bound), 0)
    return None


def _steps(span: Dim, step: int) -> Dim:
    return dims.floordiv(dims.add(greater(span, 0), step - 1), step)


# --- what is certainly not negative, not greater, the same


Linear = tuple[dict[Any, int], int]
"""A sum of symbols times integers, plus an integer."""


_LOOKED_INTO = 64
"""How many parts of a sum are told apart: a chain of 100,000 slices stays linear."""


def linear(dim: Dim) -> Linear:
    """`dim` as a sum of symbols that are no sums themselves."""
    terms: dict[Any, int] = {}
    constant, stack, seen = 0, [(dim, 1)], 0
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
    """a - b with what cancels left out: (a + b) - a is b."""
    if isinstance(b, int):
        return dims.add(a, -b)
    (left, m), (right, n) = linear(a), linear(b)
    if not any(symbol in left for symbol in right):
        return dims.sub(a, b)
    factors = {symbol: left.get(symbol, 0) - right.get(symbol, 0) for symbol in {**left, **right}}
    result: Dim = 0
    for symbol, factor in sorted(factors.items(), key=lambda item: item[1] < 0):  # positive terms first
        if factor > 0:
            result = dims.add(result, dims.mul(symbol, factor))
        elif factor < 0:
            result = dims.sub(result, dims.mul(symbol, -factor))
    return dims.add(result, m - n)


def not_negative(dim: Dim) -> bool:
    """Whether `dim` is certainly 0 or more."""
    if isinstance(dim, int):
        return dim >= 0
    terms, constant = linear(dim)
    return constant >= 0 and all(factor > 0 and _is_natural(symbol) for symbol, factor in terms.items())


def _is_natural(symbol: Any) -> bool:
    if symbol.kind == "maximum":
        return any(isinstance(a, int) and a >= 0 for a in symbol.args) or any(map(dims.is_length, symbol.args))
    if symbol.kind in ("minimum", "mul", "floordiv"):
        return all(map(dims.is_length, symbol.args))
    return dims.is_length(symbol)


def at_most(a: Dim, b: Dim) -> bool:
    """Whether a <= b for certain."""
    if not isinstance(a, int) and a.kind in ("minimum", "maximum"):
        return (any if a.kind == "minimum" else all)(_no_greater(part, b) for part in a.args)
    return _no_greater(a, b)


def _no_greater(a: Any, b: Dim) -> bool:
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
    if b == 0 and not isinstance(a, int) and a.kind == "sub" and at_most(a.args[1], a.args[0]):  # type: ignore[arg-type]
        return a
    return b if at_most(a, b) else dims.maximum(a, b)
