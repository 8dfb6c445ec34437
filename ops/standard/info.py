"""Answers to what the array API standard asks a namespace about itself (its chapter "Inspection")."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import DTYPES
from ..core.checks import shown

__all__ = ["__array_api_version__", "__array_namespace_info__"]

__array_api_version__ = "2025.12"
_DTYPES = {name: np.dtype(name) for name in DTYPES if name != "float16"}
"""The dtypes of the standard."""


class __array_namespace_info__:  # noqa: N801  (the name of the standard)
    """Capabilities, devices and dtypes of `T` as a namespace of the array API standard."""

    def capabilities(self) -> dict[str, Any]:
        """Return what the standard leaves open: masks as indices and lengths that values decide work, when a function
        runs; the rank has NumPy's bound.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Return the device of results."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """Return the devices that arrays pass through; engines copy to others by themselves."""
        return ("cpu",)

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """Return the dtypes of results for which none is asked."""
        _require_cpu(device)
        names = {"real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64"}
        return {kind: np.dtype(name) for kind, name in names.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype]:
        """Return the dtypes of a kind, or of one of a tuple of kinds, by name; of all kinds for None."""
        _require_cpu(device)
        if kind is None:
            return dict(_DTYPES)
        return {name: dtype for name, dtype in _DTYPES.items() if np.isdtype(dtype, kind)}


def _require_cpu(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f'the only device is "cpu", got {shown(device)}')
