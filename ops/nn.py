"""Networks: layers, activations, normalization, pools, attention, losses; see networks/functions.py."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from .core.namespace import missing as _missing

if TYPE_CHECKING:
    from .networks.collected import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        collected = _import_module(".networks.collected", __package__)  # not at once: few programs use them
        if name == "__all__" or name in collected.__all__:
            return getattr(collected, name)
        return _missing(name, {}, "nn")


def __dir__() -> list[str]:
    return list(_import_module(".networks.collected", __package__).__all__)
