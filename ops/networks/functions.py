"""Networks: the softmax family, activations, losses.  `T.nn` for users.

The ops of the softmax family subtract the maximum before `exp`, so no finite input overflows; float16 is computed in
float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...record import record
from ..control.batching import along_next_axis
from ..core.checks import describe, normalize_axes, require_count, require_keepdims, shown
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorOp, TensorVariable, as_tensor
from ..core.typing import DTypeLike, LengthLike, TensorLike
from ..elementwise import costs
from ..elementwise.functions import relu
from ..elementwise.records import sigmoid, stop_gradient, tanh
from ..random.draw_parameters import probability
from ..shapes.creation import arange
from ..shapes.getitem import take_along_axis
from ..shapes.lengths import ShapeI, lengths_of
from ..shapes.shape import DimShuffle, axes_made_one, expand_dims, reshape, squeeze
from ..writing import code
from .phases import by_phase

__all__ = [
    "binary_crossentropy", "categorical_crossentropy", "dropout", "elu", "gelu", "leaky_relu", "log_softmax",
    "logsumexp", "one_hot", "relu", "sigmoid", "sigmoid_crossentropy", "silu", "softmax", "softmax_crossentropy",
    "stop_gradient", "tanh",
]  # fmt: skip


@record(repr=False)
class AlongAxis(TensorOp):
    """The base of the ops that look at all elements along one axis of a floating-point tensor."""

    axis: int
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = along_next_axis

    def check(self, inputs: tuple[Variable, ...]) -> Variable:
        """The only input.  Raises TypeError if it is no float, ValueError if it lacks the axis."""
        require_count(self.name, inputs, 1)
        (x,) = inputs
        if x.type.kind != "f":
            raise TypeError(f"{self.name} takes a floating-point tensor, got {describe(x)}")
        if not 0 <= self.axis < x.ndim:
            raise ValueError(f"{self.name}: {describe(x)} has no axis {self.axis}")
        return x

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (self.check(inputs).type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (x,) = values
        with np.errstate(all="ignore"):
            return (np.asarray(self.meaning(x.astype(np.result_type(x, np.float32)))).astype(x.dtype, copy=False),)

    def meaning(self, x: np.ndarray) -> np.ndarray:
        """The value for an array of float32 or float64."""
        raise NotImplementedError

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)


def _top(x: np.ndarray, axis: int, finite: bool) -> np.ndarray:
    """Return the maximum along `axis`, which is kept; `finite`: the largest finite number in place of infinity."""
    largest, top = np.finfo(x.dtype).max, x.max(axis=axis, keepdims=True, initial=-np.inf)
    return np.asarray(np.clip(top, -largest, largest) if finite else top)


@record(repr=False)
class Normalizing(AlongAxis):
    """The base of softmax and log_softmax: functions of x - top and of the sum of exp(x - top), top = max(x).

    A row that holds inf is NaN: its top is inf, and inf - inf is NaN.  `literal`: the op stands for a formula without
    the top, as exp(x) / sum(exp(x)), which is NaN at inf alone, and 0 (its logarithm -inf) beside it.
    """

    literal: bool = False

    def parameters(self) -> dict[str, Any]:
        """The axis, and `literal` if it is true."""
        return super().parameters() if self.literal else {"axis": self.axis}

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`softmax(x, axis=1)`."""
        assert output.owner is not None
        if self.literal:
            return code.of_class(self, output, speaker)
        return code.spelled(self, output, speaker)


@record(repr=False)
class Softmax(Normalizing):
    """exp(x - top) / sum(exp(x - top)) along `axis`, top = max(x); NaN where top is NaN or infinite."""

    name = "softmax"
    spelling = "softmax"

    def meaning(self, x: np.ndarray) -> np.ndarray:
        e = np.exp(x - _top(x, self.axis, finite=self.literal))
        return np.asarray(e / e.sum(axis=self.axis, keepdims=True))

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        if g is None:
            return [None]
        # In this form g = k / y, which a logarithm above sends back, cancels against y.
        scaled = T.mul(g, node.out)
        return [T.sub(scaled, T.mul(node.out, T.sum(scaled, axis=self.axis, keepdims=True)))]


@record(repr=False)
class LogSoftmax(Normalizing):
    """x - top - log(sum(exp(x - top))) along `axis`, top = max(x); NaN where top is NaN or infinite."""

    name = "log_softmax"
    spelling = "log_softmax"

    def meaning(self, x: np.ndarray) -> np.ndarray:
        z = x - _top(x, self.axis, finite=self.literal)
        return np.asarray(z - np.log(np.exp(z).sum(axis=self.axis, keepdims=True)))

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        if g is None:
            return [None]
        return [T.sub(g, T.mul(T.exp(node.out), T.sum(g, axis=self.axis, keepdims=True)))]


@record(repr=False)
class LogSumExp(AlongAxis):
    """log(sum(exp(x))) along `axis`, which is reduced: -inf where all elements are -inf (or none are), inf for inf."""

    name = "logsumexp"
    spelling = "logsumexp"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x = self.check(inputs)
        return (x.type.with_shape(x.type.shape[: self.axis] + x.type.shape[self.axis + 1 :]),)

    def meaning(self, x: np.ndarray) -> np.ndarray:
        top = _top(x, self.axis, finite=True)
        return np.asarray(np.log(np.exp(x - top).sum(axis=self.axis)) + np.squeeze(top, self.axis))

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0][: self.axis] + inputs[0][self.axis + 1 :],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (x,) = cotangents, node.inputs
        if g is None:
            return [None]
        level = T.maximum(node.out, T.constant(np.finfo(x.dtype).min, x.dtype))  # shares of a row of -inf are 0
        return [T.mul(expand_dims(g, self.axis), T.exp(T.sub(x, expand_dims(level, self.axis))))]


# --- the functions of the softmax family


def _as_float(x: Any) -> TensorVariable:
    """`x` as a tensor; booleans and integers as float64."""
    x = as_tensor(x)
    return x if x.type.kind in "fc" else with_dtype(x, "float64")


def _floats(name: str, x: Any, **parameters: Any) -> TensorVariable:
    """`x` as a tensor of floats.  Raises TypeError for a parameter that is a bool, such as PyTorch's `inplace`."""
    for role, value in parameters.items():
        if isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name}: {role} is {value}; expected a number, for tensors are values: leave inplace out")
    return _as_float(x)


def softmax(x: TensorLike, axis: int | Sequence[int] | None = -1) -> TensorVariable:
    """exp(x) / sum(exp(x)) along `axis` (several, or all for None): positive numbers whose sum is 1.

    NaN where an element of the row is NaN or inf, and where all are -inf (so is a row that a mask hides whole).
    """
    return _merging_axes("softmax", Softmax, _as_float(x), axis)


def log_softmax(x: TensorLike, axis: int | Sequence[int] | None = -1) -> TensorVariable:
    """The logarithm of `softmax(x, axis)`, exact also where the softmax is 0 to working precision.

    NaN where the softmax is.
    """
    return _merging_axes("log_softmax", LogSoftmax, _as_float(x), axis)


def _merging_axes(what: str, kind: type[AlongAxis], x: Any, axis: Any) -> TensorVariable:
    """Return the op along one axis; several axes are merged into the last one and restored afterwards."""
    axes = tuple(range(x.ndim)) if axis is None else tuple(sorted(normalize_axes(axis, x.ndim, what)))
    if len(axes) == 1:
        return kind(axes[0])(x)
    kept = [k for k in range(x.ndim) if k not in axes]
    order, own = [*kept, *axes], lengths_of(x)
    result = reshape(kind(len(kept))(axes_made_one(x, axes)), [own[k] for k in order])
    return result if order == sorted(order) else DimShuffle(tuple(map(order.index, range(x.ndim))))(result)


def logsumexp(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> TensorVariable:
    """log(sum(exp(x))) along `axis` (several, or all for None), without overflow.

    NaN where an element of the row is NaN, else inf where one is inf, and -inf where all are -inf or there are none.
    """
    require_keepdims(keepdims, "logsumexp")
    x = _as_float(x)
    axes = tuple(range(x.ndim)) if axis is None else tuple(sorted(normalize_axes(axis, x.ndim, "logsumexp")))
    if len(axes) == 1:
        result = LogSumExp(axes[0])(x)
    else:  # as one axis, the last
        result = LogSumExp(x.ndim - len(axes))(axes_made_one(x, axes))
    return expand_dims(result, axes) if keepdims else result


# --- activations


def gelu(x: TensorLike, approximate: str = "none") -> TensorVariable:
    """x times the normal distribution function of x, by `erfc`, which does not cancel for negative x.

    With `approximate="tanh"` it is x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.  Raises ValueError for another
    name.  Source: D. Hendrycks and K. Gimpel, "Gaussian error linear units", 2016.
    """
    x = _as_float(x)
    if approximate == "tanh":
        inner = T.mul(math.sqrt(2 / math.pi), T.add(x, T.mul(0.044715, T.mul(x, T.mul(x, x)))))
        return T.mul(T.mul(0.5, x), T.add(1, T.tanh(inner)))
    if approximate != "none":
        raise ValueError(f'gelu: approximate must be "none" or "tanh", got {shown(approximate)}')
    return T.mul(T.mul(0.5, x), T.erfc(T.mul(x, -1 / math.sqrt(2))))


def silu(x: TensorLike) -> TensorVariable:
    """x * sigmoid(x)."""
    x = _as_float(x)
    return T.mul(x, T.sigmoid(x))


def leaky_relu(x: TensorLike, slope: TensorLike = 0.01) -> TensorVariable:
    """x where it is positive, else `slope` * x."""
    x = _floats("leaky_relu", x, slope=slope)
    return T.switch(T.gt(x, 0), x, T.mul(slope, x))


def elu(x: TensorLike, alpha: TensorLike = 1.0) -> TensorVariable:
    """x where it is positive, else `alpha` * (exp(x) - 1)."""
    x = _floats("elu", x, alpha=alpha)
    # The minimum keeps the branch that is not taken finite, so that its derivative is not 0 * inf.
    return T.switch(T.gt(x, 0), x, T.mul(alpha, T.expm1(T.minimum(x, 0))))


# --- losses: one value an example; take the mean of it


def dropout(x: TensorLike, p: TensorLike, rng: Any) -> TensorVariable:
    """`x` with each element set to 0 with probability `p`, and the others divided by 1 - p.

    `rng`: a `T.random.RandomStream`.  Other elements are set at every call of a function.  In the function that
    `ag.freeze` makes it is `x`.  Source: N. Srivastava and others, "Dropout", 2014.
    """
    x = _as_float(x)
    if not isinstance(rng, T.random.RandomStream):
        raise TypeError(f"dropout: rng is {shown(rng)}; expected a stream, as T.random.RandomStream(seed)")
    keep = with_dtype(T.sub(1, probability("dropout", p)), x.dtype)
    dropped = T.switch(rng.bernoulli(keep, size=lengths_of(x)), x / keep, T.constant(0, x.dtype))
    return by_phase(dropped, x)


def one_hot(labels: TensorLike, classes: LengthLike | None = None, dtype: DTypeLike = "float64") -> TensorVariable:
    """1 where the new last axis, of length `classes`, is at the label, else 0; zeros for a label out of range.

    Without `classes`, or with PyTorch's -1, the length is the largest label and 1, which only a run knows.  Then the
    labels must be integers, TypeError else, and a run raises ValueError if there are none.
    """
    labels = as_tensor(labels)
    if classes is None or (isinstance(classes, int) and classes == -1):
        if labels.type.kind not in "iu":
            raise TypeError(f"one_hot: without classes labels must be integers, got {describe(labels)}")
        classes = T.maximum(T.add(T.max(with_dtype(labels, "int64")), 1), 0)
    return T.cast(T.eq(expand_dims(labels, labels.ndim), arange(classes)), dtype)


def categorical_crossentropy(probabilities: TensorLike, targets: TensorLike) -> TensorVariable:
    """-log of the probability of the target, for each example; the classes are the last axis of `probabilities`.

    `targets`: integer labels, of one rank less, or a distribution over the classes, of the same rank.  Raises
    TypeError for other ranks, IndexError at run time for a label out of range.  For probabilities that are a softmax
    see `softmax_crossentropy`.
    """
    p = _as_float(probabilities)
    return _crossentropy("categorical_crossentropy", p, T.log(p), as_tensor(targets))


def softmax_crossentropy(logits: TensorLike, targets: TensorLike) -> TensorVariable:
    """`categorical_crossentropy(softmax(logits), targets)`, exact also where a probability underflows."""
    logits = _as_float(logits)
    return _crossentropy("softmax_crossentropy", logits, log_softmax(logits), as_tensor(targets))


def _crossentropy(name: str, given: Variable, logs: Variable, targets: Variable) -> TensorVariable:
    if targets.ndim == logs.ndim:
        return T.neg(T.sum(T.mul(_target(targets, logs), logs), axis=-1))
    if targets.ndim != logs.ndim - 1 or targets.type.kind not in "iu":
        raise TypeError(
            f"{name}: targets must be integer labels of rank {logs.ndim - 1} or a distribution of rank {logs.ndim} "
            f"for {describe(given)}, got {describe(targets)}"
        )
    return T.neg(_picked(logs, targets))


def _picked(x: Any, labels: Variable) -> Any:
    """Return the element of the last axis of `x` at each label."""
    if x.ndim == 1:
        return x[labels]
    if x.ndim == 2:
        return x[arange(ShapeI(0)(x)), labels]
    return squeeze(take_along_axis(x, expand_dims(labels, labels.ndim), -1), -1)


def binary_crossentropy(probabilities: TensorLike, targets: TensorLike) -> TensorVariable:
    """-(t log(p) + (1 - t) log(1 - p)), elementwise, for probabilities p and targets t between 0 and 1.

    It is NaN where p is 0 or 1 exactly and t the same; for a p that is a sigmoid see `sigmoid_crossentropy`.
    """
    p = _as_float(probabilities)
    t = _target(targets, p)
    return T.neg(T.add(T.mul(t, T.log(p)), T.mul(T.sub(1, t), T.log1p(T.neg(p)))))


def sigmoid_crossentropy(logits: TensorLike, targets: TensorLike) -> TensorVariable:
    """`binary_crossentropy(sigmoid(logits), targets)`, exact for all logits: softplus(x) - t x."""
    x = _as_float(logits)
    return T.sub(T.softplus(x), T.mul(_target(targets, x), x))


def _target(targets: Any, p: Variable) -> TensorVariable:
    """The targets; integers and booleans in the dtype of `p`, so that float32 stays float32."""
    t = as_tensor(targets)
    return with_dtype(t, p.dtype) if t.type.kind in "biu" else t
