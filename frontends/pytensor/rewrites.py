"""Which of PyTensor's rewrites run before ours."""

from __future__ import annotations

from typing import Any

from pytensor.compile.mode import optdb
from pytensor.graph.rewriting.db import RewriteDatabaseQuery

QUERY = RewriteDatabaseQuery(include=["fast_run"])


def inner_rewriter(linker: Any) -> Any:
    """Return the rewriter of the inner graphs of loops and of ops that are graphs."""
    return optdb.query(QUERY.including(*linker.required_rewrites).excluding(*linker.incompatible_rewrites))


