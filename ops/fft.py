"""Discrete Fourier transforms as NumPy's `numpy.fft` has them; see linalg/transforms.py."""

from .linalg.transforms import *  # noqa: F403
from .linalg.transforms import __all__ as __all__


def __dir__() -> list[str]:
    return __all__
