"""Claims that are proved: two graphs that compute the same as far as a contract says, and the judge of their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph import FunctionGraph
from ..ops.core.interpret import interpret
from ..ops.linalg.blas import BlasOp, Dot
from ..optdb import Contract
from .agreement import disagreements


@dataclass(frozen=True)
class Instance:
    """Two graphs that compute the same: the part of a graph that a rule replaces, and its replacement."""

    before: FunctionGraph
    after: FunctionGraph

    @property
    def dtypes(self) -> str:
        return ", ".join(dict.fromkeys(v.dtype for v in self.before.inputs)) or "constants"


Judge = Callable[[Contract, Instance, Sequence[np.ndarray], np.ndarray, np.ndarray], str]
"""The violation of a contract by values (contract, graphs, arrays, value before, value after), as text; empty: none."""


@dataclass(frozen=True)
class Claim:
    """The promise of a rule: its contract, and the judge of values that NumPy computes."""

    contract: Contract
    judge: Judge


def outcome(graph: FunctionGraph, arrays: Sequence[np.ndarray]) -> Any:
    """The first output, or the exception of the run."""
    try:
        return interpret(graph, arrays)[0]
    except (ValueError, IndexError, ArithmeticError, MemoryError) as error:
        return error


def is_of_lengths(error: Exception) -> bool:
    """Whether a run failed because lengths do not agree: what is proved of lengths is proved of runs in which they do.

    Memory that is too short is no error of the graph either.
    """
    values = ("negative integer powers", "zero-size", "empty sequence")
    return isinstance(error, MemoryError) or (type(error) is ValueError and not any(v in str(error) for v in values))


ROUGH = 0.5
"""Of all digits, those that results which a contract lets come nearer to the truth must share."""


def judged(
    contract: Contract, instance: Instance, arrays: Sequence[np.ndarray], want: np.ndarray, got: np.ndarray
) -> str:
    """The first element that the contract does not allow.

    Where the contract lets a result come nearer to the truth, which nobody knows here, half of the digits must agree,
    and what was no finite number is free.
    """
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"{want.dtype}{list(want.shape)} became {got.dtype}{list(got.shape)}"
    numbers = [a for a in arrays if a.dtype.kind in "fc"]
    scale = float(max((np.abs(a[np.isfinite(a)]).max(initial=0.0) for a in numbers), default=0.0))
    finite = all(np.isfinite(a).all() for a in numbers)
    wrong = np.atleast_1d(disagreements(contract, want, got, scale, finite))
    want, got = np.atleast_1d(want), np.atleast_1d(got)
    if not finite and any(isinstance(node.op, (BlasOp, Dot)) for node in instance.before.order):
        wrong &= np.isfinite(want) & np.isfinite(got)  # BLAS skips some zeros, which infinity makes NaN
    if contract.nearer and want.dtype.kind in "fc":
        rough = float(np.finfo(want.dtype).eps) ** ROUGH
        with np.errstate(all="ignore"):
            wrong &= np.isfinite(want) & ~(np.abs(want - got) <= rough * np.maximum(np.abs(want), 1.0))
    if not wrong.any():
        return ""
    where = tuple(np.argwhere(wrong)[0])
    return f"{want[where]!r} became {got[where]!r} at {list(map(int, where))} ({contract})"
