"""Known properties of matrices beyond their type: triangular, symmetric, orthogonal ...

    assume(x, "symmetric")                          a promise of the user (ops/linalg/assumptions.py)
    cholesky(a), q of qr(a), eye(n), diag(v), tril(x)   by what the op is
    x.T, inv(x), x @ y, x + y, 2 * x                by what the operands are
    constants                                       by their elements

Facts are about the matrices in the last two axes; `POSITIVE_DEFINITE` comes from promises alone, since a matrix that is
so in theory, as x @ x.T + eps, need not be so in floating-point numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Flag
from functools import reduce
from operator import and_
from weakref import WeakKeyDictionary

import numpy as np

from ....graph import Apply, Constant, Op, Variable, dims_of
from ....ops.elementwise.records import Elementwise, add, conj, identity, mul, neg, sub
from ....ops.linalg.assumptions import Assume
from ....ops.linalg.blas import Dot, Dot22, MatMul
from ....ops.linalg.factorizations import QR, SVD, Cholesky, CholeskyGradient, Eigh
from ....ops.linalg.solving import Inverse
from ....ops.shapes.creation import Eye
from ....ops.shapes.diagonals import DiagonalMatrix, Triangle
from ....ops.shapes.shape import DimShuffle
from ..facts import constant_int, number_of


class Structure(Flag):
    """Properties of square matrices; other matrices have the properties defined for them."""

    NONE = 0
    LOWER = 1
    """Zeros above the diagonal."""
    UPPER = 2
    """Zeros below the diagonal."""
    SYMMETRIC = 4
    """Equal to the transpose."""
    POSITIVE_DEFINITE = 8
    """Hermitian, with positive eigenvalues."""
    ORTHOGONAL = 16
    """Columns are orthonormal."""
    POSITIVE_DIAGONAL = 32
    DIAGONAL = 3


Facts = Sequence[Structure]
"""The properties of each input of a node."""
Inference = Callable[[Apply, Facts], "tuple[Structure, ...]"]

_S = Structure
_ANY_MATRIX = _S.LOWER | _S.UPPER | _S.SYMMETRIC
_LARGEST_CONSTANT = 2**20
"""Most elements of a constant that is examined."""

_known: WeakKeyDictionary[Apply, tuple[Structure, ...]] = WeakKeyDictionary()
_known_constants: WeakKeyDictionary[Constant, Structure] = WeakKeyDictionary()


def structure(x: Variable) -> Structure:
    """Return the known properties of the matrices of `x`, cached per node."""
    if x.owner is None or x.ndim < 2:
        return _of_leaf(x)
    stack = [x.owner]
    while stack:
        node = stack[-1]
        infer = _INFERENCES.get(type(node.op))
        inputs = node.inputs if infer is not None else ()
        above = [i.owner for i in inputs if i.owner is not None and i.ndim > 1 and i.owner not in _known]
        if node not in _known and above:
            stack.extend(above)
            continue
        stack.pop()
        if node not in _known:
            facts = infer(node, [_looked_up(i) for i in inputs]) if infer is not None else ()
            facts = facts or (_S.NONE,) * len(node.outputs)
            _known[node] = tuple(_completed(f, o) for f, o in zip(facts, node.outputs, strict=True))
    return _known[x.owner][x.index]


def has(x: Variable, facts: Structure) -> bool:
    """Whether `x` has all of the properties `facts`."""
    return facts in structure(x)


def _looked_up(x: Variable) -> Structure:
    return _of_leaf(x) if x.owner is None or x.ndim < 2 else _known[x.owner][x.index]


def _completed(facts: Structure, x: Variable) -> Structure:
    """Return the properties with those that several of them imply together."""
    if _S.POSITIVE_DEFINITE in facts:
        facts |= _S.POSITIVE_DIAGONAL | (_S.SYMMETRIC if x.type.kind == "f" else _S.NONE)
    if _S.SYMMETRIC in facts and facts & _S.DIAGONAL:
        facts |= _S.DIAGONAL
    if _S.DIAGONAL in facts:
        facts |= _S.SYMMETRIC
    return facts


def _of_leaf(x: Variable) -> Structure:
    if not isinstance(x, Constant) or x.ndim < 2 or x.data.shape[-1] != x.data.shape[-2]:
        return _S.NONE
    if x.type.kind not in "fc" or not 0 < x.data.size <= _LARGEST_CONSTANT:
        return _S.NONE
    found = _known_constants.get(x)
    if found is None:
        found = _known_constants[x] = _completed(_of_elements(x.data), x)
    return found


def _of_elements(a: np.ndarray) -> Structure:
    facts = _S.NONE
    facts |= _S.NONE if np.triu(a, 1).any() else _S.LOWER
    facts |= _S.NONE if np.tril(a, -1).any() else _S.UPPER
    facts |= _S.SYMMETRIC if np.array_equal(a, np.swapaxes(a, -1, -2)) else _S.NONE
    middle = np.diagonal(a, axis1=-2, axis2=-1)
    return facts | (_S.POSITIVE_DIAGONAL if (middle.real > 0).all() and not middle.imag.any() else _S.NONE)


def is_square(x: Variable) -> bool:
    """Whether the matrices of `x` are certainly square."""
    lengths = dims_of(x)
    return lengths[-1] == lengths[-2]


def is_transposing(op: Op) -> bool:
    """Whether the op interchanges only the last two axes, perhaps with new axes in front."""
    return isinstance(op, DimShuffle) and _last_two(op) == "swapped"


def _last_two(op: DimShuffle) -> str:
    """Return how the last two axes of the result are those of the input: "kept", "swapped", or ""."""
    kept = [o for o in op.order if isinstance(o, int)]
    added = len(op.order) - len(kept)
    if len(kept) < 2 or op.order[:added] != ("x",) * added:
        return ""
    n = len(kept)
    if kept == list(range(n)):
        return "kept"
    return "swapped" if kept == [*range(n - 2), n - 1, n - 2] else ""


# --- what ops make of facts


def _assume(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    name: str = node.op.property  # type: ignore[attr-defined]
    return (facts[0] | Structure[name.upper().removesuffix("_TRIANGULAR")],)


def _cholesky(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    return (_S.LOWER | _S.POSITIVE_DIAGONAL,)


def _cholesky_gradient(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    return (_S.LOWER,)


def _qr(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    return (_S.UPPER,) if len(node.outputs) == 1 else (_S.ORTHOGONAL, _S.UPPER)


def _eigh(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    return _S.NONE, _S.ORTHOGONAL


def _svd(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    full: bool = node.op.full_matrices  # type: ignore[attr-defined]
    return _S.ORTHOGONAL, _S.NONE, _S.ORTHOGONAL if full else _S.NONE


def _eye(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    if constant_int(node.inputs[2]) != 0 or not is_square(node.out):
        return (_S.NONE,)
    return (_S.DIAGONAL | _S.ORTHOGONAL | _S.POSITIVE_DEFINITE,)


def _diagonal_matrix(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    return (_S.DIAGONAL,)


def _triangle(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    lower: bool = node.op.lower  # type: ignore[attr-defined]
    k = constant_int(node.inputs[1])
    cut = _S.LOWER if lower else _S.UPPER
    kept = facts[0] & _S.DIAGONAL
    if k is not None and (k <= 0 if lower else k >= 0):
        kept |= cut
    return (kept | (facts[0] & _S.POSITIVE_DIAGONAL if k == 0 else _S.NONE),)


def _dimshuffle(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    how = _last_two(node.op)  # type: ignore[arg-type]
    if how != "swapped":
        return (facts[0] if how else _S.NONE,)
    found = facts[0] & (_S.SYMMETRIC | _S.POSITIVE_DEFINITE | _S.POSITIVE_DIAGONAL)
    found |= _S.UPPER if _S.LOWER in facts[0] else _S.NONE
    found |= _S.LOWER if _S.UPPER in facts[0] else _S.NONE
    return (found | (_S.ORTHOGONAL & facts[0] if is_square(node.out) else _S.NONE),)


def _inverse(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    found = facts[0] & ~_S.POSITIVE_DIAGONAL
    return (found | (facts[0] & _S.POSITIVE_DIAGONAL if facts[0] & _S.DIAGONAL else _S.NONE),)


def _product(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    a, b = node.inputs
    if min(a.ndim, b.ndim) < 2:
        return (_S.NONE,)
    both = facts[0] & facts[1]
    found = both & (_S.LOWER | _S.UPPER | _S.ORTHOGONAL)
    if found & _S.DIAGONAL:
        found |= both & _S.POSITIVE_DIAGONAL
    return (found | (_S.SYMMETRIC if _is_transpose_of(a, b) or _is_transpose_of(b, a) else _S.NONE),)


def _is_transpose_of(a: Variable, b: Variable) -> bool:
    return a.owner is not None and is_transposing(a.owner.op) and a.owner.inputs[0] is b


def _elementwise(node: Apply, facts: Facts) -> tuple[Structure, ...]:
    op = node.op
    if op in (conj, identity):
        return (facts[0],)
    if op is neg:
        return (facts[0] & (_ANY_MATRIX | _S.ORTHOGONAL),)
    if op in (add, sub) and all(dims_of(i)[-2:] == dims_of(node.out)[-2:] for i in node.inputs):
        kept = _ANY_MATRIX | (_S.POSITIVE_DEFINITE | _S.POSITIVE_DIAGONAL if op is add else _S.NONE)
        return (reduce(and_, facts) & kept,)
    return (_scaled(node, facts) if op is mul else _S.NONE,)


def _scaled(node: Apply, facts: Facts) -> Structure:
    """Return the properties of a matrix times constants that are finite numbers."""
    others = [k for k, i in enumerate(node.inputs) if number_of(i) is None]
    if len(others) != 1:
        return _S.NONE
    numbers = [number_of(i) for k, i in enumerate(node.inputs) if k != others[0]]
    if not all(np.isfinite(n) for n in numbers) or any(i.ndim > node.inputs[others[0]].ndim for i in node.inputs):
        return _S.NONE
    positive = all(np.isreal(n) and n > 0 for n in numbers)
    return facts[others[0]] & (_ANY_MATRIX | (_S.POSITIVE_DEFINITE | _S.POSITIVE_DIAGONAL if positive else _S.NONE))


_INFERENCES: dict[type[Op], Inference] = {
    Assume: _assume,
    Cholesky: _cholesky,
    CholeskyGradient: _cholesky_gradient,
    QR: _qr,
    Eigh: _eigh,
    SVD: _svd,
    Eye: _eye,
    DiagonalMatrix: _diagonal_matrix,
    Triangle: _triangle,
    DimShuffle: _dimshuffle,
    Inverse: _inverse,
    Dot: _product,
    Dot22: _product,
    MatMul: _product,
    Elementwise: _elementwise,
}
