"""The vocabulary: everything that builds an expression, under NumPy's names.  Users write `from arignote import ops as T`."""

from .tensor import TensorConstant, TensorOp, TensorVariable, as_tensor, constant

__all__ = ["TensorConstant", "TensorOp", "TensorVariable", "as_tensor", "constant"]
