"""All converters: importing this module registers them."""

from . import control, elementwise, images, indexing, ml, normalization, products, qlinear, quantized

from . import recurrent, reductions, resize, sequences, shapes, svm, trees, windows  # isort: skip

__all__ = [
    "control", "elementwise", "images", "indexing", "ml", "normalization", "products", "qlinear", "quantized",
    "recurrent", "reductions", "resize", "sequences", "shapes", "svm", "trees", "windows",
]  # fmt: skip
