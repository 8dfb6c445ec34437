"""Winograd's algorithm: convolutions with kernels of 3 x 3 that compute tiles of outputs with fewer products.

Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016).  A number is rounded by its place within its
tile, and an infinity makes a whole tile NaN, so the rule is in no default mode: a user names the tag `winograd`.  Where
it fires it is an estimate of which is fastest: no tiles, tiles of 2 x 2, or of 4 x 4.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....graph import Constant, Variable
from ....ops.lowered.blocked import BlockedConvolution
from ....ops.networks.weights import tiles_across
from ....targets.current import current
from ...contract import relaxes
from ...rule import Rule, node_rule
from ..facts import Node
from .layout import with_packed

SIDE = 3
"""Rows and columns of the kernels."""


def by_tiles(node: Node) -> Variable | None:
    """Rewrite a convolution to tiles, if an estimate says that they take less time."""
    op, (x, w, bias) = node.op, node.inputs
    if op.weights or op.own or op.groups > 1 or x.ndim != 5:
        return None
    if not isinstance(w, Constant) or not isinstance(bias, Constant):
        return None
    if w.data.shape[2:] != (SIDE, SIDE) or {*op.stride, *op.dilation} != {1} or not np.isfinite(w.data).all():
        return None
    tile = min((0, *current().limits.convolutions.tiles), key=lambda tile: estimate(node, tile))
    return with_packed(replace(op, tile=tile), x, w, bias) if tile else None


def estimate(node: Node, tile: int) -> float:
    """Return the time of a convolution per image, in products of numbers in registers; tile 0: without tiles."""
    limits, (outputs, channels) = current().limits.convolutions, node.inputs[1].data.shape[:2]
    rows, columns = (n or limits.unknown_side for n in node.out.type.shape[2:4])
    positions = (tile + SIDE - 1) ** 2 if tile else SIDE**2
    tiles = tiles_across(rows, tile) * tiles_across(columns, tile) if tile else rows * columns
    weights = positions * channels * outputs
    moved = limits.tiled_number * positions * tiles * (channels + outputs) if tile else 0
    return float(weights * (tiles + limits.read_weight) + moved)


WINOGRAD: list[Rule] = [
    node_rule("local_winograd", BlockedConvolution, by_tiles, constants=True,
              contract=relaxes("rounding", "signed zero", "overflow", "inf", "nan"),
              formula="blocked_convolution(x, w, b) -> blocked_convolution{tile}(x, G w G', b)  for constant w, b"),
]  # fmt: skip
