"""Classes of Theano's ops, for `isinstance(node.op, T.elemwise.Elemwise)`: each matches ops of the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....ops.core.namespace import classes
from ....ops.elementwise.pointwise import ElementwiseRecord
from ....ops.reductions.reduce import REDUCTIONS
from ..networks.abstract_convs import CALLED
from ..tensors.shapes import dimshuffle


class _Kind(type):
    """A class whose instances are ops of the core."""

    holds: Callable[[Any], bool]

    def __instancecheck__(cls, op: Any) -> bool:
        return bool(cls.holds(op))


def _of(classes: Any, only: Callable[[Any], bool] = lambda op: True) -> Callable[[Any], bool]:
    return lambda op: isinstance(op, classes) and only(op)


def _folds(*names: str) -> Callable[[Any], bool]:
    """Reductions of these names."""
    return _of(classes.Reduce, lambda op: any(op.scalar is REDUCTIONS[name] for name in names))


RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "Elemwise": (_of((ElementwiseRecord, classes.Pointwise, classes.Cast)), "the functions of theano.tensor"),
    "CAReduce": (_of(classes.Reduce), "T.sum, T.max, ..."), "Sum": (_folds("sum"), "T.sum"),
    "Prod": (_folds("prod"), "T.prod"),
    "All": (_folds("all"), "T.all"), "Any": (_folds("any"), "T.any"), "Max": (_folds("max"), "T.max"),
    "MaxAndArgmax": (_of((classes.ArgReduce,)), "T.max_and_argmax"), "Argmax": (_of(classes.ArgReduce), "T.argmax"),
    "Dot": (_of((classes.Dot, classes.MatMul)), "T.dot"), "Reshape": (_of(classes.Reshape), "T.reshape"),
    "Subtensor": (_of(classes.Subtensor), "x[...]"), "IncSubtensor": (_of(classes.IncSubtensor), "T.inc_subtensor"),
    **dict.fromkeys(("AdvancedSubtensor", "AdvancedSubtensor1", "AdvancedBooleanSubtensor", "BaseAdvancedSubtensor"),
                    (_of(classes.AdvancedSubtensor), "x[...]")),
    **dict.fromkeys(("AdvancedIncSubtensor", "AdvancedIncSubtensor1", "AdvancedBooleanIncSubtensor",
                     "BaseAdvancedIncSubtensor"), (_of(classes.AdvancedIncSubtensor), "T.inc_subtensor")),
    "Alloc": (_of(classes.Alloc), "T.alloc"), "AllocEmpty": (_of(classes.Alloc),
    "T.alloc"), "ARange": (_of(classes.Arange), "T.arange"),
    "Eye": (_of(classes.Eye), "T.eye"), "Join": (_of(classes.Join), "T.join"), "Shape": (_of(classes.Shape), "x.shape"),
    "Shape_i": (_of(classes.ShapeI), "x.shape[i]"), "SpecifyShape": (_of(classes.SpecifyShape), "T.specify_shape"),
    "Nonzero": (_of(classes.Nonzero), "T.nonzero"), "ExtractDiag": (_of(classes.Diagonal), "T.diagonal"),
    "AllocDiag": (_of(classes.DiagonalMatrix), "T.diag"), "Softmax": (_of(classes.Softmax), "T.nnet.softmax"),
    "LogSoftmax": (_of(classes.LogSoftmax), "T.nnet.logsoftmax"), "Scan": (_of(classes.Scan), "theano.scan"),
    "IfElse": (_of(classes.Cond), "theano.ifelse.ifelse"), "MakeVector": (_of(classes.MakeVector), "T.stack"),
    "Pool": (_of((classes.MaxPool, classes.SumPool)), "pool_2d"),
    "CumOp": (_of(classes.Cumulative), "T.extra_ops.cumsum"),
    **dict.fromkeys(("ConvOp", "BaseAbstractConv"), (_of(classes.Convolution), "conv2d")),
    "MatrixInverse": (_of(classes.Inverse), "T.nlinalg.matrix_inverse"), "Det": (_of(classes.Det), "T.nlinalg.det"),
    "Solve": (_of((classes.Solve, classes.SolveTriangular)), "T.slinalg.solve"),
    "Cholesky": (_of(classes.Cholesky), "T.slinalg.cholesky"),
    "Mean": (lambda op: False, "T.mean"), "Flatten": (_of(classes.Reshape), "x.flatten()"),
    "Tile": (lambda op: False, "T.tile"),
    "Split": (lambda op: False, "T.split"), "Rebroadcast": (_of(classes.SpecifyShape), "T.patternbroadcast"),
    "Choose": (lambda op: False, "T.choose"), "Tri": (_of(classes.Triangle),
    "T.tri"), "DiffOp": (lambda op: False, "T.diff"),
    "PermuteRowElements": (lambda op: False, "T.permute_row_elements"),
}  # fmt: skip
"""Name -> (whether an op of the core is one, the function that makes it)."""


def _kind(name: str, holds: Callable[[Any], bool], function: str) -> Any:
    def refuse(cls: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name} is not called to make an op; use {function}")

    return _Kind(name, (), {"__new__": refuse, "holds": staticmethod(holds), "__doc__": f"Ops that {function} makes."})


class DimShuffle(metaclass=_Kind):
    """Rearranged axes: `DimShuffle(pattern, order)(x)`."""

    holds = staticmethod(_of(classes.DimShuffle))

    def __new__(cls, input_broadcastable: Any, new_order: Any, inplace: bool = True) -> Any:
        return lambda x: dimshuffle(x, *new_order)


class AbstractConv2d(metaclass=_Kind):
    """Convolutions of images, or such a convolution made of its arguments."""

    holds = staticmethod(_of(classes.Convolution))

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return CALLED["AbstractConv2d"](*args, **kwargs)


class AbstractConv3d(metaclass=_Kind):
    """Convolutions of volumes, or such a convolution made of its arguments."""

    holds = staticmethod(_of(classes.Convolution))

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return CALLED["AbstractConv3d"](*args, **kwargs)


KINDS = {
    "AbstractConv2d": AbstractConv2d, "AbstractConv3d": AbstractConv3d, "DimShuffle": DimShuffle,
    **{name: _kind(name, *rule) for name, rule in RULES.items()},
}  # fmt: skip
