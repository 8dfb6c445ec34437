"""PyTensor with its CVM linker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cases import Case
from ._pytensor import build_with, version

__all__ = ["build", "version"]


def build(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return build_with("CVM", case)
