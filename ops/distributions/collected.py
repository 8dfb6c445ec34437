"""All distributions, for `T.distributions`."""

# ruff: noqa: F403

from . import continuous, discrete, multivariate
from .continuous import *
from .discrete import *
from .distribution import Distribution as Distribution
from .multivariate import *

__all__ = sorted(["Distribution", *continuous.__all__, *discrete.__all__, *multivariate.__all__])
