"""Results in the order of their operands, as NumPy lays them out (order "K"), where an argument is not C-contiguous.

    x + y for Fortran-ordered x and y   -->   a Fortran-ordered result, and one run over memory

This is for outputs of the function that nothing inside it reads; whatever else the program makes is C-contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Apply
from ...ir.kernel import Kernel
from ..planner import Planner
from ..program import Array, Lengths, Order


def ordered_strides(p: Planner, kernel: Kernel, extents: Lengths, inputs: Sequence[Array]) -> Lengths:
    """Return the strides, by loop, of a result in the order of the inputs."""
    strides = tuple(
        p.along(x.lengths[axis], extents[loop], x.strides[axis])
        for operand, x in zip(kernel.inputs, inputs, strict=True)
        if operand.loops
        for loop in range(kernel.rank)
        for axis in (operand.axes.index(loop),)
    )
    name = p.name("order", "int64", kernel.rank)
    p.steps.append(Order(p.site, name, extents, strides))
    return tuple(f"{name}[{loop}]" for loop in range(kernel.rank))


def result_in_order(p: Planner, node: Apply, output: int, lengths: Lengths, strides: Lengths) -> Array:
    """Return a new array with these strides for an output of the function."""
    variable = node.outputs[output]
    p.keep_promises(variable, lengths)
    made = p.fresh(variable.dtype, lengths, p.direct[variable])
    return p.put(variable, Array(made.base, made.dtype, lengths, strides, False, made.memory))
