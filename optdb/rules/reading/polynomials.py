"""Sums and products of real numbers in their shortest form: `(a / p - b / (1 - p)) * p * (1 - p)` is `a - (a + b) * p`.

    Product = number * atom**k * ...       atom = a value that is no sum or product, or a Sum
    Sum     = number * atoms + ...         in the order in which its terms are met

A form is taken if it has fewer operations.  Like terms are collected, equal factors cancelled, common ones taken out,
and a product of sums is expanded where that lets terms cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from ....graph import Constant, Variable, same_shape
from ....ops.core.tensor import constant
from ....ops.elementwise.records import (
    add,
    mul,
    neg,
    pow,
    reciprocal,
    sigmoid,
    sqrt,
    square,
    sub,
    true_div,
)  # fmt: skip
from ....ops.linalg.blas import Dot, MatMul
from ....ops.shapes.shape import DimShuffle
from ....record import record
from ...contract import relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, Value, made_by, number_of, producer

MOST_DEEP = 12
"""Sums inside of products inside of sums, one in the other; deeper ones stay as they are written."""
MOST_VISITS, MOST_TERMS = 150, 16
"""Nodes that one application looks at, and terms of an expanded product."""

Factors = tuple[tuple["Atom", float], ...]
"""Atoms with their exponents, whole or halves, in the order in which they are met."""


class Sum:
    """A sum as an atom of a product: terms with their numbers.  Equal sums are equal atoms, in any order."""

    __slots__ = ("depth", "key", "terms")

    def __init__(self, terms: Sequence[tuple[float, Factors]]) -> None:
        self.terms = tuple(terms)
        self.depth: int = 1 + max((a.depth for _, fs in terms for a, _ in fs if isinstance(a, Sum)), default=0)
        self.key = frozenset((frozenset(factors), number) for number, factors in terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sum) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


Atom = Union[Variable, Sum]


@record
class Product:
    """A number times atoms with exponents."""

    number: float
    factors: Factors = ()

    def times(self, other: Product) -> Product:
        powers: dict[Atom, float] = dict(self.factors)
        for atom, exponent in other.factors:
            powers[atom] = powers.get(atom, 0.0) + exponent
        return Product(self.number * other.number, tuple((a, e) for a, e in powers.items() if e))

    def power(self, exponent: int) -> Product:
        return Product(self.number**exponent, tuple((a, e * exponent) for a, e in self.factors))


def sum_of(products: Iterable[Product], factored: bool = True) -> Product:
    """Return a sum as a product: like terms are collected and, if it is to be `factored`, common factors taken out."""
    collected: dict[frozenset[Any], list[Any]] = {}
    for product in products:
        entry = collected.setdefault(frozenset(product.factors), [0.0, product.factors])
        entry[0] += product.number
    terms = [(number, factors) for number, factors in collected.values() if number]
    if not terms:
        return Product(0.0)
    if len(terms) == 1:
        return Product(*terms[0])
    if not factored:
        return Product(1.0, ((Sum(terms), 1.0),))
    common = _common([dict(factors) for _, factors in terms])
    rest = [(number, _less(factors, common)) for number, factors in terms]
    sizes = {abs(number) for number, _ in rest}
    content = sizes.pop() if len(sizes) == 1 else 1.0
    content = -content if all(number < 0 for number, _ in rest) or _leads_with_minus(rest) else content
    inner = Sum([(number / content, factors) for number, factors in rest])
    return Product(content, (*common.items(), (inner, 1.0)))


def _leads_with_minus(terms: Sequence[tuple[float, Factors]]) -> bool:
    """Whether a sum is better written with the opposite signs: as many terms are negative, the oldest among them."""
    negative = [k for k, (number, _) in enumerate(terms) if number < 0]
    return 2 * len(negative) > len(terms)


def _common(terms: Sequence[Mapping[Atom, float]]) -> dict[Atom, float]:
    """Return the factors of all terms, with the exponent that is nearest to 0; of both signs: none."""
    found = {}
    for atom in terms[0]:
        exponents = [term.get(atom, 0.0) for term in terms]
        if all(e > 0 for e in exponents):
            found[atom] = min(exponents)
        elif all(e < 0 for e in exponents):
            found[atom] = max(exponents)
    return found


def _less(factors: Factors, common: Mapping[Atom, float]) -> Factors:
    powers = {atom: exponent - common.get(atom, 0) for atom, exponent in factors}
    return tuple((atom, exponent) for atom, exponent in powers.items() if exponent)


# --- reading


class Reader:
    """The form of a value; `visits` counts the nodes of sums and products that were read."""

    def __init__(self, root: Variable, factored: bool = True) -> None:
        self.factored = factored
        self.dtype: str = root.dtype
        self.visits: int = 0
        self.operations: int = 0
        self.logistic: dict[Variable, Variable] = self._logistic(root)

    def _logistic(self, root: Variable) -> dict[Variable, Variable]:
        """The logistic functions among the atoms, by their arguments."""
        found, stack, met = {}, [root], {root}
        while stack and len(met) < 4 * MOST_VISITS:
            node = stack.pop().owner
            if node is None:
                continue
            if node.op is sigmoid:
                found[node.inputs[0]] = node.out
            elif node.op in _FORMS:
                stack += [i for i in node.inputs if i not in met]
                met.update(node.inputs)
        return found

    def read(self, variable: Variable) -> Product:
        """The form of a value, bottom-up and without recursion."""
        made: dict[Variable, Product] = {}
        stack = [variable]
        while stack:
            value = stack[-1]
            node = value.owner
            open_ = node is not None and node.op in _FORMS and self._fits(node) and self.visits < MOST_VISITS
            if value in made:
                stack.pop()
            elif not open_:
                made[value] = self._atom(value)
            elif missing := [i for i in node.inputs if i not in made]:  # type: ignore[union-attr]
                self.visits += 1
                stack.extend(missing)
            else:
                operands = [made[i] for i in node.inputs]  # type: ignore[union-attr]
                form = self._form(node.op, operands)  # type: ignore[union-attr]
                deep = form is None or any(a.depth > MOST_DEEP for a, _ in form.factors if isinstance(a, Sum))
                made[value] = Product(1.0, ((value, 1.0),)) if form is None or deep else form
        return made[variable]

    def _form(self, op: Any, operands: Sequence[Product]) -> Product | None:
        if op is add:
            return sum_of(operands, self.factored)
        if op is sub:
            a, b = operands
            return sum_of([a, Product(-b.number, b.factors)], self.factored)
        return _FORMS[op](*operands)

    def _fits(self, node: Node) -> bool:
        return all(i.dtype == self.dtype for i in node.inputs)

    def _atom(self, value: Variable) -> Product:
        number = number_of(value) if isinstance(value, Constant) and value.data.size == 1 else None
        if number is not None and value.ndim == 0 and np.isfinite(number):
            return Product(float(number))
        inner = producer(value, sigmoid)
        argument = producer(inner.inputs[0], neg) if inner is not None else None
        other = None if argument is None else self.logistic.get(argument.inputs[0])
        if other is not None and value.dtype == self.dtype:
            terms = [(1.0, ()), (-1.0, ((other, 1.0),))]
            return Product(1.0, ((Sum(terms), 1.0),))
        return Product(1.0, ((value, 1.0),))


def _quotient(a: Product, b: Product) -> Product | None:
    return a.times(b.power(-1)) if b.number else None


def _powered(a: Product, b: Product) -> Product | None:
    exponent = b.number
    whole = not b.factors and float(exponent).is_integer() and abs(exponent) <= 64
    if not whole or (exponent < 0 and not a.number):
        return None
    return a.power(int(exponent))


def _rooted(a: Product) -> Product | None:
    ((atom, exponent),) = a.factors if len(a.factors) == 1 else ((None, 0),)
    if a.number != 1 or exponent != 1:
        return None
    return Product(1.0, ((atom, 0.5),))  # type: ignore[arg-type]


_FORMS: Mapping[Any, Callable[..., Product | None]] = {
    add: lambda *terms: sum_of(terms),
    sub: lambda a, b: sum_of([a, Product(-b.number, b.factors)]),
    mul: lambda first, *others: _times(first, others),
    true_div: _quotient,
    neg: lambda a: Product(-a.number, a.factors),
    square: lambda a: a.power(2),
    reciprocal: lambda a: _quotient(Product(1.0), a),
    pow: _powered,
    sqrt: _rooted,
}


def _times(first: Product, others: Sequence[Product]) -> Product:
    for other in others:
        first = first.times(other)
    return first


# --- choosing


def expanded(product: Product, factored: bool = True) -> Product:
    """Return the sum that a product of sums is, terms being collected; the product itself if it has too many."""
    terms, ready = [product], list[Product]()
    while terms and len(terms) + len(ready) <= MOST_TERMS:
        term = terms.pop(0)
        sums = [(a, e) for a, e in term.factors if isinstance(a, Sum) and e >= 1 and float(e).is_integer()]
        if not sums:
            ready.append(term)
            continue
        atom, exponent = min(sums, key=lambda pair: not _divides(pair[0]))
        powers = dict(term.factors)
        powers[atom] = exponent - 1
        rest = Product(term.number, tuple((a, e) for a, e in powers.items() if e))
        terms[:0] = [rest.times(Product(number, factors)) for number, factors in atom.terms]
    return product if terms else sum_of(ready, factored)


def _divides(atom: Sum) -> bool:
    return any(exponent < 0 for _, factors in atom.terms for _, exponent in factors)


def _is_number(factor: Variable) -> bool:
    return isinstance(factor, Constant) and factor.ndim == 0


def _is_awkward(factor: Variable) -> bool:
    """Whether a factor should not stand behind others: a number, or a product that needs parentheses."""
    return factor.owner is not None and factor.owner.op in (mul, true_div)


_COSTS: Mapping[Any, int] = {neg: 1, square: 1, pow: 1, sqrt: 1}


def cost(product: Product) -> int:
    """The operations that write a product: 2 for each, 1 for a sign, for a power and for a number."""
    total = 2 * max(len(product.factors) - 1, 0)
    total += (product.number < 0) + (abs(product.number) != 1 and bool(product.factors))
    total += 2 * (bool(product.factors) and all(e < 0 for _, e in product.factors) and abs(product.number) == 1)
    for atom, exponent in product.factors:
        total += abs(exponent) != 1
        total += cost_of_sum(atom) if isinstance(atom, Sum) else cost_of_atom(atom)
    return total


def cost_of_atom(atom: Variable) -> int:
    """The cost of a value beside its name: sigmoid(-x) is better read as 1 - sigmoid(x)."""
    inner = producer(atom, sigmoid)
    return 3 if inner is not None and made_by(inner.inputs[0], neg) else 0


def cost_of_sum(atom: Sum) -> int:
    inside = sum(cost(Product(abs(number), factors)) for number, factors in atom.terms)
    return inside + 2 * (len(atom.terms) - 1) + all(number < 0 for number, _ in atom.terms)


def cost_of(variable: Variable, dtype: str, most: int = 4 * MOST_VISITS) -> int:
    """The operations of a sum or product as it stands, counted as in `cost`; shared parts count each time."""
    total, stack = 0, [variable]
    while stack and total < most:
        value = stack.pop()
        node = value.owner
        if node is None or any(i.dtype != dtype for i in node.inputs):
            continue
        if node.op in _FORMS:
            total += _COSTS.get(node.op, 2 * (len(node.inputs) - 1))
            total -= node.op in (mul, true_div) and any(_is_number(i) for i in node.inputs)
            total += node.op is mul and any(_is_awkward(i) for i in node.inputs[1:])
            stack += node.inputs
        else:
            total += cost_of_atom(value)
    return total


# --- writing


def built(product: Product, dtype: str) -> Value:
    """Return a product as a value: the numerator over the denominator."""
    number = product.number
    below_number = _denominator(number)
    above: list[Value] = []
    below: list[Value] = []
    size = abs(number) * below_number
    if size != 1:
        above.append(_number(size, dtype))
    for atom, exponent in sorted(product.factors, key=lambda factor: _age(factor[0])):
        value = _sum_built(atom, dtype) if isinstance(atom, Sum) else atom
        (above if exponent > 0 else below).append(_raised(value, abs(exponent), dtype))
    if below_number != 1:
        below.append(_number(below_number, dtype))
    if not above:
        above.append(_number(1.0, dtype))
    if number < 0:
        first = above[0]
        above[0] = _number(-number_of(first), dtype) if isinstance(first, Constant) else neg(first)
    result = _joined(above)
    return true_div(result, _joined(below)) if below else result


def _age(atom: Atom) -> float:
    """The number of a value: older ones come first, sums last."""
    return float("inf") if isinstance(atom, Sum) else atom.number


def _number(value: float, dtype: str) -> Value:
    return constant(value, dtype)


def _denominator(number: float) -> int:
    """Return k for the number 1 / k, else 1: a third is no decimal fraction."""
    if len(repr(abs(number))) <= 8 or not np.isfinite(number):
        return 1
    nearest = round(1 / abs(number))
    return nearest if 1 < nearest <= 1000 and abs(1 / nearest - abs(number)) <= 1e-15 * abs(number) else 1


def _raised(value: Value, exponent: float, dtype: str) -> Value:
    if exponent == 1:
        return value
    return sqrt(value) if exponent == 0.5 else pow(value, _number(float(exponent), dtype))


def _joined(factors: Sequence[Value]) -> Value:
    result = factors[0]
    for factor in factors[1:]:
        result = mul(result, factor)
    return result


def _sum_built(atom: Sum, dtype: str) -> Value:
    """Return a sum as a value, terms with a plus first."""
    result = None
    for number, factors in sorted(atom.terms, key=lambda term: term[0] < 0):
        if result is None:
            result = built(Product(number, factors), dtype)
        else:
            term = built(Product(abs(number), factors), dtype)
            result = add(result, term) if number > 0 else sub(result, term)
    return result


# --- the rules


def shortest(node: Node, users: Users) -> Value | None:
    """Return a sum or product of real numbers in its shortest form; a part of one is left to the whole."""
    dtype = node.out.dtype
    if node.out.type.kind != "f":
        return None
    readers = users(node.out)
    if len(readers) == 1 and readers[0][0] is not None and _is_open(readers[0][0], dtype):
        return None
    before = cost_of(node.out, dtype)
    if before < 2 or before >= 4 * MOST_VISITS:
        return None
    plain = Reader(node.out, factored=False).read(node.out)
    if min(cost(plain), cost(expanded(plain, factored=False))) >= before:
        return None  # taking out a factor alone is no reason to change what a person wrote
    form = Reader(node.out).read(node.out)
    best = min((form, expanded(form)), key=cost)
    result = built(best, dtype)
    if cost_of(result, dtype) >= before or (not isinstance(result, Constant) and not same_shape(result, node.out)):
        return None
    return result


def _is_open(node: Node, dtype: str) -> bool:
    return node.op in _FORMS and all(i.dtype == dtype for i in node.inputs)


def products_first(node: Node) -> Value | None:
    """Return a sum of two with the one that holds a product of matrices in front."""
    if len(node.inputs) != 2 or len({i.dtype for i in node.inputs}) > 1:
        return None
    first, second = node.inputs
    return add(second, first) if _has_product(second) and not _has_product(first) else None


def _has_product(term: Variable) -> bool:
    """Whether a term is a product of matrices, or a multiple of one."""
    while term.owner is not None:
        if isinstance(term.owner.op, (Dot, MatMul)):
            return True
        if term.owner.op not in (mul, true_div, neg, add, sub) and not isinstance(term.owner.op, DimShuffle):
            return False
        inner = [i for i in term.owner.inputs if i.ndim == term.ndim and not isinstance(i, Constant)]
        if len(inner) != 1:
            return any(i.owner is not None and isinstance(i.owner.op, (Dot, MatMul)) for i in inner)
        (term,) = inner
    return False


LOOSE = relaxes("nan", "inf", "overflow", "underflow", "rounding", "signed zero", "errors", "domain")

POLYNOMIALS: list[Rule] = [
    node_rule("local_shortest_polynomial", tuple(_FORMS), shortest, contract=LOOSE, uses=True,
              formula="(a / p - b / q) * p * q -> a * q - b * p",
              reason="readers want the shortest form; no function is compiled from it"),
    node_rule("local_products_first", add, products_first, contract=relaxes("rounding"),
              formula="b + x @ w -> x @ w + b"),
]  # fmt: skip
