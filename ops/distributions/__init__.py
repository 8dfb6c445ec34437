"""Probability distributions, as `T.distributions`: log density, log distribution function, mean, draws.

Begin with distribution.py, the base; continuous.py, intervals.py, positive.py, discrete.py and
multivariate.py hold them.
"""

from typing import TYPE_CHECKING

from ...record import lazy

if TYPE_CHECKING:
    from .collected import *  # noqa: F403
else:  # not at once: few programs use them
    __getattr__, __dir__ = lazy.all_of(__name__, ".collected")
