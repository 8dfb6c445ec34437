"""`theano.tensor.nnet.ctc`: the loss of label sequences without alignment (Graves et al., 2006).

The forward recursion over time is a scan in logarithms, so its derivative is that of the scan, and both compile to C.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ..graphs.loops import scan
from ..tensors.variables import as_tensor_variable, wrap

BLANK = 0
"""The class that stands for no label."""
NEVER = -1e30
"""The logarithm of the probability of what cannot be; -inf would have no derivative."""


def ctc_available() -> bool:
    """True: nothing else is needed."""
    return True


ctc_available.msg = None  # type: ignore[attr-defined]  # Theano's spelling


def ctc(activations: Any, labels: Any, input_lengths: Any) -> Any:
    """The loss of each example of a batch: -log of the probability of its labels.

    Args:
        activations: a tensor (time, example, class) before the softmax; class 0 is the blank.
        labels: a matrix of integers, a row for each example, which ends with -1 where it is shorter.
        input_lengths: a vector of integers, the steps of each example.

    Raises TypeError for other ranks and dtypes.  The loss of labels that do not fit into the steps is infinite.
    """
    given = [as_tensor_variable(v) for v in (activations, labels, input_lengths)]
    for role, v, rank, kinds in zip(("activations", "labels", "input_lengths"), given, (3, 2, 1), ("f", "iu", "iu"),
                                    strict=True):  # fmt: skip
        if v.ndim != rank or np.dtype(v.dtype).kind not in kinds:
            wanted = "floats" if kinds == "f" else "integers"
            raise TypeError(f"ctc: {role} has {rank} dimensions and {wanted}, got {v} of type {v.type}")
    x, marks, steps = (v.core for v in given)
    states, emitted, skips = _states(x, marks)
    first = T.switch(T.lt(T.arange(T.shape(states)[1]), 2), emitted[0], _constant_like(NEVER, x))
    times = T.arange(T.shape(x)[0])
    alphas, _ = scan(
        _step, sequences=[wrap(emitted[1:]), wrap(times[1:])], outputs_info=wrap(T.broadcast_to(first, T.shape(first))),
        non_sequences=[wrap(skips), wrap(T.cast(steps, "int64"))],
    )  # fmt: skip
    every = T.concatenate([T.dimshuffle(first, "x", 0, 1), alphas.core])
    return wrap(_loss(every[-1], marks), *given)


def _constant_like(value: float, like: Any) -> Any:
    return T.constant(value, like.dtype)


def _states(x: Any, labels: Any) -> tuple[Any, Any, Any]:
    """The classes of the states, their log-probabilities in each step, and the score of skipping a blank.

    The states are the labels with blanks before, between and after them.
    """
    batch, count = T.shape(labels)[0], T.shape(labels)[1]
    blanks = T.zeros((batch, count * 2 + 1), "int64")
    states = T.set_subtensor(blanks[:, 1::2], T.maximum(T.cast(labels, "int64"), 0))
    rows = T.dimshuffle(T.arange(batch), 0, "x")
    emitted = T.log_softmax(x, axis=-1)[:, rows, states]
    before = T.concatenate([T.zeros((batch, 2), "int64"), states[:, :-2]], axis=1)
    allowed = T.and_(T.ne(states, BLANK), T.ne(states, before))
    skips = T.switch(allowed, _constant_like(0, x), _constant_like(NEVER, x))
    return states, emitted, skips


def _step(emitted: Any, time: Any, alpha: Any, skips: Any, lengths: Any) -> Any:
    """The log-probabilities of the states after a step; finished examples keep theirs."""
    a = alpha.core
    never = T.add(T.zeros_like(a[:, :2]), _constant_like(NEVER, a))
    one = T.concatenate([never[:, :1], a[:, :-1]], axis=1)
    two = T.add(T.concatenate([never, a[:, :-2]], axis=1), skips.core)
    top = T.maximum(T.maximum(a, one), two)
    reached = T.add(top, T.log(T.add(*(T.exp(T.sub(v, top)) for v in (a, one, two)))))
    found = T.maximum(T.add(reached, emitted.core), _constant_like(NEVER, a))
    running = T.dimshuffle(T.lt(time.core, lengths.core), 0, "x")
    return wrap(T.switch(running, found, a), emitted, alpha)


def _loss(last: Any, labels: Any) -> Any:
    """-log of the probability of the last label or the blank behind it."""
    count = T.sum(T.cast(T.ge(labels, 0), "int64"), axis=1)
    rows = T.arange(T.shape(labels)[0])
    blank, label = last[rows, count * 2], last[rows, T.maximum(count * 2 - 1, 0)]
    label = T.switch(T.gt(count, 0), label, _constant_like(NEVER, last))
    loss = T.neg(T.logaddexp(blank, label))
    return T.switch(T.gt(loss, _constant_like(-NEVER / 10, last)), _constant_like(np.inf, last), loss)


class ConnectionistTemporalClassification:
    """The op of `ctc`: `ConnectionistTemporalClassification()(activations, labels, input_lengths)`."""

    def __init__(self, compute_grad: bool = True, **options: Any) -> None:
        self.compute_grad = compute_grad

    def __call__(self, activations: Any, labels: Any, input_lengths: Any) -> Any:
        return ctc(activations, labels, input_lengths)


CTC = {
    "ctc": ctc, "ctc_available": ctc_available,
    "ConnectionistTemporalClassification": ConnectionistTemporalClassification,
}  # fmt: skip
