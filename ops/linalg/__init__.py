"""Products of matrices and linear algebra; as `T.linalg` the functions of NumPy's `numpy.linalg`.

Begin with blas.py, the ops of products; functions.py holds what users call.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .functions import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:  # not at once: ops import parts of this folder while they are loaded
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(".functions", __name__), name)

    def __dir__() -> list[str]:
        return __getattr__("__all__")
