"""Products of matrices and linear algebra; as `T.linalg` the functions of `numpy.linalg` and `scipy.linalg`.

Begin with blas.py, the ops of products; names.py lists what users call, NumPy's and SciPy's.
"""

from typing import TYPE_CHECKING

from ...record import lazy

if TYPE_CHECKING:
    from .equations import *  # noqa: F403
    from .functions import *  # noqa: F403
    from .lu_factors import *  # noqa: F403
    from .matrix_functions import *  # noqa: F403
    from .schur_factors import *  # noqa: F403
    from .structured import *  # noqa: F403
else:  # not at once: ops import parts of this folder while they are loaded
    __getattr__, __dir__ = lazy.all_of(__name__, ".names")
