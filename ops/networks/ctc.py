"""The loss of label sequences without alignment, connectionist temporal classification.

The forward recursion over time is a loop in logarithms, so its derivative is that of the loop, and both compile to C.
Source: A. Graves and others, "Connectionist temporal classification", 2006.
"""

from __future__ import annotations

import math
from typing import Any

from ..control.along import along
from ..core.checks import describe
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.lengths import lengths_of
from .functions import _as_float
from .losses import reduced

__all__ = ["ctc_loss"]

NEVER = -1e30
"""The logarithm of the probability of what cannot be; -inf would have no derivative."""


def ctc_loss(
    log_probs: TensorLike, targets: TensorLike, input_lengths: TensorLike, target_lengths: TensorLike, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> TensorVariable:  # fmt: skip
    """-log of the probability of each example's labels.

    Args:
        log_probs: (time, batch, classes), as `log_softmax` gives them; or (time, classes) for one example.
        targets: integer labels (batch, most labels), of which `target_lengths` count; (labels,) for one example.
            PyTorch's joined vector of all labels is not taken: TypeError.
        input_lengths, target_lengths: (batch,) integers, or one integer for one example.
        blank: the class that stands for no label.
        reduction: "mean" over the examples of their losses by their numbers of labels, "sum" or "none".
        zero_infinity: whether the loss, and the derivative, of labels that do not fit the steps is 0, else infinite.

    Raises TypeError for other ranks and dtypes.
    """
    given = [_as_float(log_probs), *map(as_tensor, (targets, input_lengths, target_lengths))]
    names = ("log_probs", "targets", "input_lengths", "target_lengths")
    single = given[0].ndim == 2
    for name, v, rank in zip(names, given, (2, 1, 0, 0) if single else (3, 2, 1, 1), strict=True):
        kinds = "f" if name == "log_probs" else "iu"
        if v.ndim != rank or v.type.kind not in kinds:
            what = "floats" if kinds == "f" else "integers"
            raise TypeError(f"ctc_loss: {name} must be {what} of rank {rank}, got {describe(v)}")
    logs, labels, steps, counts = given
    dtype = logs.dtype
    logs = with_dtype(logs, "float32") if dtype == "float16" else logs
    if single:
        logs, labels = T.expand_dims(logs, 1), T.expand_dims(labels, 0)
        steps, counts = T.expand_dims(steps, 0), T.expand_dims(counts, 0)
    loss = alignment_loss(logs, labels, with_dtype(steps, "int64"), with_dtype(counts, "int64"), int(blank))
    loss = with_dtype(loss, dtype)
    if zero_infinity:
        loss = T.switch(T.eq(loss, math.inf), T.constant(0, loss.dtype), loss)
    if reduction == "mean":
        return T.mean(T.true_div(loss, with_dtype(T.maximum(counts, 1), loss.dtype)))
    return reduced("ctc_loss", T.squeeze(loss, 0) if single else loss, reduction)


def alignment_loss(logs: Any, labels: Any, steps: Any, counts: Any, blank: int) -> TensorVariable:
    """Return the loss of each example from logarithms (time, batch, classes)."""
    emitted, skips = _states(logs, labels, blank)
    never = T.constant(NEVER, logs.dtype)
    places = T.arange(lengths_of(emitted)[2])
    alpha = T.switch(T.lt(places, 2), emitted[0], never)
    alpha = T.switch(T.expand_dims(T.gt(steps, 0), 1), alpha, T.switch(T.eq(places, 0), T.zeros_like(alpha), never))

    def step(slices: list[Any], states: list[Any]) -> tuple[list[Any], list[Any]]:
        row, time = slices
        (before,) = states
        running = T.expand_dims(T.lt(time, steps), 1)
        return [T.switch(running, _advanced(before, row, skips), before)], []

    times = T.arange(lengths_of(logs)[0])
    (last,), _ = along(step, [emitted[1:], times[1:]], [alpha])
    rows = T.arange(lengths_of(labels)[0])
    end, label = last[rows, counts * 2], last[rows, T.maximum(counts * 2 - 1, 0)]
    label = T.switch(T.gt(counts, 0), label, never)
    loss = T.neg(T.logaddexp(end, label))
    return T.switch(T.gt(loss, -NEVER / 10), T.constant(math.inf, logs.dtype), loss)


def _states(logs: Any, labels: Any, blank: int) -> tuple[Any, Any]:
    """Return the logarithms of the states in each step, and the score of skipping a blank.

    The states are the labels with blanks before, between and after them.
    """
    batch, count = lengths_of(labels)
    blanks = T.full((batch, count * 2 + 1), blank, dtype="int64")
    states = T.set_subtensor(blanks[:, 1::2], T.maximum(with_dtype(labels, "int64"), 0))
    rows = T.expand_dims(T.arange(batch), 1)
    emitted = T.maximum(logs[:, rows, states], T.constant(NEVER, logs.dtype))
    before = T.concatenate([T.full((batch, 2), blank, dtype="int64"), states[:, :-2]], axis=1)
    allowed = T.logical_and(T.ne(states, blank), T.ne(states, before))
    return emitted, T.switch(allowed, T.constant(0, logs.dtype), T.constant(NEVER, logs.dtype))


def _advanced(a: Any, row: Any, skips: Any) -> Any:
    """Return the logarithms of the states after a step."""
    never = T.full((lengths_of(a)[0], 2), T.constant(NEVER, a.dtype))
    one = T.concatenate([never[:, :1], a[:, :-1]], axis=1)
    two = T.add(T.concatenate([never, a[:, :-2]], axis=1), skips)
    top = T.maximum(T.maximum(a, one), two)
    reached = T.add(top, T.log(T.add(*(T.exp(T.sub(v, top)) for v in (a, one, two)))))
    return T.maximum(T.add(reached, row), T.constant(NEVER, a.dtype))
