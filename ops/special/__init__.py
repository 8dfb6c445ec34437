"""Special functions, under SciPy's names, as `T.special`.

Begin with functions.py, the table; errors.py, ratios.py, gammas.py, betas.py, second_kind.py, bessel.py, integrals.py,
hypergeometric.py hold the functions of one number, of which `cbackend/ctext/translated.py` writes the C.
"""

from typing import TYPE_CHECKING

from ...record import lazy

if TYPE_CHECKING:
    from .functions import *  # noqa: F403
    from .functions import function_named as function_named
else:  # not at once: few programs use them
    __getattr__, __dir__ = lazy.all_of(__name__, ".functions")
