"""All converters: importing this module registers them."""

from . import (
    control as convert_control,
)
from . import (
    elementwise as convert_elementwise,
)
from . import (
    images as convert_images,
)
from . import (
    indexing as convert_indexing,
)
from . import (
    ml as convert_ml,
)
from . import (
    normalization as convert_normalization,
)
from . import (
    products as convert_products,
)
from . import (
    qlinear as convert_qlinear,
)
from . import (
    quantized as convert_quantized,
)
from . import (
    recurrent as convert_recurrent,
)
from . import (
    reductions as convert_reductions,
)
from . import (
    resize as convert_resize,
)
from . import (
    sequences as convert_sequences,
)
from . import (
    shapes as convert_shapes,
)
from . import (
    svm as convert_svm,
)
from . import (
    trees as convert_trees,
)
from . import (
    windows as convert_windows,
)

__all__ = [
    "convert_control", "convert_elementwise", "convert_images", "convert_indexing", "convert_ml",
    "convert_normalization", "convert_products", "convert_qlinear", "convert_quantized", "convert_recurrent",
    "convert_reductions", "convert_resize", "convert_sequences", "convert_shapes", "convert_svm", "convert_trees",
    "convert_windows",
]  # fmt: skip
