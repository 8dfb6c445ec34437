"""Products of matrices, einsum, determinants."""

from __future__ import annotations

from typing import Any

from ... import ops as T
from .convert_elementwise import like
from .node import Node
from .table import converter


@converter("MatMul")
def matmul(node: Node, a: Any, b: Any) -> Any:
    return T.matmul(a, b)


@converter("Gemm")
def gemm(node: Node, a: Any, b: Any, c: Any = None) -> Any:
    a = T.transpose(a) if node.attr("transA", 0) else a
    b = T.transpose(b) if node.attr("transB", 0) else b
    alpha, beta = node.attr("alpha", 1.0), node.attr("beta", 1.0)
    y = T.dot(a, b) if alpha == 1.0 else T.dot(a, b) * like(alpha, a)
    if c is None or beta == 0.0:
        return y
    return y + (c if beta == 1.0 else c * like(beta, c))


@converter("Einsum")
def einsum(node: Node, *operands: Any) -> Any:
    return T.einsum(node.need("equation").replace(" ", ""), *operands)


@converter("Det")
def det(node: Node, x: Any) -> Any:
    return T.linalg.det(x)
