"""Networks: the softmax family, activations, losses; see networks/functions.py."""

from typing import TYPE_CHECKING

from .core.namespace import missing as _missing
from .networks.functions import *  # noqa: F403
from .networks.functions import __all__ as __all__

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        return _missing(name, {})


def __dir__() -> list[str]:
    return __all__
