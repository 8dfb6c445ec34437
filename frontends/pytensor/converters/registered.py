"""All converters: importing this module registers them."""

from . import control, draws, elementwise, factors, indexing, linalg, loops, order, products, scalars, shapes, sparse

__all__ = [
    "control", "draws", "elementwise", "factors", "indexing", "linalg", "loops", "order", "products", "scalars",
    "shapes", "sparse",
]  # fmt: skip
