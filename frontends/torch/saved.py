"""Tensors that a forward pass saves for its backward pass alone, in the layout in which both compute.

Convolutions run on channels in blocks.  A saved tensor stays in blocks, so the forward pass does not copy its elements
into PyTorch's order, and the gradients of the backward pass run on blocks as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._guards import TracingContext

from ...graph import TensorType, Variable
from ...networks.blocks import block_of, results_in_blocks
from ...ops.lowered.blocked import FromBlocks, ToBlocks


class Saved:
    """The tensors in blocks that one forward pass saves; names of nodes are the same in both graphs."""

    def __init__(self) -> None:
        self.blocks: dict[str, TensorType] = {}
        """For each node the type of its blocks, which are full."""

    def layouts(self, nodes: Sequence[Any], values: Sequence[Any]) -> list[Variable | None]:
        """Return the blocks of each result of a forward graph that only the backward pass reads; None for others."""
        first = _count_of_returned()
        inside = results_in_blocks([v for v in values if isinstance(v, Variable)])
        found: list[Variable | None] = []
        for place, (node, value) in enumerate(zip(nodes, values, strict=True)):
            is_saved = first is not None and place >= first and isinstance(node, torch.fx.Node)
            is_made = is_saved and node.op != "placeholder" and isinstance(value, Variable)
            found.append(self._kept(node.name, value) if is_made and value in inside else None)
        return found

    def _kept(self, name: str, value: Variable) -> Variable:
        blocks: Variable = ToBlocks(block_of(value))(value)
        self.blocks[name] = blocks.type
        return blocks

    def whole(self, name: str, blocks: Variable) -> Variable:
        """Return the saved tensor of a node with its channels in order."""
        _, count, *_, size = self.blocks[name].shape
        assert count is not None and size is not None
        return FromBlocks(count * size)(blocks)  # type: ignore[no-any-return]

    def clear(self) -> None:
        """Forget all: PyTorch runs the forward pass."""
        self.blocks.clear()

    def as_traced(self, name: str, value: Any) -> Any:
        """Return an argument of the backward pass for PyTorch, with its channels in order."""
        if name not in self.blocks:
            return value
        blocks: torch.Tensor = value
        n, count, rows, columns, size = blocks.shape
        return blocks.permute(0, 1, 4, 2, 3).reshape(n, count * size, rows, columns)


def _count_of_returned() -> int | None:
    """Return how many results of the forward graph being compiled are not saved; None if nobody knows."""
    context = TracingContext.try_get()
    metadata = None if context is None else context.fw_metadata
    found: int | None = getattr(metadata, "num_forward", None)
    return found
