"""The converters of PyTensor's ops, one file a subject.  Importing this package registers all of them."""

from . import control, draws, elementwise, indexing, linalg, loops, order, products, scalars, shapes

__all__ = ["control", "draws", "elementwise", "indexing", "linalg", "loops", "order", "products", "scalars", "shapes"]
