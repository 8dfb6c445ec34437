"""The names of the ops of a compiled function, with a product in place of it and its epilogue."""

from __future__ import annotations

from arignote.ops.lowered.fused_product import FusedProduct


def product_names(f) -> list[str]:
    """Return the name of each node in order; of a fused product that of the product."""
    return [n.op.product.name if isinstance(n.op, FusedProduct) else n.op.name for n in f.graph.order]
