"""All distributions, for `T.distributions`."""

# ruff: noqa: F403

from . import continuous, discrete, multivariate, positive
from .continuous import *
from .discrete import *
from .distribution import Distribution as Distribution
from .multivariate import *
from .positive import *

__all__ = ["Distribution"]
__all__ += continuous.__all__
__all__ += discrete.__all__
__all__ += multivariate.__all__
__all__ += positive.__all__
