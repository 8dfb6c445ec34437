"""Convolutions that are something simpler."""

from __future__ import annotations

import math

from ...ops.blas import BLAS_DTYPES, MatMul
from ...ops.convolution import Convolution
from ...ops.elementwise import mul
from ...ops.lengths import lengths_of
from ...ops.shape import DimShuffle, reshape
from ...ops.tensor import constant
from ..contract import relaxes
from ..rule import Rule, node_rule
from .facts import Node, Value


def of_one_position(node: Node) -> Value | None:
    """Kernels of one position at every position of x: a product of matrices for each image."""
    op, (x, w) = node.op, node.inputs
    kernel = w.type.shape[2:]
    if op.groups != 1 or max(op.stride) != 1 or set(kernel) != {1} or node.out.dtype not in BLAS_DTYPES:
        return None
    images, channels, *lengths = lengths_of(x)
    known = x.type.shape[2:]
    positions = mul(*lengths) if len(lengths) > 1 else lengths[0]
    if None not in known:
        positions = constant(math.prod(n or 0 for n in known), "int64")
    product = MatMul()(DimShuffle((0, 1))(w), reshape(x, (images, channels, positions)))
    return reshape(product, (images, lengths_of(w)[0], *lengths))


CONVOLUTIONS: list[Rule] = [
    node_rule("local_convolution_to_matmul", Convolution, of_one_position, contract=relaxes("rounding"),
              formula="convolution(x, w) -> reshape(w @ reshape(x))  for kernels of one position"),
]  # fmt: skip
