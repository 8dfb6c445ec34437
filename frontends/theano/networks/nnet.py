"""`theano.tensor.nnet`: activations, losses, normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import ops as T
from ..tensors.dtypes import DISCRETE
from ..tensors.elementwise import FUNCTIONS, cast
from ..tensors.shapes import dimshuffle
from ..tensors.variables import as_tensor_variable, constant, wrap

sigmoid, softplus = FUNCTIONS["sigmoid"], FUNCTIONS["softplus"]
NNET: dict[str, Callable[..., Any]] = {"sigmoid": sigmoid, "softplus": softplus}


def _registered(function: Callable[..., Any]) -> Callable[..., Any]:
    NNET[function.__name__] = function
    return function


def _constant_like(value: float, like: Any) -> Any:
    """A constant in the dtype of a tensor of floats."""
    return constant(value, dtype=like.dtype) if like.dtype not in DISCRETE else constant(value)


def _real(x: Any) -> Any:
    """A tensor of floats; integers come to floatX."""
    x = as_tensor_variable(x)
    return cast(x, "floatX") if x.dtype in DISCRETE else x


@_registered
def ultra_fast_sigmoid(x: Any) -> Any:
    """The sigmoid by rational pieces; its error is below 0.0017."""
    x = _real(x)
    one, half = _constant_like(1.0, x), _constant_like(0.5, x)
    z = abs(half * x)
    small = _constant_like(1.5, x) * z / (one + z)
    middle = _constant_like(0.935409070603099, x) + _constant_like(0.0458812946797165, x) * (z - _constant_like(1.7, x))
    top = FUNCTIONS["switch"](FUNCTIONS["lt"](z, 3), middle, _constant_like(0.99505475368673, x))
    found = FUNCTIONS["switch"](FUNCTIONS["lt"](z, 1.7), small, top)
    return half * (FUNCTIONS["sgn"](x) * found + one)


@_registered
def hard_sigmoid(x: Any) -> Any:
    """The sigmoid by three straight lines: clip(0.2 x + 0.5, 0, 1)."""
    x = _real(x)
    line = x * _constant_like(0.2, x) + _constant_like(0.5, x)
    return FUNCTIONS["clip"](line, _constant_like(0.0, x), _constant_like(1.0, x))


def _rows(x: Any) -> Any:
    """A matrix; a vector is its only row."""
    x = _real(x)
    if x.ndim not in (1, 2):
        raise TypeError(f"expected a vector or a matrix, got {x} of type {x.type}; reshape it")
    return dimshuffle(x, "x", 0) if x.ndim == 1 else x


@_registered
def softmax(c: Any) -> Any:
    """The softmax of each row; a vector is a matrix of one row."""
    x = _rows(c)
    return wrap(T.softmax(x.core, 1), x)


@_registered
def logsoftmax(c: Any) -> Any:
    """The logarithm of the softmax of each row."""
    x = _rows(c)
    return wrap(T.log_softmax(x.core, 1), x)


@_registered
def softmax_with_bias(x: Any, b: Any) -> Any:
    """The softmax of each row plus a bias."""
    return softmax(as_tensor_variable(x) + b)


@_registered
def softsign(x: Any) -> Any:
    """x / (1 + |x|)."""
    x = _real(x)
    return x / (_constant_like(1.0, x) + abs(x))


@_registered
def relu(x: Any, alpha: Any = 0) -> Any:
    """max(x, alpha x) for `alpha` of at most 1; the derivative at 0 is the mean of both sides."""
    if isinstance(alpha, (int, float)) and alpha == 0:
        return 0.5 * (x + abs(x))  # of an array an array
    return 0.5 * (1 + alpha) * x + 0.5 * (1 - alpha) * abs(x)


@_registered
def elu(x: Any, alpha: Any = 1) -> Any:
    """x, or alpha (exp x - 1) below zero."""
    x = as_tensor_variable(x)
    return FUNCTIONS["switch"](FUNCTIONS["gt"](x, 0), x, as_tensor_variable(alpha) * FUNCTIONS["expm1"](x))


@_registered
def selu(x: Any) -> Any:
    """The scaled ELU that normalizes itself."""
    x = _real(x)
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return _constant_like(scale, x) * elu(x, _constant_like(alpha, x))


@_registered
def binary_crossentropy(output: Any, target: Any) -> Any:
    """-(t log p + (1 - t) log(1 - p)), elementwise."""
    p, t = as_tensor_variable(output), as_tensor_variable(target)
    log = FUNCTIONS["log"]
    return -(t * log(p) + (1.0 - t) * log(1.0 - p))


@_registered
def sigmoid_binary_crossentropy(output: Any, target: Any) -> Any:
    """`binary_crossentropy(sigmoid(output), target)`, exact for all numbers."""
    x, t = as_tensor_variable(output), as_tensor_variable(target)
    return softplus(x) - x * t


@_registered
def categorical_crossentropy(coding_dist: Any, true_dist: Any) -> Any:
    """-log of the probability of the target, for each row: targets are labels, or distributions of the same rank."""
    p, t = as_tensor_variable(coding_dist), as_tensor_variable(true_dist)
    if t.ndim == p.ndim:
        return -FUNCTIONS["sum"](t * FUNCTIONS["log"](p), axis=p.ndim - 1)
    if t.ndim != p.ndim - 1:
        raise TypeError(f"categorical_crossentropy: the targets are {t.type} for probabilities {p.type}; expected rank "
                        f"{p.ndim - 1} (labels) or {p.ndim} (distributions)")  # fmt: skip
    return wrap(T.categorical_crossentropy(p.core, t.core), p, t)


crossentropy_categorical_1hot = categorical_crossentropy
NNET["crossentropy_categorical_1hot"] = categorical_crossentropy


@_registered
def crossentropy_softmax_1hot(x: Any, y_idx: Any, **options: Any) -> list[Any]:
    """The losses of labels for logits, and the softmax."""
    x, y = _rows(x), as_tensor_variable(y_idx)
    return [wrap(T.softmax_crossentropy(x.core, y.core), x, y), softmax(x)]


@_registered
def crossentropy_softmax_1hot_with_bias(x: Any, b: Any, y_idx: Any, **options: Any) -> Any:
    """The same with a bias."""
    return crossentropy_softmax_1hot(as_tensor_variable(x) + b, y_idx)


@_registered
def crossentropy_softmax_argmax_1hot_with_bias(x: Any, b: Any, y_idx: Any, **options: Any) -> list[Any]:
    """The losses, the softmax and the most probable labels."""
    total = as_tensor_variable(x) + b
    return [*crossentropy_softmax_1hot(total, y_idx), FUNCTIONS["argmax"](total, axis=-1)]


@_registered
def crossentropy_softmax_max_and_argmax_1hot_with_bias(x: Any, b: Any, y_idx: Any, **options: Any) -> list[Any]:
    """The losses, the softmax, the largest probability of each row and its label."""
    losses, p, label = crossentropy_softmax_argmax_1hot_with_bias(x, b, y_idx)
    return [losses, p, FUNCTIONS["max"](p, axis=-1), label]


@_registered
def crossentropy_softmax_max_and_argmax_1hot(x: Any, y_idx: Any, **options: Any) -> Any:
    """The same without bias."""
    return crossentropy_softmax_max_and_argmax_1hot_with_bias(x, 0, y_idx)


@_registered
def confusion_matrix(actual: Any, pred: Any) -> list[Any]:
    """How often each label was predicted for each, and the labels in order."""
    a, p = as_tensor_variable(actual), as_tensor_variable(pred)
    labels = FUNCTIONS["unique"](FUNCTIONS["join"](0, a.flatten(), p.flatten()))
    one_hot = [cast(FUNCTIONS["eq"](dimshuffle(v, 0, "x"), dimshuffle(labels, "x", 0)), "int64") for v in (a, p)]
    return [FUNCTIONS["dot"](one_hot[0].T, one_hot[1]), labels]


@_registered
def prepend_scalar_to_each_row(val: Any, mat: Any) -> Any:
    """A matrix with a number before each row."""
    m = as_tensor_variable(mat)
    first = FUNCTIONS["alloc"](cast(val, m.dtype), m.shape[0], 1)
    return FUNCTIONS["join"](1, first, m)


@_registered
def prepend_0_to_each_row(mat: Any) -> Any:
    """A matrix with a zero before each row."""
    return prepend_scalar_to_each_row(0, mat)


@_registered
def prepend_1_to_each_row(mat: Any) -> Any:
    """A matrix with a one before each row."""
    return prepend_scalar_to_each_row(1, mat)


@_registered
def h_softmax(
    x: Any, batch_size: Any, n_outputs: Any, n_classes: Any, n_outputs_per_class: Any, W1: Any, b1: Any, W2: Any,
    b2: Any, target: Any = None,
) -> Any:  # fmt: skip
    """The softmax in two levels: a class, then an output of the class; for `target` the probabilities of these."""
    outer = softmax(FUNCTIONS["dot"](x, W1) + b1)
    W2, b2 = as_tensor_variable(W2), as_tensor_variable(b2)
    if target is None:
        inner = wrap(T.einsum("bi,cio->bco", as_tensor_variable(x).core, W2.core)) + dimshuffle(b2, "x", 0, 1)
        second = wrap(T.softmax(inner.core, 2), inner)
        both = dimshuffle(outer, 0, 1, "x") * second
        return both.reshape((both.shape[0], n_classes * n_outputs_per_class))[:, :n_outputs]
    target = cast(target, "int64").flatten()
    label, place = target // n_outputs_per_class, target % n_outputs_per_class
    rows = FUNCTIONS["arange"](cast(batch_size, "int64") if hasattr(batch_size, "core") else batch_size)
    inner = wrap(T.einsum("bi,bio->bo", as_tensor_variable(x).core, W2[label].core)) + b2[label]
    return outer[rows, label] * softmax(inner)[rows, place]
