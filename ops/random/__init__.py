"""Streams of random numbers; as `T.random` what users call.

Begin with streams.py; draws.py holds the states, draw_parameters.py the conditions on parameters.
"""

from typing import TYPE_CHECKING

from ...record import lazy

if TYPE_CHECKING:
    from .streams import *  # noqa: F403
else:  # not at once: ops import parts of this folder while they are loaded
    __getattr__, __dir__ = lazy.all_of(__name__, ".streams")
