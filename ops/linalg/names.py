"""All functions of `T.linalg`: NumPy's, and those that SciPy's `scipy.linalg` has besides."""

from typing import Any

from ..core.namespace import missing as _missing
from . import equations, functions, lu_factors, matrix_functions, schur_factors, structured
from .equations import *  # noqa: F403
from .functions import *  # noqa: F403
from .lu_factors import *  # noqa: F403
from .matrix_functions import *  # noqa: F403
from .schur_factors import *  # noqa: F403
from .structured import *  # noqa: F403

__all__: list[str] = []
__all__ += functions.__all__
__all__ += equations.__all__
__all__ += lu_factors.__all__
__all__ += matrix_functions.__all__
__all__ += schur_factors.__all__
__all__ += structured.__all__


def __getattr__(name: str) -> Any:
    return _missing(name, {}, "linalg")
