"""Sparse matrices, as `T.sparse`: compressed rows and columns, coordinates; values are SciPy's.

Begin with sparse_matrix.py, the class; products.py and elementwise.py compute, parts.py selects, entries.py sorts and
merges.
"""

from typing import TYPE_CHECKING

from ...record import lazy

if TYPE_CHECKING:
    from .collected import *  # noqa: F403
else:  # not at once: few programs use them
    __getattr__, __dir__ = lazy.all_of(__name__, ".collected")
