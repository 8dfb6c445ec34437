"""Products of matrices, einsum, determinants."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import rounded_into
from .elementwise import like


@converter("MatMul")
def matmul(node: Node, a: Any, b: Any) -> Any:
    return T.matmul(a, b)


@converter("Gemm")
def gemm(node: Node, a: Any, b: Any, c: Any = None) -> Any:
    a = T.transpose(a) if node.attr("transA", 0) else a
    b = T.transpose(b) if node.attr("transB", 0) else b
    alpha, beta = node.attr("alpha", 1.0), node.attr("beta", 1.0)
    if a.type.kind in "iu" and not (alpha.is_integer() and beta.is_integer()):
        wide = [None if v is None else T.cast(v, "float64") for v in (a, b, c)]
        return rounded_into(_sum_of_products(wide[0], wide[1], wide[2], alpha, beta), a.dtype)
    return _sum_of_products(a, b, c, alpha, beta)


def _sum_of_products(a: Any, b: Any, c: Any, alpha: float, beta: float) -> Any:
    y = T.dot(a, b) if alpha == 1.0 else T.dot(a, b) * like(alpha, a)
    if c is None or beta == 0.0:
        return y
    return y + (c if beta == 1.0 else c * like(beta, c))


converter("Einsum")(lambda node, *operands: T.einsum(node.need("equation").replace(" ", ""), *operands))
converter("Det")(lambda node, x: T.linalg.det(x))
