"""`theano.tensor.nnet.ctc`: the loss of label sequences without alignment (Graves et al., 2006)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....ops.networks.ctc import alignment_loss, rows_joined
from ....record.spelling import counted
from ..tensors.variables import as_tensor_variable, wrap

BLANK = 0
"""The class that stands for no label."""


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
            raise TypeError(f"ctc: {role} has {counted(rank, 'dimension')} and {wanted}, got {v} of type {v.type}")
    x, marks, steps = (v.core for v in given)
    counts = T.sum(T.cast(T.ge(marks, 0), "int64"), axis=1)
    logs = T.log_softmax(x, axis=-1)
    return wrap(alignment_loss(logs, *rows_joined(marks), T.cast(steps, "int64"), counts, BLANK), *given)


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
