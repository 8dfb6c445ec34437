"""Products of matrices and linear algebra; as `T.linalg` the functions of NumPy's `numpy.linalg`.

Begin with blas.py, the ops of products; functions.py holds what users call.
"""

from typing import TYPE_CHECKING

from ...record import lazy

if TYPE_CHECKING:
    from .functions import *  # noqa: F403
else:  # not at once: ops import parts of this folder while they are loaded
    __getattr__, __dir__ = lazy.all_of(__name__, ".functions")
