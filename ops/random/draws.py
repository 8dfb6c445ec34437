"""States of random draws, and their division among the examples of `ag.vmap`.

    key of example e  =  threefry(key of the draw, 2**64 - 1 - e)

Element n of a draw is threefry(key, n), so no example's key is a number of the draw itself.  Examples of examples
divide the key again.  Source: `fold_in` of JAX (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
"""

from __future__ import annotations

from typing import Any

from ... import ops as T  # the namespace; read when a function is called
from ...graph import TensorType, Variable
from ..core.shared import Container, SharedVariable
from ..elementwise.records import threefry


class DrawState(SharedVariable):
    """The state of a draw: a key and the number of calls, as uint64.

    `is_shared`: whether all examples of `ag.vmap` get the same numbers.
    """

    __slots__ = ("is_shared",)

    def __init__(self, type: TensorType, container: Container, name: str, is_shared: bool) -> None:
        super().__init__(type, container, name)
        self.is_shared: bool = is_shared


def states_of_examples(state: Variable, count: Variable) -> Any:
    """Return the states of `count` examples, one a row: each has a key of its own and the draw's number of calls."""
    numbers = T.arange(count, dtype="uint64")
    keys = threefry(state[0], T.invert(numbers))  # type: ignore[index]
    return T.stack([keys, T.broadcast_to(state[1], (count,))], axis=1)  # type: ignore[index]


def state_after(state: Variable, rows: Any) -> Any:
    """Return the next state of a draw whose examples leave the states `rows`: all have drawn equally often."""
    calls = T.max(T.concatenate([state[1:], rows[:, 1]]))  # type: ignore[index]  # there may be no example
    return T.stack([state[0], calls])  # type: ignore[index]
