"""The vocabulary: everything that builds an expression, under NumPy's names.  Users write `from arignote import ops as T`."""

from .blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from .lengths import lengths_of
from .products import dot, inner, matmul, outer, tensordot, vdot
from .shape import (
    BroadcastTo,
    DimShuffle,
    MakeVector,
    Reshape,
    Shape,
    ShapeI,
    broadcast_to,
    dim_to_tensor,
    dimshuffle,
    expand_dims,
    flatten,
    moveaxis,
    ravel,
    reshape,
    shape,
    squeeze,
    swapaxes,
    tensor_to_dim,
    transpose,
)
from .tensor import TensorConstant, TensorOp, TensorVariable, as_tensor, constant

__all__ = ["TensorConstant", "TensorOp", "TensorVariable", "as_tensor", "constant"]
__all__ += ["MakeVector", "Shape", "ShapeI", "dim_to_tensor", "lengths_of", "shape", "tensor_to_dim"]
__all__ += ["BroadcastTo", "DimShuffle", "Reshape", "broadcast_to", "dimshuffle", "expand_dims", "flatten", "moveaxis"]
__all__ += ["Dot", "Dot22", "Dot22Scalar", "Gemm", "Gemv", "Ger", "MatMul"]
__all__ += ["dot", "inner", "matmul", "outer", "tensordot", "vdot"]
__all__ += ["ravel", "reshape", "squeeze", "swapaxes", "transpose"]
