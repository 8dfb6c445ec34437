"""Tensors that a forward pass saves for its backward pass alone, in the layout in which both compute.

Convolutions run on channels in blocks.  A saved tensor stays in blocks, so the forward pass does not copy its elements
into PyTorch's order, and the gradients of the backward pass run on blocks as well.  Of another tensor the array is
saved whose axes it permutes, so neither pass copies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch._guards import TracingContext

from ...graph import Variable
from ...graph.types import Shape
from ...networks.blocks import block_of, results_in_blocks
from ...ops.lowered.blocked import FromBlocks, ToBlocks
from ...ops.shapes.shape import DimShuffle


class Blocks(NamedTuple):
    """A saved tensor is full blocks of channels: an array of this shape."""

    shape: Shape

    def whole(self, blocks: Variable) -> Variable:
        """Return the tensor with its channels in order."""
        _, count, *_, size = self.shape
        assert count is not None and size is not None
        return FromBlocks(count * size)(blocks)  # type: ignore[no-any-return]

    def as_traced(self, blocks: torch.Tensor) -> torch.Tensor:
        """Return the tensor of PyTorch."""
        n, count, rows, columns, size = blocks.shape
        return blocks.permute(0, 1, 4, 2, 3).reshape(n, count * size, rows, columns)


class Moved(NamedTuple):
    """A saved tensor is an array of this shape, whose axes in this order are the tensor's."""

    shape: Shape
    order: tuple[int, ...]

    def whole(self, array: Variable) -> Variable:
        """Return the tensor with its axes in order."""
        return array if self.order == tuple(range(array.ndim)) else DimShuffle(self.order)(array)

    def as_traced(self, array: torch.Tensor) -> torch.Tensor:
        """Return the tensor of PyTorch."""
        return array.permute(self.order)


class Saved:
    """The tensors that one forward pass saves; names of nodes are the same in both graphs."""

    def __init__(self) -> None:
        self.kept: dict[str, Blocks | Moved] = {}
        """For each node how its tensor is saved."""

    def layouts(self, nodes: Sequence[Any], values: Sequence[Any]) -> list[Variable | None]:
        """Return what is saved of each result of a forward graph that only the backward pass reads; None for others."""
        first = _count_of_returned()
        inside = results_in_blocks([v for v in values if isinstance(v, Variable)])
        found: list[Variable | None] = []
        for place, (node, value) in enumerate(zip(nodes, values, strict=True)):
            is_saved = first is not None and place >= first and isinstance(node, torch.fx.Node)
            is_made = is_saved and node.op != "placeholder" and isinstance(value, Variable)
            is_tensor = is_made and isinstance(node.meta["val"], torch.Tensor)
            found.append(self._kept(node.name, value, value in inside) if is_tensor else None)
        return found

    def _kept(self, name: str, value: Variable, in_blocks: bool) -> Variable:
        if in_blocks:
            blocks: Variable = ToBlocks(block_of(value))(value)
            self.kept[name] = Blocks(blocks.type.shape)
            return blocks
        array, order = _unpermuted(value)
        self.kept[name] = Moved(array.type.shape, order)
        return array

    def clear(self) -> None:
        """Forget all: PyTorch runs the forward pass."""
        self.kept.clear()

    def as_traced(self, name: str, value: Any) -> Any:
        """Return an argument of the backward pass for PyTorch."""
        return self.kept[name].as_traced(value) if name in self.kept else value


def _unpermuted(value: Variable) -> tuple[Variable, tuple[int, ...]]:
    """Return the variable of which a value permutes the axes, and their order."""
    order = tuple(range(value.ndim))
    while value.owner is not None and isinstance(value.owner.op, DimShuffle):
        inner = value.owner.op.order
        if sorted(map(str, inner)) != sorted(map(str, range(value.owner.inputs[0].ndim))):
            break
        order = tuple(int(inner[k]) for k in order)
        (value,) = value.owner.inputs
    return value, order


def _count_of_returned() -> int | None:
    """Return how many results of the forward graph being compiled are not saved; None if nobody knows."""
    context = TracingContext.try_get()
    metadata = None if context is None else context.fw_metadata
    found: int | None = getattr(metadata, "num_forward", None)
    return found
