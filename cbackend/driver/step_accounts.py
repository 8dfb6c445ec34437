"""C that a profiled function adds to its steps: bytes, floating-point operations, memory held and saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...graph.types import numpy_dtype
from ..program import accounts
from ..program.program import Allocate, Array, Buffer, Call, Host, Memory, Pack, Program, Quantity, Step, arrays_of


class StepAccounts:
    """The base of the printer of steps: its lines for profiles."""

    program: Program
    buffers: dict[Buffer, int]

    def q(self, quantity: Quantity) -> str:
        """The C of a quantity."""
        raise NotImplementedError

    def helper(self, name: str) -> str:
        """The name of a helper that a line calls."""
        raise NotImplementedError

    def memory(self, base: Memory) -> str:
        """The C of an address."""
        raise NotImplementedError

    def bytes_moved(self, steps: Sequence[Step]) -> str:
        """The C expression of the bytes that these steps read and write, each array once."""
        arrays = dict.fromkeys(a for s in steps if isinstance(s, (Call, Host, Pack)) for a in arrays_of(s))
        return " + ".join(map(self.bytes_of, arrays)) or "0"

    def flops(self, site: int, steps: Sequence[Step]) -> str:
        """The C expression of the floating-point operations of a node."""
        terms = accounts.flops(self.program, site, steps)
        texts = (
            " * ".join([str(each), *(self.q(n) for n in lengths if n != 1)]) + f" / {over}" * (over > 1)
            for each, lengths, over in terms
        )
        return " + ".join(texts) or "0"

    def held(self, step: Step) -> Iterator[str]:
        """The line that counts memory which a step takes or gives back."""
        found = accounts.held(self.program, step)
        if found is not None:
            slot, array = found
            held = "0" if array is None else self.bytes_of(array)
            if isinstance(step, Pack):  # which takes memory only if it had to copy
                held = f"{self.memory(step.buffer)} ? {held} : 0"
            yield f"{self.helper('ag_hold')}(call, {accounts.memory_at(self.program)}, {slot}, {held});"
            if isinstance(step, (Allocate, Pack)):
                yield f"call->profile[{accounts.sizes_at(self.program) + self.buffers[step.buffer]}] = {held};"

    def spared(self, site: int, steps: Sequence[Step]) -> Iterator[str]:
        """Yield the lines that count memory saved by a node that overwrites an operand."""
        for array, lasting in accounts.spared(self.program, site, steps):
            at = accounts.memory_at(self.program)
            yield f"{self.helper('ag_spared')}(call, {at}, {self.bytes_of(array)}, {int(lasting)});"

    def bytes_of(self, array: Array) -> str:
        return " * ".join([str(numpy_dtype(array.dtype).itemsize), *(self.q(n) for n in array.lengths if n != 1)])
