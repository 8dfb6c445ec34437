"""Kinds of convolutions and pools: one enum for the planner and, with the prefix AG_, for C."""

from __future__ import annotations

from enum import IntEnum


class ConvolutionKind(IntEnum):
    """Channels that an output of a convolution in blocks sums.

    DENSE: all of its group, which is made of whole blocks.  DEPTHWISE: its own.  LISTED: those of a group by a table.
    """

    DENSE = 0
    DEPTHWISE = 1
    LISTED = 2


class PoolKind(IntEnum):
    """Result of a pool in blocks for each window: its largest number, or its sum."""

    LARGEST = 0
    SUM = 1


def c_enum(kind: type[IntEnum]) -> str:
    """Return the definition of an enum in C."""
    return f"enum {{ {', '.join(f'AG_{member.name} = {member.value}' for member in kind)} }};\n"
