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

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


@record
class Options:
    """The settings of this process.  A function compiled under some options keeps them."""

    mode: str = field(default="FAST_RUN", metadata={"doc": "the mode of functions that name none"})
    cache: Path | None = field(default=None, metadata={"doc": "folder of compiled code; default: under XDG_CACHE_HOME"})
    cc: str | None = field(default=None, metadata={"doc": "C compiler; default: the first of gcc, clang, zig to work"})
    profile: bool = field(default=False, metadata={"doc": "keep a run profile of every function"})
    strict: bool = field(default=False, metadata={"doc": "a rule that fails, or C that does not compile, is an error"})

    @classmethod
    def from_environment(cls, environment: dict[str, str] | None = None) -> Options:
        """The options that the environment sets.  Raises ValueError, naming the variable, for what it cannot read."""
        environment = dict(os.environ) if environment is None else environment
        given = {f.name: environment.get(f"ARIGNOTE_{f.name.upper()}") for f in fields(cls)}
        return cls(**{name: _read(name, text) for name, text in given.items() if text is not None})


def _read(name: str, text: str) -> Any:
    if name == "cache":
        return Path(text).expanduser() if text else None
    if name not in ("profile", "strict"):
        return text or None
    if text.lower() not in _TRUE + _FALSE:
        raise ValueError(f"ARIGNOTE_{name.upper()} is {text!r}; expected one of {', '.join(_TRUE + _FALSE[:-1])}")
    return text.lower() in _TRUE


@lru_cache(maxsize=1)
def process_options() -> Options:
    """The options of this process, read from the environment at the first use."""
    return Options.from_environment()
