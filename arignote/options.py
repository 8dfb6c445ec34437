"""Options of a process, one immutable value; each field is read once from ARIGNOTE_<FIELD> in the environment.

The fields are the one table of these variables: `docs/options.md`, and the warning on an unknown one, come from it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from .notices import notice
from .record import record
from .record.spelling import nearest

SHORT = 0.05
"""Seconds that a tiered function waits for its C by default: enough for a cache hit."""
PREFIX = "ARIGNOTE_"
DEBUG_LEVELS = (
    "nothing",
    "each function that was compiled, and how long that took",
    "each call, and its kernels with time and bandwidth",
    "each pass that changed something",
    "the program and the loops of its kernels",
    "the C",
)
"""The lines that each value of ARIGNOTE_DEBUG adds to the one before."""
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


def _text(name: str, text: str) -> str | None:
    """A word or a command line."""
    return text or None


def _path(name: str, text: str) -> Path | None:
    """A path, in which `~` is the home folder."""
    try:
        return Path(text).expanduser() if text else None
    except RuntimeError:
        raise ValueError(f"{name} is {text!r}; there is no such user, or no HOME") from None


def _flag(name: str, text: str) -> bool:
    """1, true, yes or on; 0, false, no or off."""
    if text.lower() not in _TRUE + _FALSE:
        raise ValueError(f"{name} is {text!r}; expected one of {', '.join(_TRUE + _FALSE[:-1])}")
    return text.lower() in _TRUE


def _count(name: str, text: str) -> int | None:
    """A whole number, at least 1."""
    return as_threads(name, int(text) if text.strip().isdigit() else text or None)


def _duration(name: str, text: str) -> float | None:
    """A number of seconds, at least 0."""
    return _seconds(name, text) if text else None


def _level(name: str, text: str) -> int:
    """A whole number from 0 to 5; a larger one is 5."""
    if text.strip() and not text.strip().isdecimal():
        raise ValueError(f"{name} is {text!r}; expected a whole number from 0 to {len(DEBUG_LEVELS) - 1}")
    return min(int(text.strip() or 0), len(DEBUG_LEVELS) - 1)


def _option(default: Any, read: Callable[[str, str], Any], doc: str) -> Any:
    """Return a field with its parser (whose docstring describes the accepted text) and its description."""
    return field(default=default, metadata={"read": read, "doc": doc})


@record
class Options:
    """The settings of this process.  A function compiled under some options keeps them."""

    mode: str = _option("FAST_RUN", _text, "mode of functions that name none, such as `FAST_COMPILE`")
    cache: Path | None = _option(None, _path, "folder of compiled code; by default one under `XDG_CACHE_HOME`")
    cache_key: Path | None = _option(
        None, _path, "file with a secret: the cache folder is shared with everybody who can read the file"
    )
    cc: str | None = _option(None, _text, "C compiler; by default the first of `CC`, gcc, clang, cc, zig that works")
    compile_budget: float | None = _option(
        None, _duration, "longest wait for the C of a function; NumPy runs the function until its C is ready"
    )
    debug: int = _option(0, _level, "lines on standard error that tell what is compiled and run; see below")
    debug_info: bool = _option(False, _flag, "compiled code carries your source lines (gdb, sanitizers)")
    prebuilt: bool = _option(True, _flag, "use the parts of the runtime that were compiled at installation")
    profile: bool = _option(False, _flag, "keep a run profile of every function; print those of called ones at exit")
    progress: bool = _option(True, _flag, "show a line in terminals and notebooks while compiling takes long")
    strict: bool = _option(False, _flag, "raise an error if a rule fails or C does not compile, instead of going on")
    threads: int | None = _option(None, _count, "threads of a call; by default one for each processor")
    tiered: bool = _option(False, _flag, "functions answer at once: NumPy runs them until their C is ready")
    trace: Path | None = _option(None, _path, "folder that receives a record of every function, for `report`")

    @classmethod
    def from_environment(cls, environment: dict[str, str] | None = None) -> Options:
        """Return the options of the environment.  Raises ValueError, with the variable's name, for unreadable ones."""
        environment = dict(os.environ) if environment is None else environment
        given = {f: environment.get(variable_of(f.name)) for f in fields(cls)}
        found = {f.name: f.metadata["read"](variable_of(f.name), text) for f, text in given.items() if text is not None}
        return cls(**{name: value for name, value in found.items() if value is not None})


OTHERS = {
    "CC": "C compiler to try first, unless `ARIGNOTE_CC` is set",
    "PATH": "folders of the compilers; relative ones are passed over",
    "XDG_CACHE_HOME": "folder that holds `arignote/`, the cache, unless `ARIGNOTE_CACHE` is set; by default `~/.cache`",
    "TMPDIR": "folder of temporary files where the cache cannot be written",
}
"""Variables of other programs that are read as well."""


def variable_of(name: str) -> str:
    """The environment variable of an option."""
    return PREFIX + name.upper()


def unknown_variables(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield names with the prefix of options that are none, each with the likely option, or nothing."""
    known = {f.name: variable_of(f.name) for f in fields(Options)}
    for name in sorted(names):
        if name.startswith(PREFIX) and name not in known.values():
            near = nearest(name.removeprefix(PREFIX).lower(), known)
            yield name, known[near[0]] if near else ""


def warn_of_unknown(names: Iterable[str]) -> None:
    """Warn of each variable with the prefix of options that is none."""
    for name, meant in unknown_variables(names):
        notice(f"{name} is no option and has no effect" + (f"; did you mean {meant}?" if meant else ""))


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
    """Return the seconds that a function waits for its C before NumPy runs it; None: no limit.

    The options decide where an argument is None.  Raises ValueError or TypeError for an argument that is not a time.
    """
    if tiered is None and budget is None:
        tiered, budget = options.tiered or None, options.compile_budget
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
    options = Options.from_environment()
    warn_of_unknown(os.environ)
    return options
