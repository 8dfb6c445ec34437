"""The versions of PyTorch that this package knows."""

from __future__ import annotations

OLDEST = (2, 6)

try:
    import torch
except ImportError as error:
    raise ImportError("PyTorch is not installed; pip install arignote[torch]", name="torch") from error

VERSION = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
if VERSION < OLDEST:
    raise ImportError(f"PyTorch {torch.__version__} is too old; expected {OLDEST[0]}.{OLDEST[1]} or newer")
