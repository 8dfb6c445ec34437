"""Streams of random numbers; as `T.random` what users call.

Begin with streams.py; draws.py holds the states, draw_parameters.py the conditions on parameters.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .streams import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:  # not at once: ops import parts of this folder while they are loaded
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(".streams", __name__), name)

    def __dir__() -> list[str]:
        return __getattr__("__all__")
