"""The interface of a program: the facts that are needed to call its library.

    program -> interface_of -> Interface -> Caller
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...graph import TensorType, Variable
from ...record import record
from ..program.program import Program
from .output_lengths import Step, assumptions, evaluated, output_lengths


@record(eq=False)
class Interface:
    """Arrays that enter and leave a program, and the other data that its library needs.

    `inputs` are those of its graph, `updates` pairs (input, output).  `lengths`: for each output a program for each of
    its lengths, None where only a call tells one.  `in_place`: outputs that are written over an input.
    `dense_inputs`: whether all inputs must be C-contiguous.  `products`, `solvers`: the dtypes of which it needs the
    runtime's products of matrices and its LAPACK.  `constants` are aligned, C-contiguous and native.  `sites`: how many
    nodes messages may speak of.  `calls_back`: whether it calls Python.  `assumed`: programs for pairs of lengths that
    are taken as equal.
    """

    inputs: tuple[Variable, ...]
    outputs: tuple[TensorType, ...]
    updates: tuple[tuple[int, int], ...]
    lengths: tuple[list[list[Step]] | None, ...]
    in_place: Mapping[int, int]
    dense_inputs: bool
    products: tuple[str, ...]
    solvers: tuple[str, ...]
    constants: tuple[np.ndarray, ...]
    sites: int
    calls_back: bool
    assumed: tuple[tuple[list[Step], list[Step]], ...] = ()

    @property
    def own_outputs(self) -> list[int]:
        """Return the outputs that a call returns: all but the updates."""
        updated = {o for _, o in self.updates}
        return [k for k in range(len(self.outputs)) if k not in updated]

    def agrees(self, shapes: Sequence[tuple[int, ...]]) -> bool:
        """Return whether shapes of the inputs have the lengths that are taken as equal."""
        return all(evaluated(have, shapes) == evaluated(want, shapes) for have, want in self.assumed)


def interface_of(program: Program) -> Interface:
    """Return the interface of `program`."""
    graph = program.graph
    return Interface(
        inputs=graph.inputs, outputs=tuple(o.type for o in graph.outputs), updates=graph.updates,
        lengths=tuple(output_lengths(graph)), in_place=program.in_place, dense_inputs=program.dense_inputs,
        products=program.products, solvers=program.solvers,
        constants=tuple(_plain(c.data) for c in program.all_constants), sites=len(program.sites),
        calls_back=program.calls_back, assumed=tuple(assumptions(graph)),
    )  # fmt: skip


def _plain(data: np.ndarray) -> np.ndarray:
    """Return the array if C can read it in place, else a copy."""
    dense = np.ascontiguousarray(data).reshape(data.shape)
    return dense if dense.flags.aligned and dense.dtype.isnative else np.array(dense, dense.dtype.newbyteorder("="))
