"""Windows of signals: vectors of weights whose length is known when the graph is built; NumPy computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.checks import shown
from ..core.tensor import TensorVariable, constant


def bartlett(M: int) -> TensorVariable:
    """The triangular window of M points, float64."""
    return _window(np.bartlett, M)


def blackman(M: int) -> TensorVariable:
    """The Blackman window of M points, float64."""
    return _window(np.blackman, M)


def hamming(M: int) -> TensorVariable:
    """The Hamming window of M points, float64."""
    return _window(np.hamming, M)


def hanning(M: int) -> TensorVariable:
    """The Hann window of M points, float64."""
    return _window(np.hanning, M)


def kaiser(M: int, beta: float) -> TensorVariable:
    """The Kaiser window of M points with the shape parameter `beta`, float64."""
    return _window(np.kaiser, M, float(beta))


def _window(function: Callable[..., Any], M: Any, *arguments: float) -> TensorVariable:
    if isinstance(M, bool) or not isinstance(M, (int, np.integer)):
        raise TypeError(f"{function.__name__}: M is an integer known when the graph is built, got {shown(M)}")
    return constant(function(int(M), *arguments))
