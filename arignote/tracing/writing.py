"""Memory of the caller: arguments that a call may overwrite, and writes that are results.

    f = ag.jit(step, donate="x")              the result may lie in the memory of x
    f = ag.jit(step, write_back=False)        returns (result, {"x": x as the function leaves it})

A donated array is the first value of a hidden shared variable, and a result of its dtype and rank is the update of it:
the compiled function then computes in place where no later read forbids it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ops.core.shared import Container, SharedVariable
from ..record.forks import ProcessLock
from ..tree import Form, places


class Chosen(NamedTuple):
    """Arguments by name and by position."""

    names: frozenset[str] = frozenset()
    numbers: frozenset[int] = frozenset()


class Writing(NamedTuple):
    """Permissions of a call to write to the arrays of the caller."""

    donated: Chosen = Chosen()
    """The arguments whose memory it may overwrite."""
    back: bool = True
    """Whether arrays that the function writes to are written; otherwise they are results."""

    def positions(self, structure: Form) -> frozenset[int]:
        """Return the positions of the leaves of donated arguments, of the structure of a call."""
        (_, positional), (_, keywords) = structure[1]
        given = [(n in self.donated.numbers, form) for n, form in enumerate(positional)]
        given += [(name in self.donated.names, form) for name, form in keywords]
        leaves = [chosen for chosen, form in given for _ in places(form, "")]
        return frozenset(k for k, chosen in enumerate(leaves) if chosen)


class Donors:
    """Arrays of a call whose memory results take."""

    def __init__(self, variables: Sequence[Any], outputs: Sequence[Any], stores: Sequence[int], donated: Any) -> None:
        """Find for each donated array a result of its dtype and rank, that of a written array first."""
        self._lock = ProcessLock()
        self.places: dict[int, int] = {}
        """The result that takes the memory of an array, by position."""
        for k in sorted(donated):
            v = variables[k]
            own = [stores.index(k)] if k in stores else range(len(stores), len(outputs))
            found = next((o for o in own if o not in self.places.values() and _fits(v, outputs[o])), None)
            if found is not None:
                self.places[k] = found
        self._shared = {k: _shared(variables[k]) for k in self.places}
        self._results = sorted(self.places.values())

    def signature(
        self, variables: Sequence[Any], outputs: Sequence[Any]
    ) -> tuple[list[Any], list[Any], dict[str, Any]]:
        """Return the inputs and outputs of the compiled function, and its further options."""
        updates = [(self._shared[k], outputs[o]) for k, o in self.places.items()]
        return (
            [v for k, v in enumerate(variables) if k not in self.places],
            [v for o, v in enumerate(outputs) if o not in self._results],
            {"givens": [(variables[k], s) for k, s in self._shared.items()], "updates": updates},
        )  # fmt: skip

    def run(self, function: Any, values: Sequence[Any]) -> list[Any]:
        """Return the results of a call of the compiled function."""
        given = [v for k, v in enumerate(values) if k not in self.places]
        containers = {k: s.container for k, s in self._shared.items()}
        with self._lock:
            empty = {k: c.value for k, c in containers.items()}
            try:
                for k, container in containers.items():
                    value = values[k]
                    plain = value.flags.carray and value.dtype.isnative
                    container.value = value if plain else np.array(value, value.dtype.newbyteorder("="), order="C")
                found = list(function(*given))
                taken = {o: containers[k].value for k, o in self.places.items()}
            finally:
                for k, container in containers.items():
                    container.value = empty[k]
        for o in self._results:
            found.insert(o, taken[o])
        return found


def _fits(v: Any, output: Any) -> bool:
    return v.ndim > 0 and output is not v and (v.dtype, v.ndim) == (output.dtype, output.ndim)


def _shared(v: Any) -> SharedVariable:
    return SharedVariable(v.type, Container(np.zeros((0,) * v.ndim, v.type.numpy)), v.name)
