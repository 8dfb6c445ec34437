"""Theano's modes as ours: names, linkers, optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....function.mode import Mode as CoreMode
from ....optdb import Query
from ..flags import config

PYTHON_LINKERS = ("py", "vm_nogc", "vm", "c&py")
LINKERS = ("cvm", "c|py", "c|py_nogc", "c", "cvm_nogc", *PYTHON_LINKERS)
OPTIMIZERS = {
    "fast_run": "fast_run", "o4": "fast_run", "unsafe": "fast_run", "o3": "fast_run", "o2": "fast_run",
    "fast_compile": "fast_compile", "o1": "fast_compile", "merge": "fast_compile", "None": None, None: None,
}  # fmt: skip
"""Our query for the name of an optimizer; None: nothing is rewritten."""


def Mode(linker: Any = None, optimizer: Any = "default") -> CoreMode:
    """The mode of a linker and an optimizer: linkers of Python run NumPy, the others C."""
    linker = config.linker if linker is None else linker
    if isinstance(linker, str) and linker not in LINKERS:
        raise ValueError(f"Mode: the linker is {linker!r}; expected one of {', '.join(LINKERS)}")
    backend = "numpy" if linker in PYTHON_LINKERS else "c"
    return CoreMode(our_optimizer(optimizer), backend=backend)


def our_optimizer(optimizer: Any) -> Any:
    """The query for the name of an optimizer, "default" for that of the configuration; queries as they are."""
    if optimizer == "default":
        optimizer = config.optimizer
    if isinstance(optimizer, str) or optimizer is None:
        if optimizer not in OPTIMIZERS:
            raise ValueError(f"Mode: the optimizer is {optimizer!r}; expected one of {', '.join(map(str, OPTIMIZERS))}")
        return OPTIMIZERS[optimizer]
    return optimizer


def DebugMode(**options: Any) -> CoreMode:
    """The mode that compares each call with NumPy."""
    return CoreMode("fast_run", check=True, name="DEBUG")


MADE: dict[str, Callable[[], CoreMode]] = {}
"""Modes by name that are made when they are asked for."""
NAMES = {
    "FAST_RUN": CoreMode("fast_run", name="FAST_RUN"),
    "FAST_COMPILE": CoreMode("fast_compile", backend="numpy", name="FAST_COMPILE"),
    "DEBUG_MODE": CoreMode("fast_run", check=True, name="DEBUG"),
    "DebugMode": CoreMode("fast_run", check=True, name="DEBUG"),
    "DEBUG": CoreMode("fast_run", check=True, name="DEBUG"),
    "ProfileMode": CoreMode("fast_run", name="FAST_RUN"),
}
predefined_modes = NAMES


def get_mode(mode: Any = None) -> Any:
    """Our mode for a mode of Theano, its name, or a query; None is that of the configuration."""
    if mode is None:
        mode = config.mode
    if mode == "Mode":
        return _included(Mode())
    if isinstance(mode, str) and mode in NAMES:
        return NAMES[mode]
    if isinstance(mode, str) and mode in MADE:
        return MADE[mode]()
    if isinstance(mode, str):
        raise ValueError(f"no mode is named {mode!r}; expected Mode, {', '.join([*NAMES, *MADE])}")
    if isinstance(mode, (CoreMode, Query)):
        return mode
    raise TypeError(f"mode is {mode!r}; expected the name of a mode or theano.compile.Mode(...)")


def get_default_mode() -> Any:
    """The default mode of functions."""
    return get_mode(None)


def _included(mode: CoreMode) -> CoreMode:
    """The mode with the tags that the configuration includes and excludes."""
    for flag, change in (("optimizer_including", "including"), ("optimizer_excluding", "excluding")):
        names = [name for name in getattr(config, flag).split(":") if name]
        if names and mode.optimizer is not None:
            mode = getattr(mode, change)(*names)
    return mode
