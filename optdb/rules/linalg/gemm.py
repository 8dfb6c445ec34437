"""Sums of scaled products as calls of BLAS that accumulate into a matrix.

    beta * z + alpha * (x @ y)             -->  gemm(z, alpha, x, y, beta)
    z - x @ y + u @ v + b                  -->  gemm(gemm(z, -1, x, y, 1), 1, u, v, 1) + b       b: a row, broadcast
    beta * v + alpha * (a @ w)             -->  gemv(v, alpha, a, w, beta)                       v, w: vectors

A sum is read through additions, subtractions and signs that nothing else reads, and through factors of products and
matrices that are scalars.  The other summand must provably have the shape of the product: a summand that may be
broadcast is added afterwards, where it fuses with what follows.  A product that something else reads stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Op, Variable, inheriting, union
from ....ops.core.tensor import constant
from ....ops.elementwise.records import Elementwise, add, cast, mul, neg, sub
from ....ops.linalg.blas import BLAS_DTYPES, Dot, Dot22, Dot22Scalar, Gemm, Gemv
from ....ops.shapes.shape import DimShuffle
from ....profiling import GemmProfile
from ....record import record
from ....record.cached import cached_property
from ....record.clock import processor_clock
from ...contract import Contract, relaxes
from ...optimizers import Optimizer, Result
from ..shapes.agreement import Agreement

Number = Any
"""A NumPy number of the dtype of its sum."""


def call(op: Op, *inputs: Variable) -> Variable:
    """Return the only output of `op` on `inputs`."""
    return Apply(op, inputs).out


@record(eq=False)
class Term:
    """`factor * scalars[0] * ... * value`: the factor is a number of the sum's dtype, the scalars have rank 0."""

    factor: Number
    value: Variable
    scalars: tuple[Variable, ...] = ()

    def scaled(self, dtype: str) -> Variable:
        """Return factor and scalars as one scalar variable of `dtype`."""
        result: Variable = constant(self.factor, dtype)
        for n, scalar in enumerate(self.scalars):
            scalar = cast(scalar, dtype)
            result = scalar if n == 0 and self.factor == 1 else call(mul, result, scalar)
        return result


@dataclass
class Sum:
    """The terms of a sum: products that BLAS can accumulate, matrices of their shape, and broadcast terms."""

    products: list[Term] = field(default_factory=list)
    matrices: list[Term] = field(default_factory=list)
    broadcast: list[Term] = field(default_factory=list)

    @property
    def worth(self) -> bool:
        """Whether a product can be accumulated into another term."""
        return len(self.products) > 1 or bool(self.products and self.matrices)


# --- reading


class Reader:
    """Reads nodes of `graph` as sums; counts products that BLAS cannot accumulate."""

    def __init__(self, graph: FunctionGraph) -> None:
        self.graph = graph
        self.shared_products: int = 0
        self._absorbed: set[Apply] = set()

    @cached_property
    def agreement(self) -> Agreement:
        return Agreement(self.graph)

    def sums(self) -> dict[Apply, Sum]:
        """Return the outermost sums that are worth a call, by node."""
        found: dict[Apply, Sum] = {}
        for node in reversed(self.graph.order):
            if (
                isinstance(node.op, Elementwise)
                and node.op in (add, sub)
                and node not in self._absorbed
                and (kind := node.outputs[0].type).dtype in BLAS_DTYPES
                and len(kind.shape) in (1, 2)
            ):
                total = self._sorted(list(self._terms(node)), kind.dtype)
                if total.worth:
                    found[node] = total
        return found

    def _once(self, variable: Variable) -> bool:
        return self.graph.readings[variable] == 1

    def _terms(self, node: Apply) -> Iterator[Term]:
        """The terms of a sum, in order."""
        pending: list[tuple[Variable, Number]] = [(node.out, np.dtype(node.out.dtype).type(1))]
        while pending:
            variable, sign = pending.pop()
            inner = variable.owner
            if inner is None or (inner is not node and not self._continues(variable, node.out)):
                yield self._term(variable, sign, node.out)
                continue
            self._absorbed.add(inner)
            signs = [
                -sign if inner.op is neg or (inner.op is sub and n == 1) else sign for n in range(len(inner.inputs))
            ]
            pending += reversed(list(zip(inner.inputs, signs, strict=True)))

    def _continues(self, variable: Variable, total: Variable) -> bool:
        """Whether the terms of `variable` are terms of `total`."""
        above = variable.owner
        return above is not None and above.op in (add, sub, neg) and self._once(variable) and _alike(variable, total)

    def _term(self, variable: Variable, sign: Number, total: Variable) -> Term:
        """Return `variable` as a term, with scalar factors taken out of a product or matrix without other readers."""
        above = variable.owner
        if above is None or above.op is not mul or not self._once(variable) or not _alike(variable, total):
            return Term(sign, variable)
        scalars = [as_scalar(i) for i in above.inputs]
        others = [i for i, scalar in zip(above.inputs, scalars, strict=True) if scalar is None]
        if len(others) != 1 or not _alike(others[0], total):
            return Term(sign, variable)
        numbers = [s.data.astype(total.dtype)[()] for s in scalars if isinstance(s, Constant)]
        symbolic = tuple(s for s in scalars if s is not None and not isinstance(s, Constant))
        factor = sign
        for number in numbers:
            factor = factor * number
        # A beta of 0 would hide the matrix; so a scalar known only at run time is none.
        if not np.isfinite(factor) or factor == 0 or (symbolic and product_of(others[0]) is None):
            return Term(sign, variable)
        return Term(factor, others[0], symbolic)

    def _sorted(self, terms: list[Term], dtype: str) -> Sum:
        """Return the terms sorted by use; the first product that BLAS can accumulate defines the shape.

        What addition first widens to `dtype` is computed before it is: no call of a BLAS does both.
        """
        products = [t for t in terms if t.value.type.dtype == dtype and product_of(t.value) is not None]
        absorbable = [t for t in products if self._once(t.value)]
        self.shared_products += len(products) - len(absorbable)
        if not absorbable:
            return Sum()
        first, by_blas = absorbable[0].value, set(map(id, absorbable))
        chosen, matrices, others = list[Term](), list[Term](), list[Term]()
        for t in terms:
            if t.value.type.dtype != dtype or not self.agreement.same_shape(t.value, first):
                others.append(t)
            elif id(t) in by_blas:
                chosen.append(t)
            else:
                (others if t.scalars else matrices).append(t)
        return Sum(chosen, matrices, others)


def _alike(a: Variable, b: Variable) -> bool:
    mine, theirs = a.type, b.type
    return mine.dtype == theirs.dtype and len(mine.shape) == len(theirs.shape)


def as_scalar(variable: Variable) -> Variable | None:
    """Return the rank-0 value of `variable`, perhaps under added axes of length 1; None for other values."""
    if isinstance(variable, Constant):
        return constant(variable.data.reshape(())) if all(n == 1 for n in variable.type.shape) else None
    if variable.owner is not None and isinstance(variable.owner.op, DimShuffle):
        variable = variable.owner.inputs[0]
    return variable if variable.ndim == 0 else None


def product_of(variable: Variable) -> tuple[Variable, Variable] | None:
    """Return the operands of a product that BLAS can accumulate: two matrices, or a matrix and a vector."""
    above = variable.owner
    if above is None or not isinstance(above.op, (Dot, Dot22)) or variable.type.dtype not in BLAS_DTYPES:
        return None
    if isinstance(above.op, Dot22) or (isinstance(above.op, Dot) and variable.ndim == 1):
        return above.inputs[0], above.inputs[1]
    return None


# --- building


def build(total: Sum, like: Variable, known: Mapping[Variable, Variable]) -> Variable:
    """Return the sum as calls that each accumulate a product into the result before, plus the broadcast terms."""
    images = {t: known.get(t.value, t.value) for t in (*total.products, *total.matrices, *total.broadcast)}
    products = list(total.products)
    beta: Number = np.dtype(like.dtype).type(1)
    if len(total.matrices) == 1:
        beta, result = total.matrices[0].factor, images[total.matrices[0]]
    elif total.matrices:
        result = _added(total.matrices, images, like.dtype)
    else:
        result = _scaled_product(products.pop(0), like.dtype, known)
    for term in products:
        result = _call(result, term, beta, known)
        beta = np.dtype(like.dtype).type(1)
    return _added(total.broadcast, images, like.dtype, result)


def _call(target: Variable, term: Term, beta: Number, known: Mapping[Variable, Variable]) -> Variable:
    a, b = _operands(term, known)
    dtype = target.dtype
    op: Op = Gemm() if target.ndim == 2 else Gemv()
    return call(op, target, term.scaled(dtype), a, b, constant(beta, dtype))


def _operands(term: Term, known: Mapping[Variable, Variable]) -> tuple[Variable, Variable]:
    operands = product_of(term.value)
    assert operands is not None
    a, b = (known.get(i, i) for i in operands)
    return (call(DimShuffle((1, 0)), b), a) if a.ndim < b.ndim else (a, b)  # v @ M is M.T @ v


def _scaled_product(term: Term, dtype: str, known: Mapping[Variable, Variable]) -> Variable:
    product = known.get(term.value, term.value)
    if term.factor == 1 and not term.scalars:
        return product
    if product.ndim == 2:
        return call(Dot22Scalar(), *_operands(term, known), term.scaled(dtype))
    return call(mul, term.scaled(dtype), product)


def _added(terms: list[Term], images: Mapping[Term, Variable], dtype: str, result: Variable | None = None) -> Variable:
    """Return the terms added from the left, to `result` if given."""
    for term in terms:
        value = images[term]
        if result is not None and term.factor == -1 and not term.scalars:
            result = call(sub, result, value)
            continue
        if term.factor != 1 or term.scalars:
            value = call(mul, term.scaled(dtype), value)
        result = value if result is None else call(add, result, value)
    assert result is not None
    return result


# --- the optimizer


@record(kw_only=True)
class GemmOptimizer(Optimizer):
    """Turns sums of scaled products into calls of BLAS.  Linear in the size of the graph; changes rounding."""

    contract: ClassVar[Contract | None] = relaxes("rounding", "signed zero")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        if not any(isinstance(op, (Dot, Dot22)) for op in graph.ops):
            return graph, GemmProfile(nb_iter=1)
        clock = processor_clock()
        start = clock.read()
        reader = Reader(graph)
        sums = reader.sums()
        read_at = clock.read()
        before, refused = len(editor.journal), editor.refused
        result = _replaced(graph, sums, self.name, editor) if sums else graph
        return result, GemmProfile(
            nb_iter=1,
            nb_replacement=len(editor.journal) - before,
            nb_replacement_didn_t_remove=reader.shared_products,
            nb_inconsistency_replace=editor.refused - refused,
            canonicalize_time=read_at - start,
            factor_list_time=clock.read() - read_at,
        )


def _replaced(graph: FunctionGraph, sums: Mapping[Apply, Sum], by: str, editor: GraphEditor) -> FunctionGraph:
    known: dict[Variable, Variable] = {}
    for node in graph.order:
        images = node.over(known).outputs
        if node in sums:
            with inheriting(union(node.origin, *(t.value.origin for t in sums[node].products))):
                called = build(sums[node], node.out, known)
            if editor.admit(by, node.out, called):
                called.name = called.name or node.out.name
                images = (called,)
        if images is not node.outputs:
            known.update(zip(node.outputs, images, strict=True))
    return graph.with_images(known)
