"""All converters: importing this module registers them."""

from . import (
    convert_control,
    convert_elementwise,
    convert_images,
    convert_indexing,
    convert_ml,
    convert_normalization,
    convert_products,
    convert_qlinear,
    convert_quantized,
    convert_recurrent,
    convert_reductions,
    convert_resize,
    convert_sequences,
    convert_shapes,
    convert_svm,
    convert_trees,
    convert_windows,
)

__all__ = [
    "convert_control", "convert_elementwise", "convert_images", "convert_indexing", "convert_ml",
    "convert_normalization", "convert_products", "convert_qlinear", "convert_quantized", "convert_recurrent",
    "convert_reductions", "convert_resize", "convert_sequences", "convert_shapes", "convert_svm", "convert_trees",
    "convert_windows",
]  # fmt: skip
