"""Rows of the rules for readers, which the query `print` takes: (name, before, after)."""

import numpy as np
from rule_rows import A, s, t, x, y

from arignote import ops as T
from arignote.ops.elementwise.records import fill, identity, mul, square
from arignote.ops.lowered.phrases import Mean
from arignote.ops.networks.functions import LogSoftmax, Softmax
from arignote.ops.reductions.reduce import Reduce, product_of_others, with_kept_axes
from arignote.ops.shapes.conditions import Check
from arignote.ops.shapes.lengths import ShapeI
from arignote.ops.shapes.shape import DimShuffle

p = T.tensor("p", shape=(3,))
q = T.tensor("q", shape=(3,))
M = T.tensor("M", shape=(3, 3))
c = T.tensor("c", "bool", (3,))
one = T.tensor("one", shape=(1,))
singular = DimShuffle(("x", "x"))(T.eq(T.linalg.det(M), 0))


def folded(op, v):
    """The fold of columns, as a row."""
    return with_kept_axes(Reduce(op, (0,))(v), (0,), v.ndim)


ROWS = [
    ("local_shortest_polynomial", p * q / p, q),
    ("local_shortest_polynomial", p / q * q + p, 2 * p),
    ("local_shortest_polynomial", p * p * p, p**3.0),
    ("local_products_first", p + M @ q, M @ q + p),
    ("local_mean", T.sum(x) / T.cast(ShapeI(0)(x), "float64"), Mean((0,))(x)),
    ("local_mean", T.sum(M, axis=0) / 3, Mean((0,))(M)),
    ("local_scalar_before_product", M @ (s * q), s * (M @ q)),
    ("local_scalar_before_product", M @ (q / s), (M @ q) / s),
    ("local_scalar_before_product", M @ (-q), -(M @ q)),
    ("local_length_of_shape", x.shape[0], ShapeI(0)(x)),
    ("local_length_of_shape", A.shape[-1], ShapeI(1)(A)),
    ("local_bare_value", Check("expected a positive number, got {0}")(x, s > 0, s), x),
    ("local_softmax_as_spelled", Softmax(1, literal=True)(A), Softmax(1)(A)),
    ("local_softmax_as_spelled", LogSoftmax(0, literal=True)(A), LogSoftmax(0)(A)),
    ("local_from_lowest", T.maximum(x, T.constant(np.finfo("float64").min)), x),
    ("local_softmax_without_logarithm", T.exp(LogSoftmax(1)(A)), Softmax(1)(A)),
    ("local_number", T.exp(T.constant(0.0)), T.constant(1.0)),
    ("local_scalar_beside", DimShuffle(("x",))(s) * p, s * p),
    ("local_scalar_beside", T.constant([2.0]) * p, T.constant(2.0) * p),
    ("local_scalar_beside", DimShuffle(("x",))(s) * DimShuffle(("x",))(t), DimShuffle(("x",))(s * t)),
    ("local_dimshuffle_of_fill", DimShuffle((0, "x"))(fill(x, s)), fill(DimShuffle((0, "x"))(x), s)),
    ("local_dimshuffle_of_multiple", DimShuffle((0, "x"))(s * p), s * DimShuffle((0, "x"))(p)),
    ("local_dimshuffle_of_multiple", DimShuffle((0, "x"))(-p), -DimShuffle((0, "x"))(p)),
    ("local_is_maximum", T.eq(p, T.maximum(p, q)), p >= q),
    ("local_is_minimum", T.eq(p, T.minimum(p, q)), p <= q),
    ("local_copy", identity(x), x),
    ("local_one_over", T.reciprocal(x), 1 / x),
    ("local_square_as_power", square(x), x**2.0),
    ("local_unguarded", T.clip(x, np.finfo("float64").min, np.finfo("float64").max), x),
    ("local_square_of_abs", square(abs(x)), x**2.0),
    ("local_guarded_root", T.switch(T.eq(x, 0), 0.0, T.sqrt(x)), T.sqrt(x)),
    ("local_chosen_once", T.switch(c, p, T.exp(T.switch(c, q, p)) / q), T.switch(c, p, T.exp(p) / q)),
    ("local_chosen_once", T.switch(c, T.sqrt(T.switch(c, q, p)), p), T.switch(c, T.sqrt(q), p)),
    (
        "local_chosen_once",
        T.switch(DimShuffle((0, "x"))(c), M, M * DimShuffle((0, "x"))(T.switch(c, q, p))),
        T.switch(DimShuffle((0, "x"))(c), M, M * DimShuffle((0, "x"))(p)),
    ),
    ("local_product_over_factor", product_of_others(p, folded), folded(mul, p) / p),
    ("local_product_over_factor", product_of_others(M, folded), folded(mul, M) / M),
    ("local_inverse_of_regular", T.linalg.inv(T.switch(singular, T.eye(3), M)), T.linalg.inv(M)),
    ("local_derivative_of_regular", T.switch(singular, M, s * T.linalg.inv(M).T), s * T.linalg.inv(M).T),
]

UNCHANGED = [
    ("local_product_over_factor", T.switch(T.isinf(p), 1.0, T.prod(p) / p)),
    ("local_inverse_of_regular", T.linalg.inv(T.switch(singular, T.eye(3), 2 * M))),
    ("local_derivative_of_regular", T.switch(singular, M, 2 * M)),
    ("local_guarded_root", T.switch(T.eq(x, 0), 1.0, T.sqrt(x))),
    ("local_chosen_once", T.switch(c, p, T.exp(T.switch(p > q, q, p)))),
    ("local_chosen_once", T.switch(c, p, T.sum(T.switch(c, q, p)) * p)),
    ("local_chosen_once", T.switch(c, M, M * DimShuffle((0, "x"))(T.switch(c, q, p)))),
    ("local_shortest_polynomial", x * y / x),  # y may be shorter than x
    ("local_shortest_polynomial", (p + q) * s),
    ("local_shortest_polynomial", p * q + s * q),  # as a person wrote it
    ("local_products_first", M @ q + p),
    ("local_mean", T.sum(M, axis=0) / 4),
    ("local_scalar_before_product", M @ (p * q)),
    ("local_is_maximum", T.eq(p, T.maximum(q, s))),
    ("local_number", T.exp(T.constant(np.ones(2)))),
]
