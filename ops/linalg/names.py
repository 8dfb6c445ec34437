"""All functions of `T.linalg`: NumPy's, and those that SciPy's `scipy.linalg` has besides."""

from . import equations, functions, lu_factors, matrix_functions, schur_factors, structured
from .equations import *  # noqa: F403
from .functions import *  # noqa: F403
from .lu_factors import *  # noqa: F403
from .matrix_functions import *  # noqa: F403
from .schur_factors import *  # noqa: F403
from .structured import *  # noqa: F403

_MODULES = (equations, functions, lu_factors, matrix_functions, schur_factors, structured)
__all__ = sorted(name for module in _MODULES for name in module.__all__)
