"""Einstein summation as products, sums and transposes: each pair of operands becomes one product of matrices.

    einsum("bij,bjk->bik", x, y)    matmul(x, y)
    einsum("ij,jk,kl->il", ...)     two products, in the order that costs least

Gradients, BLAS and fusion are those of the ops that it is made of.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ...graph import Constant, Variable, dims_of
from ...record import record
from ...record.spelling import counted
from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import in_joint_dtype, with_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.diagonals import diagonal
from ..shapes.lengths import lengths_of
from ..shapes.shape import DimShuffle, broadcast_to, reshape, squeeze
from ..shapes.specify import SpecifyShape, with_length

__all__ = ["einsum", "einsum_path"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_UNKNOWN = 32
"""Length assumed for unknown ones in the search for a good order."""
_OPTIMAL = 5
"""Most operands for which every order is tried."""


@record(eq=False)
class Term:
    """An operand with one letter an axis."""

    value: Any
    letters: str

    def length(self, letter: str) -> int | None:
        known: int | None = self.value.type.shape[self.letters.index(letter)]
        return known

    def transposed(self, letters: str) -> TensorVariable:
        """The value with its axes in the order of `letters`; axes that it lacks get length 1."""
        order = tuple(self.letters.index(c) if c in self.letters else "x" for c in letters)
        return self.value if order == tuple(range(self.value.ndim)) else DimShuffle(order)(self.value)


def einsum(subscripts: Any, *operands: Any, optimize: Any = True) -> TensorVariable:
    """NumPy's `einsum` in the form "ij,jk->ik": letters name axes, `...` stands for axes that broadcast.

    Letters that are not on the right are summed over; without "->" the right side is every letter that occurs once, in
    alphabetical order.  The result has the joint dtype.  An axis of length 1 broadcasts against other lengths.
    Instead of letters, a list of integers may stand behind each operand: `einsum(x, [0, 1], y, [1, 2], [0, 2])`.
    `optimize`, which NumPy's has, changes nothing: a good order is always looked for.
    Raises ValueError for subscripts that do not fit the operands.
    """
    if isinstance(optimize, (int, float)) and not isinstance(optimize, bool):
        raise TypeError(f"einsum: optimize must be True, False, a name or a path, got {optimize!r}")
    if not isinstance(subscripts, str):
        subscripts, operands = _as_text((subscripts, *operands))
    values = in_joint_dtype(operands)
    left, right = _parsed(subscripts, values)
    named = [Term(v, letters) for v, letters in zip(values, left, strict=True)]
    terms = [_reduced(term, right, [t for t in named if t is not term]) for term in named]
    for group in _path([t.letters for t in terms], right, terms):
        chosen = [terms[k] for k in group]
        terms = [t for k, t in enumerate(terms) if k not in group]
        wanted = set(right).union(*(t.letters for t in terms))
        result = chosen[0]
        for n, other in enumerate(chosen[1:], start=2):
            later = wanted.union(*(t.letters for t in chosen[n:]))
            result = _contracted(*_in_order(result, other, right), later)
        terms.append(result)
    return with_dtype(_summed(terms[0], right).transposed(right), values[0].dtype)


# --- subscripts


def _as_text(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return the subscripts and the operands of a call with lists of integers.  Raises TypeError for other lists."""
    lists = [*given[1::2], *(given[-1:] if len(given) % 2 else ())]
    numbers = {n for each in lists if isinstance(each, (list, tuple)) for n in each if n is not Ellipsis}
    if len(given) < 2 or not all(isinstance(e, (list, tuple)) for e in lists) or not _are_labels(numbers):
        raise TypeError(
            f'einsum: expected text as in "ij,jk->ik", or a list of numbers from 0 to {len(_LETTERS) - 1} behind '
            f"each operand, got {', '.join(map(shown, given))}"
        )
    letters = {n: sorted(_LETTERS)[n] for n in numbers} | {Ellipsis: "..."}  # whose order is that of the numbers
    texts = ["".join(letters[n] for n in each) for each in lists]
    inputs = len(given) // 2
    return ",".join(texts[:inputs]) + "".join(f"->{text}" for text in texts[inputs:]), given[: 2 * inputs : 2]


def _are_labels(numbers: Collection[Any]) -> bool:
    return all(isinstance(n, (int, np.integer)) and 0 <= n < len(_LETTERS) for n in numbers)


def _parsed(subscripts: str, values: Sequence[Variable]) -> tuple[list[str], str]:
    """The letters of each operand and of the result; `...` has letters of its own."""
    text = "".join(subscripts.split())
    _require_subscripts(text)
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(values):
        wanted, got = counted(len(parts), "operand"), counted(len(values), "operand")
        raise ValueError(f"einsum: {subscripts!r} names the axes of {wanted}, got {got}")
    free = [c for c in _LETTERS if c not in text]
    counts = [v.ndim - len(p.replace("...", "")) for p, v in zip(parts, values, strict=True)]
    for k, (p, v, n) in enumerate(zip(parts, values, counts, strict=True)):
        if n < 0 or (n > 0 and "..." not in p):
            fix = "; '...' stands for further axes" if n > 0 else ""
            raise ValueError(f"einsum: {p!r} names {counted(v.ndim - n, 'axis')}, operand {k} is {describe(v)}{fix}")
    rank = max((n for n, p in zip(counts, parts, strict=True) if "..." in p), default=0)
    dots = "".join(free[:rank])
    named = [p.replace("...", dots[rank - n :], 1) for p, n in zip(parts, counts, strict=True)]
    if not arrow:
        once = Counter("".join(p.replace("...", "") for p in parts))
        right = "..." * bool(rank) + "".join(sorted(c for c, n in once.items() if n == 1))
    _require_result(text, left, right, rank)
    _require_lengths(named, values)
    return named, right.replace("...", dots, 1)


def _require_subscripts(text: str) -> None:
    """Raises ValueError for text that is no list of letters, commas, one arrow and `...` once an operand."""
    rest = text.replace("->", "", 1).replace("...", "").replace(",", "")
    strange = next((c for c in rest if c not in _LETTERS), "")
    if strange:
        reason = {"-": "an arrow is '->', at most once", ">": "an arrow is '->', at most once", ".": "dots are '...'"}
        why = reason.get(strange, "an axis is a letter")
        raise ValueError(f"einsum: {text!r} has {strange!r}, and {why}; expected text as in 'ij,jk->ik'")
    for part in text.replace("->", ",").split(","):
        if part.count("...") > 1:
            raise ValueError(f"einsum: {part!r} has '...' more than once; expected it once an operand")


def _require_result(text: str, left: str, right: str, rank: int) -> None:
    """Raise ValueError for letters of the result that no operand has, or that the result repeats."""
    strange = next((c for c in right.replace("...", "") if c == "," or c not in left), "")
    if strange == ",":
        raise ValueError(f"einsum: {text!r} has more than one result; expected the letters of one behind '->'")
    if strange:
        raise ValueError(f"einsum: the result of {text!r} has {strange!r}, which no operand has; they have {left!r}")
    twice = next((c for c in right if c != "." and right.count(c) > 1), "")
    if twice:
        raise ValueError(f"einsum: the result of {text!r} has {twice!r} more than once; expected each letter once")
    if rank and "..." not in right:
        raise ValueError(f"einsum: the result of {text!r} lacks the axes of '...'; expected '...{right}' behind '->'")


def _require_lengths(named: Sequence[str], values: Sequence[Variable]) -> None:
    """Raises ValueError where a letter has two lengths that are known to differ; 1 broadcasts among operands."""
    seen: dict[str, tuple[int, Variable]] = {}
    for letters, v in zip(named, values, strict=True):
        own: dict[str, int] = {}
        for c, n in zip(letters, v.type.shape, strict=True):
            if n is None:
                continue
            if own.setdefault(c, n) != n:
                raise ValueError(f"einsum: {c!r} has lengths {own[c]} and {n} in {describe(v)}; expected one length")
            length, other = seen.get(c, (1, v))
            if 1 not in (n, length) and n != length:
                raise ValueError(
                    f"einsum: {c!r} has length {length} in {describe(other)}, {n} in {describe(v)}; expected one length"
                )
            seen[c] = (n, v) if length == 1 else (length, other)


def _path(letters: Sequence[str], right: str, terms: Sequence[Term]) -> list[tuple[int, ...]]:
    """The operands to contract in each step; the result goes to the end (`numpy.einsum_path`)."""
    if len(letters) < 3:
        return [tuple(range(len(letters)))] if len(letters) > 1 else []
    known: dict[str, int] = {}
    for term in terms:
        for c in term.letters:
            known[c] = max(known.get(c, 0), term.length(c) or 0)
    shapes = [tuple(known[c] or _UNKNOWN for c in text) for text in letters]
    stand_ins = [np.broadcast_to(np.empty(()), shape) for shape in shapes]
    how = "optimal" if len(letters) <= _OPTIMAL else "greedy"
    path = np.einsum_path(f"{','.join(letters)}->{right}", *stand_ins, optimize=how)[0]
    return [tuple(group) for group in path[1:]]


def einsum_path(
    subscripts: str, *operands: TensorLike, optimize: Any = "greedy"
) -> tuple[list[str | tuple[int, ...]], str]:
    """NumPy's `einsum_path` for operands of these shapes: the order of contractions, and a text that says its costs.

    `einsum` looks for an order by itself.  Raises ValueError for a length that is not known when the graph is built.
    """
    stand_ins = []
    for v in map(as_tensor, operands):
        known = [n for n in v.type.shape if n is not None]
        if len(known) < v.ndim:
            raise ValueError(f"einsum_path: costs need known lengths, got {describe(v)}; give the variable a shape")
        stand_ins.append(np.broadcast_to(np.empty((), v.dtype), known))
    return np.einsum_path(subscripts, *stand_ins, optimize=optimize)


# --- one operand


def _reduced(term: Term, right: str, others: Sequence[Term]) -> Term:
    """Return the operand without repeated letters, letters of no other term, and axes of 1 that broadcast."""
    value, letters = term.value, term.letters
    for c in dict.fromkeys(letters):
        while letters.count(c) > 1:
            first, second = [k for k, d in enumerate(letters) if d == c][:2]
            value = diagonal(_square(value, first, second, c), 0, first, second)
            letters = "".join(d for k, d in enumerate(letters) if k not in (first, second)) + c
    for c in letters:
        axis = letters.index(c)
        if value.type.shape[axis] == 1 and any(c in t.letters and t.length(c) != 1 for t in others):
            value, letters = squeeze(value, axis), letters.replace(c, "")
    return _summed(Term(value, letters), {*right, *"".join(t.letters for t in others)})


def _square(value: Any, first: int, second: int, letter: str) -> Any:
    """Return `value` with the diagonal of two axes of equal length, for a repeated index."""
    n, m = value.type.shape[first], value.type.shape[second]
    if dims_of(value)[first] == dims_of(value)[second]:
        return value
    if None not in (n, m):
        raise ValueError(f"einsum: axes {first} and {second} of {describe(value)}, both {letter!r}, differ in length")
    lengths = [*lengths_of(value)]
    if m is None:
        lengths[second] = lengths[first]
    else:
        lengths[first] = lengths[second]
    return SpecifyShape(f"einsum: {letter!r} is repeated")(value, *lengths)


def _summed(term: Term, kept: Collection[str]) -> Term:
    """Return the operand summed over the letters that are not kept, in its own dtype."""
    axes = tuple(k for k, c in enumerate(term.letters) if c not in kept)
    if not axes:
        return term
    dtype = term.value.dtype
    total = T.any(term.value, axes) if dtype == "bool" else T.sum(term.value, axes)
    return Term(with_dtype(total, dtype), "".join(c for c in term.letters if c in kept))


# --- two operands


def _in_order(a: Term, b: Term, right: str) -> tuple[Term, Term]:
    """The operands, first the one whose own axes stand first on the right: those of the product then lie as wanted."""
    own_of_a, own_of_b = (
        [right.index(c) for c in t.letters if c in right and c not in other.letters] for t, other in ((a, b), (b, a))
    )
    return (b, a) if own_of_a and own_of_b and min(own_of_b) < min(own_of_a) else (a, b)


def _contracted(a: Term, b: Term, wanted: Collection[str]) -> Term:
    """Return the product of two operands, summed over the letters that are no longer used."""
    a, b = _summed(a, {*wanted, *b.letters}), _summed(b, {*wanted, *a.letters})
    shared = [c for c in a.letters if c in b.letters]
    batch = "".join(c for c in shared if c in wanted)
    over = "".join(c for c in shared if c not in wanted)
    rows = "".join(c for c in a.letters if c not in shared)
    columns = "".join(c for c in b.letters if c not in shared)
    letters = batch + rows + columns
    for c in over:
        a, b = _broadcast_along(c, a, b)
    if not over:
        return Term(_times(a.transposed(letters), b.transposed(letters)), letters)
    left, right = a.transposed(batch + rows + over), b.transposed(batch + over + columns)
    if not batch:
        k = len(over)
        axes = (tuple(range(left.ndim - k, left.ndim)), tuple(range(k)))
        return Term(T.tensordot(left, right, axes), letters)
    return Term(_batched(left, right, len(batch), len(rows), len(columns)), letters)


def _broadcast_along(letter: str, a: Term, b: Term) -> tuple[Term, Term]:
    """The operands with one length along an axis of both, of which one may turn out to be 1 in a run."""
    places = [t.letters.index(letter) for t in (a, b)]
    of_a, of_b = (lengths_of(t.value)[k] for t, k in zip((a, b), places, strict=True))
    if dims_of(a.value)[places[0]] == dims_of(b.value)[places[1]] or None not in (a.length(letter), b.length(letter)):
        return a, b
    first = of_b if b.length(letter) is not None else T.switch(T.eq(of_a, 1), of_b, of_a)
    joint = of_a if a.length(letter) is not None else first
    found = []
    for t, k in zip((a, b), places, strict=True):
        lengths = [joint if axis == k else n for axis, n in enumerate(lengths_of(t.value))]
        found.append(t if t.length(letter) is not None else Term(broadcast_to(t.value, lengths), t.letters))
    return found[0], found[1]


def _times(a: Variable, b: Variable) -> TensorVariable:
    return T.logical_and(a, b) if a.dtype == "bool" else T.mul(a, b)


def _batched(a: Variable, b: Variable, batch: int, rows: int, columns: int) -> TensorVariable:
    """The product of a[batch, rows, over] and b[batch, over, columns], each a group of axes, summed over `over`."""
    of_a, of_b = lengths_of(a), lengths_of(b)
    over = of_a[batch + rows :]
    if len(over) > 1:  # lengths that differ must not hide in a product that agrees
        for axis, length in enumerate(over, start=batch):
            b = with_length(b, axis, length, "einsum: an axis that is summed over")
    left = _grouped(a, batch, rows)
    right = _grouped(b, batch, len(over))
    result = T.matmul(left, right)
    if rows == columns == 1:
        return result
    joint = lengths_of(result)[:batch]
    return reshape(result, [*joint, *of_a[batch : batch + rows], *of_b[b.ndim - columns :]])


def _grouped(x: Variable, batch: int, first: int) -> Variable:
    """`x` as matrices: `first` axes after the batch made one, and the rest too."""
    own = lengths_of(x)
    groups = own[batch : batch + first], own[batch + first :]
    if all(len(group) == 1 for group in groups):
        return x
    sizes = [_product_of_lengths(group) for group in groups]
    return reshape(x, [*own[:batch], *sizes])


def _product_of_lengths(lengths: Sequence[Variable]) -> Variable:
    """The product of int64 scalars: a constant if all of them are."""
    known = math.prod(int(n.data) for n in lengths if isinstance(n, Constant))
    rest = [n for n in lengths if not isinstance(n, Constant)]
    if not rest:
        return T.constant(known, "int64")
    return T.mul(*rest, *([T.constant(known, "int64")] * (known != 1))) if len(rest) > 1 or known != 1 else rest[0]
