"""All names of `T.sparse`."""

# ruff: noqa: F403

from typing import Any

from ..core.namespace import missing as _missing
from . import blocks, elementwise, making, parts, products, scipys, sparse_matrix, sums
from .blocks import *
from .elementwise import *
from .making import *
from .parts import *
from .products import *
from .scipys import *
from .sparse_matrix import *
from .sums import *

__all__: list[str] = []
__all__ += blocks.__all__
__all__ += elementwise.__all__
__all__ += making.__all__
__all__ += sparse_matrix.__all__
__all__ += parts.__all__
__all__ += products.__all__
__all__ += scipys.__all__
__all__ += sums.__all__


def __getattr__(name: str) -> Any:
    return _missing(name, {}, "sparse")
