"""A special function: an elementwise op whose meaning is a scalar function, which also has C (scalars.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.namespace import T
from ..elementwise.pointwise import Elementwise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ...graph import Op

SPECIAL: dict[str, SpecialFunction] = {}
"""Every special function by name."""


class SpecialFunction(Elementwise):
    """An elementwise op of `T.special`: float64 inside, rounded once; integers promote as SciPy's do."""

    @classmethod
    def printed(cls) -> Mapping[str, Op | Callable[..., Op]]:
        return SPECIAL

    def __reduce__(self) -> Any:
        return T.special.function_named, (self.name,)
