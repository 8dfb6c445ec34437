"""All converters: importing this module registers them."""

from . import attention, conditions, control, creation, division, elementwise, fourier, indexing, normalization, order

from . import linalg, primitives, products, recurrent, reductions, resampling, shapes, windows  # isort: skip

__all__ = [
    "attention", "conditions", "control", "creation", "division", "elementwise", "fourier", "indexing",
    "linalg", "normalization", "order", "primitives", "products", "recurrent", "reductions", "resampling", "shapes",
    "windows",
]  # fmt: skip
