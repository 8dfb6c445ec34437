"""The loss of label sequences without alignment, connectionist temporal classification.

The forward recursion over time is a loop in logarithms, so its derivative is that of the loop, and both compile to C.
Source: A. Graves and others, "Connectionist temporal classification", 2006.
"""

from __future__ import annotations

import math
from typing import Any

from ...record import record
from ..control.along import along
from ..core.checks import describe
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.conditions import between, checked
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
        targets: integer labels (batch, most labels), of which `target_lengths` count; or the labels of all examples
            one after the other, a vector of `sum(target_lengths)`; (labels,) for one example.
        input_lengths, target_lengths: (batch,) integers, or one integer for one example.
        blank: the class that stands for no label.
        reduction: "mean" over the examples of their losses by their numbers of labels, "sum" or "none".
        zero_infinity: whether the loss, and the derivative, of labels that do not fit the steps is 0, else infinite.

    Raises TypeError for other ranks and dtypes, ValueError at run time for lengths that do not fit.
    """
    given = [_as_float(log_probs), *map(as_tensor, (targets, input_lengths, target_lengths))]
    names = ("log_probs", "targets", "input_lengths", "target_lengths")
    single = given[0].ndim == 2
    ranks: tuple[tuple[int, ...], ...] = ((2,), (1,), (0,), (0,)) if single else ((3,), (1, 2), (1,), (1,))
    for name, v, accepted in zip(names, given, ranks, strict=True):
        kinds = "f" if name == "log_probs" else "iu"
        if v.ndim not in accepted or v.type.kind not in kinds:
            what = "floats" if kinds == "f" else "integers"
            raise TypeError(f"ctc_loss: {name} must be {what} of rank {accepted[-1]}, got {describe(v)}")
    logs, labels, steps, counts = given
    dtype = logs.dtype
    logs = with_dtype(logs, "float32") if dtype == "float16" else logs
    if single:
        logs, steps, counts = T.expand_dims(logs, 1), T.expand_dims(steps, 0), T.expand_dims(counts, 0)
    steps, counts = with_dtype(steps, "int64"), with_dtype(counts, "int64")
    steps = between(steps, 0, lengths_of(logs)[0], "ctc_loss: input_lengths")
    counts = between(counts, 0, lengths_of(labels)[-1], "ctc_loss: target_lengths")
    offsets = T.sub(T.cumsum(counts), counts)
    if labels.ndim == 2:
        labels, offsets = rows_joined(labels)
    elif not single:
        own, total = lengths_of(labels)[0], T.sum(counts)
        text = "ctc_loss: targets has {0} labels, and the sum of target_lengths is {1}"
        counts = checked(counts, T.eq(total, own), text, own, total)
    loss = with_dtype(alignment_loss(logs, labels, offsets, steps, counts, int(blank)), dtype)
    if zero_infinity:
        loss = T.switch(T.eq(loss, math.inf), T.constant(0, loss.dtype), loss)
    if reduction == "mean":
        return T.mean(T.true_div(loss, with_dtype(T.maximum(counts, 1), loss.dtype)))
    return reduced("ctc_loss", T.squeeze(loss, 0) if single else loss, reduction)


def rows_joined(labels: Any) -> tuple[Any, Any]:
    """Return the rows of a matrix of labels as one vector, and the position of the first label of each row in it."""
    batch, most = lengths_of(labels)
    return T.reshape(labels, (-1,)), T.mul(T.arange(batch), most)


def alignment_loss(logs: Any, labels: Any, offsets: Any, steps: Any, counts: Any, blank: int) -> TensorVariable:
    """Return the loss of each example from logarithms (time, batch, classes).

    `labels`: a vector in which example b has `counts[b]` labels from `offsets[b]` on.
    """
    states = _states(logs, labels, offsets, blank)
    never = T.constant(NEVER, logs.dtype)
    steps_of = steps[states.example]
    alpha = T.switch(T.lt(states.place, 2), states.emitted[0], never)
    begin = T.switch(T.eq(states.place, 0), T.constant(0, logs.dtype), never)
    alpha = T.switch(T.gt(steps_of, 0), alpha, begin)

    def step(slices: list[Any], before: list[Any]) -> tuple[list[Any], list[Any]]:
        row, time = slices
        (alpha,) = before
        advanced = _advanced(alpha, row, states.moves, states.skips)
        return [T.concatenate([front, T.switch(T.lt(time, steps_of), advanced, alpha[2:])])], []

    times = T.arange(lengths_of(logs)[0])
    front = T.constant([NEVER] * 2, logs.dtype)
    (last,), _ = along(step, [states.emitted[1:], times[1:]], [T.concatenate([front, alpha])])
    last, final = last[2:], T.add(states.starts, T.mul(counts, 2))
    end, label = last[final], last[T.maximum(T.sub(final, 1), states.starts)]
    label = T.switch(T.gt(counts, 0), label, never)
    loss = T.neg(T.logaddexp(end, label))
    return T.switch(T.gt(loss, -NEVER / 10), T.constant(math.inf, logs.dtype), loss)


@record
class _States:
    """The states of all examples as one vector: the labels of an example with blanks before, between and after them."""

    starts: Any
    """The first state of each example."""
    example: Any
    """The example of a state."""
    place: Any
    """The number of a state in its example."""
    emitted: Any
    """The logarithm of the state's class in each step."""
    moves: Any
    """The score of a move from the state before, NEVER for the first state of an example."""
    skips: Any
    """The score of a move that skips a blank, NEVER where that is not allowed."""


def _states(logs: Any, labels: Any, offsets: Any, blank: int) -> _States:
    batch, own = lengths_of(logs)[1], lengths_of(labels)[0]
    positions = T.arange(T.add(T.mul(own, 2), batch))
    starts = T.add(T.mul(offsets, 2), T.arange(batch))
    example = T.sub(T.searchsorted(starts, positions, side="right"), 1)
    place, rest = T.sub(positions, starts[example]), T.sub(positions, example)  # rest: twice the labels before, or + 1
    marks = T.concatenate([T.constant([blank], "int64"), T.maximum(with_dtype(labels, "int64"), 0)])
    classes = T.switch(T.eq(T.mod(rest, 2), 1), marks[T.floor_div(T.add(rest, 1), 2)], blank)
    earlier = classes[T.maximum(T.sub(positions, 2), 0)]
    allowed = T.logical_and(T.ge(place, 2), T.logical_and(T.ne(classes, blank), T.ne(classes, earlier)))
    free, never = T.constant(0, logs.dtype), T.constant(NEVER, logs.dtype)
    return _States(
        starts, example, place, T.maximum(logs[:, example, classes], never),
        T.switch(T.gt(place, 0), free, never), T.switch(allowed, free, never),
    )  # fmt: skip


def _advanced(a: Any, row: Any, moves: Any, skips: Any) -> Any:
    """Return the logarithms of the states after a step; `a` has two more in front."""
    a, one, two = a[2:], T.add(a[1:-1], moves), T.add(a[:-2], skips)
    top = T.maximum(T.maximum(a, one), two)
    reached = T.add(top, T.log(T.add(*(T.exp(T.sub(v, top)) for v in (a, one, two)))))
    return T.maximum(T.add(reached, row), T.constant(NEVER, a.dtype))
