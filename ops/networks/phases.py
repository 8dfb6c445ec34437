"""Values that differ between training and inference: `by_phase`, and running averages.

    y = by_phase(dropped, x)           dropped in every function; x in the function that `ag.freeze` makes of it

The rule `local_by_phase` drops the value of the other phase, so a training function computes nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Kind, TensorType, Variable, toposort
from ...record import record
from ...record.spelling import counted
from ..control.batching import Examples, Flags, all_broadcast, require_shared
from ..core.checks import describe, shown
from ..core.operands import with_dtype
from ..core.shared import SharedVariable
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.specify import FirstOperand


@record(repr=False)
class ByPhase(FirstOperand):
    """`by_phase(training, inference, *pairs)`: the training value as a view.

    `pairs`: shared variables, each with its new value after a step; `running_updates` reads them.
    """

    name = "by_phase"
    picture: ClassVar[Kind] = Kind.OTHER

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        if len(inputs) < 2 or len(inputs) % 2:
            raise TypeError(f"{self.name} takes two values and pairs of variables, got {counted(len(inputs), 'input')}")
        training, inference = inputs[:2]
        if training.dtype != inference.dtype or training.ndim != inference.ndim:
            raise TypeError(
                f"{self.name}: the inference value {describe(inference)} does not have the dtype and rank of the "
                f"training value {describe(training)}"
            )
        lengths = zip(training.type.shape, inference.type.shape, strict=True)
        return (training.type.with_shape(tuple(n if n == m else None for n, m in lengths)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return values[:1]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared(flags[2:], "a running average")
        return self(*all_broadcast(inputs[:2], flags[:2], examples), *inputs[2:])


def by_phase(
    training: TensorLike, inference: TensorLike, updates: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()
) -> TensorVariable:
    """`training` in every function, and `inference` in the function that `ag.freeze` makes.

    Both have one dtype and rank.  Gradients go through `training` alone.  `updates`: pairs (shared variable, new value)
    or a dict, such as the running averages that `inference` reads; `T.nn.running_updates` collects them for
    `ag.function`.  Raises TypeError for values or updates of another dtype or rank.
    """
    pairs = list(updates.items() if isinstance(updates, Mapping) else updates)
    flat: list[Variable] = []
    for variable, new in pairs:
        if not isinstance(variable, SharedVariable):
            raise TypeError(f"by_phase: expected an update of a variable made by ag.shared(...), got {shown(variable)}")
        value = as_tensor(new)
        if value.dtype != variable.dtype or value.ndim != variable.ndim:
            raise TypeError(f"by_phase: the update of {describe(variable)} has another dtype or rank: {value.type}")
        flat += [variable, value]
    made: TensorVariable = ByPhase()(as_tensor(training), as_tensor(inference), *flat)
    return made


def running_updates(expressions: Any) -> list[tuple[SharedVariable, TensorVariable]]:
    """Return the updates of running averages in `expressions`: pairs (shared variable, new value).

    They are those of `T.nn.batch_norm(..., running=...)`, `T.nn.instance_norm` and `T.nn.by_phase(..., updates=...)`,
    to be added to those of an optimizer: `updates=optim.sgd(...) + T.nn.running_updates(loss)`.  Raises TypeError for
    what is no variable or list of them, ValueError if a variable has two new values.
    """
    outputs = list(expressions) if isinstance(expressions, (list, tuple)) else [expressions]
    for output in outputs:
        if not isinstance(output, Variable):
            raise TypeError(f"running_updates: expected a variable or a list of them, got {shown(output)}")
    found: dict[Any, Any] = {}
    for node in toposort(outputs):
        if not isinstance(node.op, ByPhase):
            continue
        for variable, new in zip(node.inputs[2::2], node.inputs[3::2], strict=True):
            if found.setdefault(variable, new) is not new:
                raise ValueError(
                    f"running_updates: {describe(variable)} has two new values; give each layer its own variables"
                )
    return list(found.items())


def running_pair(name: str, running: Any, x: Variable) -> tuple[SharedVariable, SharedVariable]:
    """The two shared vectors of running averages.  Raises TypeError for anything else."""
    pair = tuple(running) if isinstance(running, (list, tuple)) else ()
    if len(pair) != 2 or not all(isinstance(v, SharedVariable) and v.ndim == 1 for v in pair):
        raise TypeError(
            f"{name}: running is {shown(running)}; expected two shared vectors, the mean and the variance"
        )
    for v in pair:
        if v.dtype != x.dtype:
            raise TypeError(f"{name}: running has {describe(v)}, expected the dtype of x, {x.dtype}")
    return pair


def averages(running: Sequence[SharedVariable], batch: Sequence[Any], momentum: Any) -> list[tuple[Any, Any]]:
    """Return the updates that move running averages towards those of a batch by the share `momentum`."""
    return [(old, old + (new - old) * with_dtype(as_tensor(momentum), old.dtype)) for old, new in zip(running, batch)]
