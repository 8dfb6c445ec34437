"""Memory order of traced tensors: their axes from the slowest to the fastest."""

from __future__ import annotations

from typing import Any

import torch

from .dtypes import Unsupported


def axes_by_stride(value: torch.Tensor) -> list[int]:
    """Return the axes of a tensor from the slowest to the fastest; those of length 1 keep their places.

    A tensor that repeats elements gives its axes as they are.
    """
    strides = [s if type(s) is int else _typical(s) for s in list[Any](value.stride())]
    sizes = [int(n) if type(n) is int else 2 for n in value.shape]
    if any(s == 0 for s, n in zip(strides, sizes, strict=True) if n > 1):
        return list(range(len(strides)))
    moving = [k for k in range(len(strides)) if sizes[k] != 1]
    ordered = iter(sorted(moving, key=lambda k: -strides[k]))
    return [next(ordered) if sizes[k] != 1 else k for k in range(len(strides))]


def _typical(stride: Any) -> int:
    """Return the stride of the traced call; one that a value of the call decides is taken as that of long axes."""
    if stride.node.hint is not None:
        return int(stride.node.hint)
    return int(stride.node.expr.xreplace(dict.fromkeys(stride.node.expr.free_symbols, 1 << 12)))


def order_of_copies(value: torch.Tensor) -> tuple[int, ...]:
    """Return the memory order of a copy that PyTorch makes of a tensor: `torch.clone` fills gaps."""
    return tuple(axes_by_stride(torch.empty_like(value)))


def dense_order(value: torch.Tensor) -> list[int]:
    """Return the memory order of a tensor that fills its memory.

    Raises Unsupported if its memory has gaps, or repeats elements: a view of another tensor's.
    """
    order = axes_by_stride(value)
    if not value.permute(order).is_contiguous():
        strides = [int(s) for s in value.stride()]
        raise Unsupported(f"its operand is a view with strides {strides}, expected all elements in memory")
    return order
