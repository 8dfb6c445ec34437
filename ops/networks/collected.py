"""All functions of networks, for `T.nn`."""

# ruff: noqa: F403

from typing import TYPE_CHECKING

from .. import networks as _networks
from ..core.keywords import with_numpys_keywords as _with_numpys_keywords
from .activations import *
from .attending import *
from .convolution import *
from .ctc import *
from .distances import *
from .dropping import *
from .fractional import *
from .functions import *
from .losses import *
from .normalization import *
from .patches import *
from .phases import by_phase as by_phase
from .phases import running_updates as running_updates
from .places import *
from .pooling import *
from .recurrent import *
from .resizing import *
from .sampling import *
from .transposed import *
from .windows import *

if not TYPE_CHECKING:  # type checkers follow the stars
    _PARTS = (
        "activations", "attending", "convolution", "ctc", "distances", "dropping", "fractional", "functions",
        "losses", "normalization", "patches", "places", "pooling", "recurrent", "resizing", "sampling", "transposed",
        "windows",
    )  # fmt: skip
    __all__ = ["by_phase", "running_updates"]
    for _part in _PARTS:
        __all__ += getattr(_networks, _part).__all__
    _with_numpys_keywords(globals(), "nn.")
