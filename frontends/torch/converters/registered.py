"""All converters: importing this module registers them."""

from . import attention, conditions, control, creation, elementwise, fourier, indexing, normalization, order, products

from . import recurrent, reductions, shapes, windows  # isort: skip

__all__ = [
    "attention", "conditions", "control", "creation", "elementwise", "fourier", "indexing", "normalization", "order",
    "products", "recurrent", "reductions", "shapes", "windows",
]  # fmt: skip
