"""What `function` may be told: one frozen value.

Each field can be set as ARIGNOTE_<FIELD> in the environment, which is read once.
"""

from __future__ import annotations

import os
from dataclasses import field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from .record import record

SHORT = 0.05
"""Seconds that a tiered function waits for its C by default: enough for what lies in the cache."""
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


@record
class Options:
    """The settings of this process.  A function compiled under some options keeps them."""

    mode: str = field(default="FAST_RUN", metadata={"doc": "the mode of functions that name none"})
    cache: Path | None = field(default=None, metadata={"doc": "folder of compiled code; default: under XDG_CACHE_HOME"})
    cache_key: Path | None = field(
        default=None, metadata={"doc": "file with a secret: the cache folder is shared with all who have it"}
    )
    cc: str | None = field(default=None, metadata={"doc": "C compiler; default: the first of gcc, clang, zig to work"})
    compile_budget: float | None = field(
        default=None, metadata={"doc": "seconds to wait for C; until it is there, NumPy runs a function"}
    )
    debug_info: bool = field(default=False, metadata={"doc": "compiled code speaks of your lines (gdb, sanitizers)"})
    prebuilt: bool = field(default=True, metadata={"doc": "use what was compiled when the package was installed"})
    profile: bool = field(default=False, metadata={"doc": "keep a run profile of every function"})
    progress: bool = field(default=True, metadata={"doc": "say what is going on if compiling takes long"})
    strict: bool = field(default=False, metadata={"doc": "a rule that fails, or C that does not compile, is an error"})
    threads: int | None = field(default=None, metadata={"doc": "threads of a call; default: as there are processors"})
    tiered: bool = field(default=False, metadata={"doc": "functions answer at once, by NumPy until their C is ready"})
    trace: Path | None = field(default=None, metadata={"doc": "folder that takes a record of every function"})

    @classmethod
    def from_environment(cls, environment: dict[str, str] | None = None) -> Options:
        """The options that the environment sets.  Raises ValueError, naming the variable, for what it cannot read."""
        environment = dict(os.environ) if environment is None else environment
        given = {f.name: environment.get(f"ARIGNOTE_{f.name.upper()}") for f in fields(cls)}
        return cls(**{name: _read(name, text) for name, text in given.items() if text is not None})


def _read(name: str, text: str) -> Any:
    if name in ("cache", "cache_key", "trace"):
        return _path(f"ARIGNOTE_{name.upper()}", text) if text else None
    if name == "threads":
        return as_threads("ARIGNOTE_THREADS", int(text) if text.strip().isdigit() else text or None)
    if name == "compile_budget":
        return _seconds("ARIGNOTE_COMPILE_BUDGET", text) if text else None
    if name not in ("debug_info", "prebuilt", "profile", "progress", "strict", "tiered"):
        return text or None
    if text.lower() not in _TRUE + _FALSE:
        raise ValueError(f"ARIGNOTE_{name.upper()} is {text!r}; expected one of {', '.join(_TRUE + _FALSE[:-1])}")
    return text.lower() in _TRUE


def _path(name: str, text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ValueError(f"{name} is {text!r}; there is no such user, or no HOME") from None


def as_threads(name: str, value: Any, default: int | None = None) -> int | None:
    """A number of threads, at least 1; `default` for None.  Raises ValueError or TypeError for anything else."""
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {value!r}; expected a whole number of threads, at least 1")
    if value < 1:
        raise ValueError(f"{name} is {value}; expected at least 1 thread")
    return value


def as_budget(tiered: Any, budget: Any, options: Options) -> float | None:
    """The seconds that a function waits for its C before NumPy runs it; None: however long it takes.

    What is None was not said, so that the options decide.  Raises ValueError or TypeError for what is no time.
    """
    if tiered is None and budget is None:
        tiered, budget = options.tiered, options.compile_budget
    if tiered is not None and not isinstance(tiered, bool):
        raise TypeError(f"tiered is {tiered!r}; expected True or False")
    if budget is None:
        return SHORT if tiered else None
    if tiered is False:
        raise ValueError("compile_budget makes a function tiered; leave tiered out, or compile_budget")
    return _seconds("compile_budget", budget)


def _seconds(name: str, value: Any) -> float:
    try:
        seconds = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}; expected a number of seconds") from None
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{name} is {value!r}; expected a number of seconds, at least 0")
    return seconds


@lru_cache(maxsize=1)
def process_options() -> Options:
    """The options of this process, read from the environment at the first use."""
    return Options.from_environment()
