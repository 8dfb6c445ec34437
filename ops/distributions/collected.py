"""All distributions, for `T.distributions`."""

# ruff: noqa: F403

from typing import Any

from ..core.namespace import missing as _missing
from . import continuous, discrete, intervals, multivariate, positive
from .continuous import *
from .discrete import *
from .distribution import Distribution as Distribution
from .intervals import *
from .multivariate import *
from .positive import *

__all__ = ["Distribution"]
__all__ += continuous.__all__
__all__ += discrete.__all__
__all__ += intervals.__all__
__all__ += multivariate.__all__
__all__ += positive.__all__


def __getattr__(name: str) -> Any:
    return _missing(name, {}, "distributions")
