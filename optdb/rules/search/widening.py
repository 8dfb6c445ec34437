"""Rules that are no progress by themselves: associativity, distribution, factors, products of exponentials.

Greedy passes cannot have them: each undoes another, or helps one graph and harms the next.  The e-graph keeps both
sides.  A rule that fits a node in several ways is there several times, `_0` for the first way.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ....graph import Constant, Variable, dims_of
from ....ops.elementwise.costs import size
from ....ops.elementwise.records import (
    Elementwise,
    add,
    exp,
    log,
    maximum,
    minimum,
    mul,
    neg,
    reciprocal,
    sigmoid,
    sqrt,
    sub,
    switch,
    tanh,
    true_div,
)  # fmt: skip
from ....ops.linalg.blas import Dot
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.shape import DimShuffle
from ...contract import Contract, relaxes
from ...rule import Rule, node_rule
from ..facts import Node, Value, made_by, producer

WAYS = 3
"""Ways of fitting a node that are tried."""
rounds: Contract = relaxes("rounding", "signed zero", "nan", "inf", "overflow", "underflow")
sums: Contract = relaxes("rounding", "signed zero", "nan", "inf", "overflow", "underflow", "errors")
INCREASING = (exp, log, sqrt, tanh, sigmoid)
TRANSPOSED = DimShuffle((1, 0))

Way = Callable[[Node], Iterator[Any]]


def _rules(name: str, ops: Any, ways: Way, formula: str, contract: Contract = rounds, count: int = WAYS) -> list[Rule]:
    """The rules for the first ways in which a node may be written; other dtypes than floats are left alone."""

    def nth(k: int) -> Callable[[Node], Any]:
        def rewrite(node: Node) -> Any:
            if node.out.type.kind != "f" or any(i.dtype != node.out.dtype and i.dtype != "bool" for i in node.inputs):
                return None
            return next(itertools.islice(ways(node), k, None), None)

        return rewrite

    return [node_rule(f"{name}_{k}", ops, nth(k), formula=formula, contract=contract) for k in range(count)]


def _same(a: Variable, b: Variable) -> bool:
    return a is b or (isinstance(a, Constant) and isinstance(b, Constant) and a.key == b.key)


def _operands(v: Variable, op: Elementwise) -> Sequence[Variable]:
    made = producer(v, op)
    return (v,) if made is None else made.inputs


def _of(op: Elementwise, values: Sequence[Variable]) -> Value:
    """The op of several values; a single one is itself."""
    return values[0] if len(values) == 1 else op(*values)


def _without(values: Sequence[Variable], k: int) -> list[Variable]:
    return [v for n, v in enumerate(values) if n != k]


def _pairs(node: Node) -> Iterator[tuple[Variable, Variable, list[Variable]]]:
    """Yield two operands of a sum or product, and the others."""
    for i, j in itertools.combinations(range(len(node.inputs)), 2):
        yield node.inputs[i], node.inputs[j], [v for n, v in enumerate(node.inputs) if n not in (i, j)]


# --- sums and products


def factored(node: Node) -> Iterator[Value]:
    """x y + x z --> x (y + z), for sums and differences."""
    for a, b, others in _pairs(node):
        for (i, x), (j, y) in itertools.product(enumerate(_operands(a, mul)), enumerate(_operands(b, mul))):
            if _same(x, y) and not (isinstance(x, Constant) and x.ndim == 0 and len(_operands(a, mul)) == 1):
                left, right = (_without(_operands(v, mul), n) for v, n in ((a, i), (b, j)))
                inner = node.op(_of(mul, left) if left else 1, _of(mul, right) if right else 1)
                yield _of(add, [mul(x, inner), *others]) if others else mul(x, inner)


def distributed(node: Node) -> Iterator[Value]:
    """x (y + z) --> x y + x z."""
    for k, v in enumerate(node.inputs):
        made = producer(v, add, sub)
        if made is not None and len(made.inputs) <= 3:
            others = _without(node.inputs, k)
            yield made.op(*(mul(*others, part) for part in made.inputs))


def small_first(node: Node) -> Iterator[Value]:
    """x r s --> x (r s), for operands that are smaller than the result."""
    large = size(node.out)
    groups: dict[Any, list[Variable]] = {}
    inputs = [o for v in node.inputs for o in (_operands(v, node.op) if dims_of(v) == dims_of(node.out) else (v,))]
    for v in inputs:
        if size(v) < large and not (isinstance(v, Constant) and v.ndim == 0):
            groups.setdefault(dims_of(v), []).append(v)
    for group in groups.values():
        if 1 < len(group) < len(inputs):
            yield node.op(*(v for v in inputs if not any(v is g for g in group)), node.op(*group))


def quotients(node: Node) -> Iterator[Value]:
    """x / z + y / z --> (x + y) / z."""
    for a, b, others in _pairs(node):
        one, other = producer(a, true_div), producer(b, true_div)
        if one is not None and other is not None and _same(one.inputs[1], other.inputs[1]):
            made = true_div(node.op(one.inputs[0], other.inputs[0]), one.inputs[1])
            yield _of(add, [made, *others]) if others else made


def by_reciprocal(node: Node) -> Iterator[Value]:
    """x / s --> x (1 / s), for s smaller than x."""
    x, s = node.inputs
    if size(s) < size(x) and not isinstance(s, Constant):
        yield mul(x, reciprocal(s))


# --- exponentials, logarithms, roots


def _merged(inside: Elementwise, joined: Callable[..., Any]) -> Way:
    """f(x) op f(y) --> f(x joined y)."""

    def ways(node: Node) -> Iterator[Value]:
        for a, b, others in _pairs(node):
            one, other = producer(a, inside), producer(b, inside)
            if one is not None and other is not None:
                made = inside(joined(one.inputs[0], other.inputs[0]))
                yield _of(node.op, [made, *others]) if others else made

    return ways


def inverse_exponential(node: Node) -> Iterator[Value]:
    """1 / exp(x) --> exp(-x), and y / exp(x) --> y exp(-x)."""
    made = producer(node.inputs[-1], exp)
    if made is not None:
        yield exp(neg(made.inputs[0])) if node.op == reciprocal else mul(node.inputs[0], exp(neg(made.inputs[0])))


def _is_monotone(v: Variable) -> Node | None:
    return producer(v, *INCREASING)


def extremum_inside(node: Node) -> Iterator[Value]:
    """max(f(x), f(y)) --> f(max(x, y)) for increasing f, and max(x + z, y + z) --> max(x, y) + z."""
    if len(node.inputs) != 2:
        return
    one, other = (_is_monotone(v) for v in node.inputs)
    if one is not None and other is not None and one.op == other.op:
        yield one.op(node.op(one.inputs[0], other.inputs[0]))
    a, b = (_operands(v, add) for v in node.inputs)
    for (i, x), (j, y) in itertools.product(enumerate(a), enumerate(b)):
        if _same(x, y) and len(a) > 1 and len(b) > 1:
            yield add(node.op(_of(add, _without(a, i)), _of(add, _without(b, j))), x)


def choice_inside(node: Node) -> Iterator[Value]:
    """where(c, f(x), f(y)) --> f(where(c, x, y)), and where(c, x z, y z) --> where(c, x, y) z."""
    c, a, b = node.inputs
    one, other = producer(a, Elementwise), producer(b, Elementwise)
    if one is None or other is None or one.op != other.op:
        return
    if len(one.inputs) == 1:
        yield one.op(switch(c, one.inputs[0], other.inputs[0]))
    elif len(one.inputs) == len(other.inputs) == 2:
        for i, j in itertools.product(range(2), repeat=2):
            fits = i == j or getattr(one.op, "commutative", False)
            if fits and _same(one.inputs[i], other.inputs[j]):
                inner = switch(c, one.inputs[1 - i], other.inputs[1 - j])
                yield one.op(inner, one.inputs[i]) if i else one.op(one.inputs[i], inner)


# --- products of matrices


def associated(node: Node) -> Iterator[Value]:
    """(a b) c <--> a (b c)."""
    left, right = (producer(v, Dot) for v in node.inputs)
    if left is not None and left.inputs[1].ndim == 2:
        a, b = left.inputs
        yield Dot()(a, Dot()(b, node.inputs[1]))
    if right is not None and right.inputs[0].ndim == 2:
        b, c = right.inputs
        yield Dot()(Dot()(node.inputs[0], b), c)


def sum_of_products(node: Node) -> Iterator[Value]:
    """a b + a c --> a (b + c), and a c + b c --> (a + b) c."""
    for a, b, others in _pairs(node):
        one, other = producer(a, Dot), producer(b, Dot)
        if one is None or other is None:
            continue
        for shared in (0, 1):
            x, y = one.inputs[1 - shared], other.inputs[1 - shared]
            if _same(one.inputs[shared], other.inputs[shared]) and dims_of(x) == dims_of(y):
                parts = (one.inputs[0], node.op(x, y)) if shared == 0 else (node.op(x, y), one.inputs[1])
                made = Dot()(*parts)
                yield _of(add, [made, *others]) if others else made


def product_of_sum(node: Node) -> Iterator[Value]:
    """a (b + c) --> a b + a c, and (a + b) c --> a c + b c."""
    for k, v in enumerate(node.inputs):
        made = producer(v, add, sub)
        if made is not None and all(dims_of(p) == dims_of(v) for p in made.inputs):
            yield made.op(*(Dot()(*[p if n == k else o for n, o in enumerate(node.inputs)]) for p in made.inputs))


def _number(v: Variable, ndim: int) -> Value | None:
    """A value of one element at another rank; None for other values."""
    if any(n != 1 for n in v.type.shape):
        return None
    flat = v if v.ndim == 0 else DimShuffle(())(v)
    return DimShuffle(("x",) * ndim)(flat) if ndim else flat


def scale_outside(node: Node) -> Iterator[Value]:
    """(s a) b --> s (a b), for a number s, a column beside the left or a row beside the right matrix."""
    for k, v in enumerate(node.inputs):
        made = producer(v, mul)
        factors: Sequence[Variable] = made.inputs if made is not None else ()
        for n, s in enumerate(factors):
            rest = _of(mul, _without(factors, n))
            if dims_of(rest) != dims_of(v):
                continue
            factor = _number(s, node.out.ndim)
            if factor is None and node.out.ndim == v.ndim == s.ndim == 2 and s.type.shape[1 - k] == 1:
                factor = s
            if factor is not None:
                yield mul(factor, Dot()(*[rest if m == k else o for m, o in enumerate(node.inputs)]))


def scale_inside(node: Node) -> Iterator[Value]:
    """s (a b) --> (s a) b and a (s b), for a number, a column or a row."""
    for k, v in enumerate(node.inputs):
        made = producer(v, Dot)
        if made is None:
            continue
        for n, s in enumerate(node.inputs):
            for side in (0, 1) if n != k else ():
                part = made.inputs[side]
                factor = _number(s, part.ndim)
                if factor is None and node.out.ndim == part.ndim == s.ndim == 2 and s.type.shape[1 - side] == 1:
                    factor = s
                if factor is None:
                    continue
                scaled = Dot()(*[mul(factor, p) if m == side else p for m, p in enumerate(made.inputs)])
                yield _of(mul, [scaled, *(o for m, o in enumerate(node.inputs) if m not in (k, n))])


def scale_across(node: Node) -> Iterator[Value]:
    """(a v) b --> a (v.T b), for a row v; and back, for a column."""
    a, b = node.inputs
    if a.ndim != 2 or b.ndim != 2:
        return
    for k, v in enumerate((a, b)):
        made = producer(v, mul)
        factors: Sequence[Variable] = made.inputs if made is not None else ()
        for n, s in enumerate(factors):
            rest = _of(mul, _without(factors, n))
            if s.ndim == 2 and s.type.shape[k] == 1 and s.type.shape[1 - k] != 1 and dims_of(rest) == dims_of(v):
                yield Dot()(rest, mul(TRANSPOSED(s), b)) if k == 0 else Dot()(mul(a, TRANSPOSED(s)), rest)


def transposed_product(node: Node) -> Iterator[Value]:
    """(a b).T --> b.T a.T."""
    made = producer(node.inputs[0], Dot)
    if node.op == TRANSPOSED and made is not None and all(i.ndim == 2 for i in made.inputs):
        a, b = made.inputs
        yield Dot()(TRANSPOSED(b), TRANSPOSED(a))


def product_of_transposed(node: Node) -> Iterator[Value]:
    """b.T a.T --> (a b).T."""
    if all(made_by(i, DimShuffle) and i.owner.op == TRANSPOSED for i in node.inputs):
        b, a = (i.owner.inputs[0] for i in node.inputs)
        yield TRANSPOSED(Dot()(a, b))


# --- sums of elements


def sum_of_product(node: Node) -> Iterator[Value]:
    """sum(a b) over rows, columns or both --> products of smaller sums."""
    made = producer(node.inputs[0], Dot)
    if made is None or node.op.scalar != add:
        return
    a, b = made.inputs
    rows = a.ndim == 2 and 0 in node.op.axis
    columns = b.ndim == 2 and (node.inputs[0].ndim - 1) in node.op.axis
    yield Dot()(Reduce(add, (0,))(a) if rows else a, Reduce(add, (1,))(b) if columns else b)


def sum_of_terms(node: Node) -> Iterator[Value]:
    """sum(x + y) --> sum(x) + sum(y)."""
    made = producer(node.inputs[0], add, sub)
    if node.op.scalar == add and made is not None and all(dims_of(i) == dims_of(made.out) for i in made.inputs):
        yield made.op(*(node.op(i) for i in made.inputs))


def terms_of_sums(node: Node) -> Iterator[Value]:
    """sum(x) + sum(y) --> sum(x + y)."""
    for a, b, others in _pairs(node):
        one, other = producer(a, Reduce), producer(b, Reduce)
        if one is None or other is None or one.op != other.op or one.op.scalar != add:
            continue
        if dims_of(one.inputs[0]) == dims_of(other.inputs[0]):
            made = one.op(node.op(one.inputs[0], other.inputs[0]))
            yield _of(add, [made, *others]) if others else made


WIDENING: list[Rule] = [
    *_rules("egraph_factored", (add, sub), factored, "x y + x z -> x (y + z)"),
    *_rules("egraph_distributed", mul, distributed, "x (y + z) -> x y + x z"),
    *_rules("egraph_small_first", (add, mul), small_first, "x r s -> x (r s)"),
    *_rules("egraph_quotients", (add, sub), quotients, "x / z + y / z -> (x + y) / z"),
    *_rules("egraph_by_reciprocal", true_div, by_reciprocal, "x / s -> x (1 / s)", count=1),
    *_rules("egraph_product_of_exp", mul, _merged(exp, add), "exp(x) exp(y) -> exp(x + y)"),
    *_rules("egraph_quotient_of_exp", true_div, _merged(exp, sub), "exp(x) / exp(y) -> exp(x - y)", count=1),
    *_rules("egraph_inverse_exp", (true_div, reciprocal), inverse_exponential, "y / exp(x) -> y exp(-x)", count=1),
    *_rules("egraph_sum_of_log", add, _merged(log, mul), "log(x) + log(y) -> log(x y)",
            contract=rounds | relaxes("domain")),
    *_rules("egraph_difference_of_log", sub, _merged(log, true_div), "log(x) - log(y) -> log(x / y)",
            contract=rounds | relaxes("domain"), count=1),
    *_rules("egraph_product_of_sqrt", mul, _merged(sqrt, mul), "sqrt(x) sqrt(y) -> sqrt(x y)",
            contract=rounds | relaxes("domain")),
    *_rules("egraph_extremum", (maximum, minimum), extremum_inside, "max(f(x), f(y)) -> f(max(x, y))"),
    *_rules("egraph_choice", switch, choice_inside, "where(c, f(x), f(y)) -> f(where(c, x, y))"),
    *_rules("egraph_associated", Dot, associated, "(a b) c -> a (b c)", sums, 2),
    *_rules("egraph_sum_of_products", (add, sub), sum_of_products, "a b + a c -> a (b + c)", sums),
    *_rules("egraph_product_of_sum", Dot, product_of_sum, "a (b + c) -> a b + a c", sums, 2),
    *_rules("egraph_scale_outside", Dot, scale_outside, "(s a) b -> s (a b)", sums),
    *_rules("egraph_scale_inside", mul, scale_inside, "s (a b) -> (s a) b", sums, 4),
    *_rules("egraph_scale_across", Dot, scale_across, "(a v) b -> a (v.T b)", sums),
    *_rules("egraph_transposed_product", DimShuffle, transposed_product, "(a b).T -> b.T a.T", sums, 1),
    *_rules("egraph_product_of_transposed", Dot, product_of_transposed, "b.T a.T -> (a b).T", sums, 1),
    *_rules("egraph_sum_of_product", Reduce, sum_of_product, "sum(a b) -> sum(a) sum(b)", sums, 1),
    *_rules("egraph_sum_of_terms", Reduce, sum_of_terms, "sum(x + y) -> sum(x) + sum(y)", sums, 1),
    *_rules("egraph_terms_of_sums", (add, sub), terms_of_sums, "sum(x) + sum(y) -> sum(x + y)", sums),
]  # fmt: skip
"""Rules of the e-graph alone."""
