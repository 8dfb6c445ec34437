"""All functions of networks, for `T.nn`."""

# ruff: noqa: F403

from . import (
    activations,
    attending,
    convolution,
    ctc,
    distances,
    functions,
    losses,
    normalization,
    patches,
    places,
    pooling,
    recurrent,
    resizing,
    sampling,
    transposed,
    windows,
)
from .activations import *
from .attending import *
from .convolution import *
from .ctc import *
from .distances import *
from .functions import *
from .losses import *
from .normalization import *
from .patches import *
from .places import *
from .pooling import *
from .recurrent import *
from .resizing import *
from .sampling import *
from .transposed import *
from .windows import *

__all__: list[str] = []
__all__ += activations.__all__
__all__ += attending.__all__
__all__ += convolution.__all__
__all__ += ctc.__all__
__all__ += distances.__all__
__all__ += functions.__all__
__all__ += losses.__all__
__all__ += normalization.__all__
__all__ += patches.__all__
__all__ += places.__all__
__all__ += pooling.__all__
__all__ += recurrent.__all__
__all__ += resizing.__all__
__all__ += sampling.__all__
__all__ += transposed.__all__
__all__ += windows.__all__
