"""Ops with a translation of their own: reductions, products, softmax, matrices, promises, checks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import z3

from ..graph import Apply
from ..ops.elementwise.records import ELEMENTWISE
from ..ops.linalg.assumptions import Assume
from ..ops.linalg.blas import Dot, MatMul
from ..ops.linalg.determinants import Det, SlogDet
from ..ops.linalg.factorizations import Cholesky
from ..ops.linalg.solving import Inverse, Solve, SolveTriangular
from ..ops.lowered.assumed import AssumeEqual, BrokenAssumption, CheckAssumed
from ..ops.lowered.phrases import Mean
from ..ops.networks.functions import LogSoftmax, LogSumExp, Softmax
from ..ops.reductions.reduce import Reduce
from ..ops.reductions.unbroadcasting import SumTo
from ..ops.shapes.conditions import Check
from .loops import LOOPS
from .terms import NotTranslated, Term, Vacuous, apply_scalar
from .values import Array, Known, lifted, objects

if TYPE_CHECKING:
    from .arrays import Translation

Rule = Callable[["Translation", Apply, Sequence[Known]], Sequence[Known]]


def reduced(t: Translation, node: Any, inputs: Sequence[Known]) -> Sequence[Known]:
    made = _reduced(t, node.op.scalar, inputs[0].items, tuple(node.op.axis), node.out.dtype)
    return [Array(made, node.out.dtype)]


def _reduced(t: Translation, scalar: Any, x: np.ndarray, axes: Sequence[int], dtype: str) -> np.ndarray:
    """The terms folded along the axes."""
    kept = [a for a in range(x.ndim) if a not in axes]
    moved = x.transpose([*kept, *axes])
    shape = moved.shape[: len(kept)]
    size = int(np.prod(moved.shape[len(kept) :]))
    rows = moved.reshape((*shape, size))
    return objects(shape, [t.theory.fold(scalar, list(rows[p]), dtype) for p in np.ndindex(*shape)])


def mean(t: Translation, node: Any, inputs: Sequence[Known]) -> Sequence[Known]:
    x, axes = inputs[0], tuple(node.op.axis)
    if t.theory.name != "reals":
        return t.opaque(node, inputs)
    total = _reduced(t, ELEMENTWISE["add"], x.items, axes, x.dtype)
    count = t.theory.constant(float(np.prod([x.shape[a] for a in axes])), x.dtype)
    made = [apply_scalar(t.theory, "true_div", (v, count)) for v in total.flat]
    return [Array(objects(total.shape, made), x.dtype)]


def summed_to(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    x, like = inputs
    x = lifted(t.theory, x, node.out.dtype)
    added = x.items.ndim - len(like.shape)
    if added < 0:
        raise ValueError("the rank of a sum is larger than that of the summands")
    axes = [a for a in range(x.items.ndim) if a < added or like.shape[a - added] == 1 != x.shape[a]]
    total = _reduced(t, ELEMENTWISE["add"], x.items, axes, x.dtype)
    return [Array(total.reshape(like.shape), x.dtype)]


def _term(value: Any) -> Term:
    assert isinstance(value, Term)
    return value


def _products(t: Translation, row: Sequence[Term], column: Sequence[Term], dtype: str) -> Term:
    theory = t.theory
    t.theory.require_time()
    row, column = ([theory.cast(v, dtype) for v in part] for part in (row, column))
    if not row:
        return _term(theory.constant(0, dtype))
    if theory.name == "machine" and np.dtype(dtype).kind in "fc" and len(row) > 1:
        return _term(theory.opaque(f"products_{len(row)}", [*row, *column], dtype))
    terms = [apply_scalar(theory, "mul", pair) for pair in zip(row, column, strict=True)]
    total = terms[0]
    for term in terms[1:]:
        total = apply_scalar(theory, "add", (total, term))
    return _term(theory.cast(total, dtype))


def dot(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    a, b = (lifted(t.theory, i, v.dtype).items for i, v in zip(inputs, node.inputs, strict=True))
    dtype = node.out.dtype
    columns = b if b.ndim == 1 else np.moveaxis(b, -2, -1)
    if a.shape[-1] != columns.shape[-1]:
        raise ValueError("lengths of a product differ")
    shape = (*a.shape[:-1], *columns.shape[:-1])
    made = [
        _products(t, list(a[p]), list(columns[q]), dtype)
        for p in np.ndindex(*a.shape[:-1])
        for q in np.ndindex(*columns.shape[:-1])
    ]
    return [Array(objects(shape, made), dtype)]


def matmul(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    a, b = (lifted(t.theory, i, v.dtype).items for i, v in zip(inputs[:2], node.inputs[:2], strict=True))
    if a.shape[-1] != b.shape[-2]:
        raise ValueError("lengths of a product differ")
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = np.broadcast_to(a, (*batch, *a.shape[-2:])), np.broadcast_to(b, (*batch, *b.shape[-2:]))
    shape = (*batch, a.shape[-2], b.shape[-1])
    made = [_products(t, list(a[(*p[:-1],)]), list(b[(*p[:-2], slice(None), p[-1])]), node.out.dtype)
            for p in np.ndindex(*shape)]  # fmt: skip
    return [Array(objects(shape, made), node.out.dtype)]


def _mapped(t: Translation, name: str, term: Term) -> Term:
    return apply_scalar(t.theory, name, (term,))


def normalized(t: Translation, node: Any, inputs: Sequence[Known]) -> Sequence[Known]:
    """softmax, log_softmax, logsumexp: of the exponentials of each row."""
    if t.theory.name != "reals":
        return t.opaque(node, inputs)
    x, op = inputs[0], node.op
    rows = np.moveaxis(x.items, op.axis, -1)
    made = np.empty(rows.shape, dtype=object)
    sums = np.empty(rows.shape[:-1], dtype=object)
    for p in np.ndindex(*rows.shape[:-1]):
        exps = [_mapped(t, "exp", v) for v in rows[p]]
        if not exps and isinstance(op, LogSumExp):
            sums[p] = t.theory.constant(-np.inf, x.dtype)
            continue
        total = t.theory.fold(ELEMENTWISE["add"], exps, x.dtype)
        sums[p] = _mapped(t, "log", total) if not isinstance(op, Softmax) and exps else total
        for k, v in enumerate(rows[p]):
            pair: Any = (exps[k], total) if isinstance(op, Softmax) else (v, sums[p])
            made[(*p, k)] = apply_scalar(t.theory, "true_div" if isinstance(op, Softmax) else "sub", pair)
    if isinstance(op, LogSumExp):
        return [Array(sums, x.dtype)]
    return [Array(np.moveaxis(made, -1, op.axis), x.dtype)]


# --- matrices over the reals, of at most three rows


def _binary(t: Translation, name: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: apply_scalar(t.theory, name, (a, b))


def _determinant(t: Translation, m: np.ndarray) -> Term:
    n = m.shape[0]
    mul, add, sub = (_binary(t, name) for name in ("mul", "add", "sub"))
    if n == 0:
        return _term(t.theory.constant(1.0, "float64"))
    if n == 1:
        return _term(m[0, 0])
    total: Any = None
    for k in range(n):
        minor = np.delete(np.delete(m, 0, 0), k, 1)
        term = mul(m[0, k], _determinant(t, minor))
        total = term if total is None else (add if k % 2 == 0 else sub)(total, term)
    return _term(total)


def _inverse(t: Translation, m: np.ndarray) -> np.ndarray:
    n = m.shape[0]
    made = np.empty((n, n), dtype=object)
    if n == 0:
        return made
    whole = _determinant(t, m)
    for i, j in itertools.product(range(n), repeat=2):
        minor = np.delete(np.delete(m, j, 0), i, 1)
        part = _determinant(t, minor) if n > 1 else t.theory.constant(1.0, m[0, 0].dtype)
        part = t.theory.cast(part, m[0, 0].dtype)
        made[i, j] = _binary(t, "true_div")(part if (i + j) % 2 == 0 else -part, whole)
    return made


def _square(t: Translation, node: Apply, inputs: Sequence[Known]) -> Array:
    """The first operand, matrices that must be square."""
    x = lifted(t.theory, inputs[0], node.inputs[0].dtype)
    if x.shape[-1] != x.shape[-2]:
        raise Vacuous("a matrix that is not square")
    if t.theory.name == "reals" and x.shape[-1] > 2:
        raise NotTranslated("an array of matrices with more than two rows")
    return x


def inverse(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    x = _square(t, node, inputs)
    if t.theory.name != "reals":
        return t.opaque(node, inputs)
    made = np.empty(x.shape, dtype=object)
    for p in np.ndindex(*x.shape[:-2]):
        made[p] = _inverse(t, x.items[p])
    return [Array(made, x.dtype)]


def determinant(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    x = _square(t, node, inputs)
    if t.theory.name != "reals":
        return t.opaque(node, inputs)
    shape = x.shape[:-2]
    made = [t.theory.cast(_determinant(t, x.items[p]), x.dtype) for p in np.ndindex(*shape)]
    return [Array(objects(shape, made), x.dtype)]


def solve(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    """inv(a) @ b; of a triangular system the half that is read."""
    _square(t, node, inputs)
    if t.theory.name != "reals" or node.inputs[0].ndim != 2 or node.inputs[1].ndim > 2:
        return t.opaque(node, inputs)
    a, b = (lifted(t.theory, i, v.dtype) for i, v in zip(inputs, node.inputs, strict=True))
    m = a.items.copy()
    op = node.op
    if isinstance(op, SolveTriangular):
        zero, one = (t.theory.constant(v, a.dtype) for v in (0.0, 1.0))
        for i, j in itertools.product(range(m.shape[0]), repeat=2):
            if (j > i) if op.lower else (j < i):
                m[i, j] = zero
            if i == j and op.unit:
                m[i, j] = one
    made = _inverse(t, m)
    vector = b.items.ndim == 1
    right = b.items[:, None] if vector else b.items
    if made.shape[1] != right.shape[0]:
        raise ValueError("lengths of a system differ")
    rows = [
        [_products(t, list(made[i]), list(right[:, j]), node.out.dtype) for j in range(right.shape[1])]
        for i in range(made.shape[0])
    ]
    result = objects((made.shape[0], right.shape[1]), [v for row in rows for v in row])
    return [Array(result[:, 0] if vector else result, node.out.dtype)]


def logarithm_of_determinant(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    """The sign of the determinant, and the logarithm of its modulus."""
    x = _square(t, node, inputs)
    if t.theory.name != "reals" or np.dtype(x.dtype).kind != "f":
        return t.opaque(node, inputs)
    whole = [t.theory.cast(_determinant(t, x.items[p]), x.dtype) for p in np.ndindex(*x.shape[:-2])]
    signs = [_mapped(t, "sign", v) for v in whole]
    logarithms = [_mapped(t, "log", _mapped(t, "abs", v)) for v in whole]
    return [Array(objects(x.shape[:-2], part), x.dtype) for part in (signs, logarithms)]


def cholesky(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    """The factor of matrices of at most two rows, from their lower halves."""
    x = _square(t, node, inputs)
    n = x.shape[-1]
    if t.theory.name != "reals" or np.dtype(x.dtype).kind != "f" or type(node.op)() != node.op:
        return t.opaque(node, inputs)
    made = np.empty(x.shape, dtype=object)
    mul, sub, div = (_binary(t, name) for name in ("mul", "sub", "true_div"))
    for p in np.ndindex(*x.shape[:-2]):
        a, m = x.items[p], made[p]
        if n:
            m[0, 0] = _mapped(t, "sqrt", a[0, 0])
        if n == 2:
            m[0, 1] = t.theory.constant(0.0, x.dtype)
            m[1, 0] = div(a[1, 0], m[0, 0])
            m[1, 1] = _mapped(t, "sqrt", sub(a[1, 1], mul(m[1, 0], m[1, 0])))
    return [Array(made, x.dtype)]


def assumed(t: Translation, node: Any, inputs: Sequence[Known]) -> Sequence[Known]:
    """The operand with zeros where the property has them; what else it says is a hypothesis."""
    x, kind = inputs[0], node.op.property
    if x.shape[-1] != x.shape[-2]:
        raise Vacuous("a matrix that is not square")
    made, n = x.items.copy(), x.shape[-1]
    zeros = {
        "lower_triangular": lambda i, j: j > i,
        "upper_triangular": lambda i, j: j < i,
        "diagonal": lambda i, j: i != j,
    }
    for p in np.ndindex(*x.shape[:-2]):
        m = made[p]
        for i, j in itertools.product(range(n), repeat=2):
            if kind in zeros and zeros[kind](i, j):
                m[i, j] = t.theory.constant(0, x.dtype)
            if kind in ("symmetric", "positive_definite") and j < i:
                m[i, j] = m[j, i] if np.dtype(x.dtype).kind != "c" else m[j, i].conjugate()
        if kind == "orthogonal":
            _orthonormal(t, m, x.dtype)
        if kind == "positive_definite":
            _positive(t, m, x.dtype)
    return [Array(made, x.dtype)]


def _orthonormal(t: Translation, m: np.ndarray, dtype: str) -> None:
    """Hypotheses that the columns are orthonormal, and the rows."""
    if np.dtype(dtype).kind == "c" or (np.dtype(dtype).kind == "f" and t.theory.name == "machine"):
        raise NotTranslated(f"an orthogonal matrix of {dtype} in the theory of {t.theory.name}")
    for rows in (m.T, m):
        for i, j in itertools.product(range(m.shape[0]), repeat=2):
            total = _products(t, list(rows[i]), list(rows[j]), dtype).value
            wanted = t.theory.constant(int(i == j), dtype).value
            t.theory.side.append(getattr(total, "x", total) == getattr(wanted, "x", wanted))


def _positive(t: Translation, m: np.ndarray, dtype: str) -> None:
    """Hypotheses that the leading minors are positive."""
    if t.theory.name != "reals" or np.dtype(dtype).kind != "f":
        raise NotTranslated(f"a positive definite matrix of {dtype} in the theory of {t.theory.name}")
    t.theory.side += [_determinant(t, m[:k, :k]).value.x > 0 for k in range(1, m.shape[0] + 1)]


def checked(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    """The operand; the graph raises unless the condition holds."""
    ok = lifted(t.theory, inputs[1], node.inputs[1].dtype).items
    for term in ok.flat:
        holds = t.theory.cast(term, "bool").value
        t.theory.raises.append(z3.Not(getattr(holds, "x", holds)))
    return [inputs[0]]


def taken_as_equal(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    """The operands, of lengths that the graph assumes; those of others raise, and another graph runs."""
    op: Any = node.op
    if isinstance(op, AssumeEqual):
        tensors, wanted = op.parts(inputs)
        lengths = [(tensors[number].shape[axis], n) for (number, axis), n in zip(op.axes, wanted, strict=True)]
    else:
        tensors, lengths = inputs[:1], list(zip(inputs[1::2], inputs[2::2], strict=True))
    if any(isinstance(n, Array) for pair in lengths for n in pair):
        raise NotTranslated(f"{op.name} of unknown lengths")
    if any(int(have) != int(want) for have, want in lengths):
        raise BrokenAssumption("lengths for which another graph runs")
    return list(tensors)


OWN: dict[type, Rule] = {
    Reduce: reduced, Mean: mean, SumTo: summed_to, Dot: dot, MatMul: matmul, Softmax: normalized,
    LogSoftmax: normalized, LogSumExp: normalized,
    Check: checked, Inverse: inverse, Det: determinant, SlogDet: logarithm_of_determinant,
    Cholesky: cholesky, Solve: solve, SolveTriangular: solve, Assume: assumed,
    AssumeEqual: taken_as_equal, CheckAssumed: taken_as_equal,
    **LOOPS,
}  # fmt: skip
"""Ops with a translation of their own."""
