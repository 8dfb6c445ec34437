"""The C function of a user's op of whole arrays: its operands and results, as a value that printers read."""

from __future__ import annotations

from typing import Any

from ...record import record


@record
class Operand:
    """An operand or a result in C: its name, dtype, rank, and for each level whether it has the axis of examples."""

    name: str
    dtype: str
    rank: int
    flags: tuple[bool, ...]
    is_result: bool

    @property
    def is_number(self) -> bool:
        """Whether the user's text sees a number, not an array."""
        return self.rank == 0 and not self.is_result


@record
class UserCall:
    """The function of a user's op for operands of some dtypes and ranks.  `levels`: the number of axes of examples."""

    name: str
    definition: Any
    operands: tuple[Operand, ...]
    levels: int

    @property
    def result(self) -> Operand:
        """The first result."""
        return next(o for o in self.operands if o.is_result)


def user_call(op: Any, dtypes: tuple[str, ...], ranks: tuple[int, ...]) -> UserCall:
    """Return the function of an op for operands of these dtypes and ranks, of one example."""
    everywhere = (True,) * len(op.levels)
    results = ["y"] if len(op.dtypes) == 1 else [f"y{k + 1}" for k in range(len(op.dtypes))]
    operands = [
        Operand(name, dtype, rank, tuple(flags[k] for flags in op.levels), False)
        for k, (name, dtype, rank) in enumerate(zip(op.definition.operands, dtypes, ranks, strict=True))
    ] + [Operand(n, dtype, rank, everywhere, True) for n, dtype, rank in zip(results, op.dtypes, op.ranks, strict=True)]
    kinds = "_".join(f"{o.dtype}_{o.rank}" for o in operands)
    levels = "".join(f"_{''.join(str(int(f)) for f in flags)}" for flags in op.levels)
    return UserCall(f"{op.definition.symbol}_{kinds}{levels}", op.definition, tuple(operands), len(op.levels))
