"""Classes of Theano's ops, for `isinstance(node.op, T.elemwise.Elemwise)`: each matches ops of the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import ops as T
from ...ops.elementwise.pointwise import ElementwiseRecord
from ...ops.reductions.reduce import REDUCTIONS
from .abstract_convs import CALLED
from .shapes import dimshuffle


class _Kind(type):
    """A class whose instances are ops of the core."""

    holds: Callable[[Any], bool]

    def __instancecheck__(cls, op: Any) -> bool:
        return bool(cls.holds(op))


def _of(classes: Any, only: Callable[[Any], bool] = lambda op: True) -> Callable[[Any], bool]:
    return lambda op: isinstance(op, classes) and only(op)


def _folds(*names: str) -> Callable[[Any], bool]:
    """Reductions of these names."""
    return _of(T.Reduce, lambda op: any(op.scalar is REDUCTIONS[name] for name in names))


RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "Elemwise": (_of((ElementwiseRecord, T.Pointwise, T.Cast)), "the functions of theano.tensor"),
    "CAReduce": (_of(T.Reduce), "T.sum, T.max, ..."), "Sum": (_folds("sum"), "T.sum"),
    "Prod": (_folds("prod"), "T.prod"),
    "All": (_folds("all"), "T.all"), "Any": (_folds("any"), "T.any"), "Max": (_folds("max"), "T.max"),
    "MaxAndArgmax": (_of((T.ArgReduce,)), "T.max_and_argmax"), "Argmax": (_of(T.ArgReduce), "T.argmax"),
    "Dot": (_of((T.Dot, T.MatMul)), "T.dot"), "Reshape": (_of(T.Reshape), "T.reshape"),
    "Subtensor": (_of(T.Subtensor), "x[...]"), "IncSubtensor": (_of(T.IncSubtensor), "T.inc_subtensor"),
    **dict.fromkeys(("AdvancedSubtensor", "AdvancedSubtensor1", "AdvancedBooleanSubtensor", "BaseAdvancedSubtensor"),
                    (_of(T.AdvancedSubtensor), "x[...]")),
    **dict.fromkeys(("AdvancedIncSubtensor", "AdvancedIncSubtensor1", "AdvancedBooleanIncSubtensor",
                     "BaseAdvancedIncSubtensor"), (_of(T.AdvancedIncSubtensor), "T.inc_subtensor")),
    "Alloc": (_of(T.Alloc), "T.alloc"), "AllocEmpty": (_of(T.Alloc), "T.alloc"), "ARange": (_of(T.Arange), "T.arange"),
    "Eye": (_of(T.Eye), "T.eye"), "Join": (_of(T.Join), "T.join"), "Shape": (_of(T.Shape), "x.shape"),
    "Shape_i": (_of(T.ShapeI), "x.shape[i]"), "SpecifyShape": (_of(T.SpecifyShape), "T.specify_shape"),
    "Nonzero": (_of(T.Nonzero), "T.nonzero"), "ExtractDiag": (_of(T.Diagonal), "T.diagonal"),
    "AllocDiag": (_of(T.DiagonalMatrix), "T.diag"), "Softmax": (_of(T.Softmax), "T.nnet.softmax"),
    "LogSoftmax": (_of(T.LogSoftmax), "T.nnet.logsoftmax"), "Scan": (_of(T.Scan), "theano.scan"),
    "IfElse": (_of(T.Cond), "theano.ifelse.ifelse"), "MakeVector": (_of(T.MakeVector), "T.stack"),
    "Pool": (_of((T.MaxPool, T.SumPool)), "pool_2d"), "CumOp": (_of(T.Cumulative), "T.extra_ops.cumsum"),
    **dict.fromkeys(("ConvOp", "BaseAbstractConv"), (_of(T.Convolution), "conv2d")),
    "MatrixInverse": (_of(T.Inverse), "T.nlinalg.matrix_inverse"), "Det": (_of(T.Det), "T.nlinalg.det"),
    "Solve": (_of((T.Solve, T.SolveTriangular)), "T.slinalg.solve"),
    "Cholesky": (_of(T.Cholesky), "T.slinalg.cholesky"),
    "Mean": (lambda op: False, "T.mean"), "Flatten": (_of(T.Reshape), "x.flatten()"),
    "Tile": (lambda op: False, "T.tile"),
    "Split": (lambda op: False, "T.split"), "Rebroadcast": (_of(T.SpecifyShape), "T.patternbroadcast"),
    "Choose": (lambda op: False, "T.choose"), "Tri": (_of(T.Triangle), "T.tri"), "DiffOp": (lambda op: False, "T.diff"),
    "PermuteRowElements": (lambda op: False, "T.permute_row_elements"),
}  # fmt: skip
"""Name -> (whether an op of the core is one, the function that makes it)."""


def _kind(name: str, holds: Callable[[Any], bool], function: str) -> Any:
    def refuse(cls: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name} is not called to make an op; use {function}")

    return _Kind(name, (), {"__new__": refuse, "holds": staticmethod(holds), "__doc__": f"Ops that {function} makes."})


class DimShuffle(metaclass=_Kind):
    """Rearranged axes: `DimShuffle(pattern, order)(x)`."""

    holds = staticmethod(_of(T.DimShuffle))

    def __new__(cls, input_broadcastable: Any, new_order: Any, inplace: bool = True) -> Any:
        return lambda x: dimshuffle(x, *new_order)


class AbstractConv2d(metaclass=_Kind):
    """Convolutions of images, or such a convolution made of its arguments."""

    holds = staticmethod(_of(T.Convolution))

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return CALLED["AbstractConv2d"](*args, **kwargs)


class AbstractConv3d(metaclass=_Kind):
    """Convolutions of volumes, or such a convolution made of its arguments."""

    holds = staticmethod(_of(T.Convolution))

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return CALLED["AbstractConv3d"](*args, **kwargs)


KINDS = {
    "AbstractConv2d": AbstractConv2d, "AbstractConv3d": AbstractConv3d, "DimShuffle": DimShuffle,
    **{name: _kind(name, *rule) for name, rule in RULES.items()},
}  # fmt: skip
