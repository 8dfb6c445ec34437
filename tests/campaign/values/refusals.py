"""NumPy's refusals: every function of NumPy's names with arguments drawn at random, legal and illegal ones.

A call begins with arguments that `keywords.py` has for the function.  Some are drawn anew: arrays of other lengths,
ranks, dtypes, orders and special values, other numbers, texts and tuples.  Both refuse, or both give the same values,
dtypes and shapes.  At full size calls are also compiled, with their arrays as inputs of unknown lengths, and called
with several draws of them: what only the run can know is refused by the run.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

from ..scorecard import Row, Trials
from .keywords import (
    NONE,
    OF,
    REQUIRED,
    Arguments,
    arguments_of,
    attempted,
    difference,
    evaluated,
    functions,
    numpys_own,
)
from .parity import COMPUTED_HERE, COMPUTED_OTHERWISE, REFUSED

FLOATS = (-1.0, 0.0, 0.5, 1.0, 2.0, 50.0, 100.0, 150.0, np.nan, np.inf, -np.inf)
INTEGERS = (-7, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7)
TEXTS = ("linear", "valid", "full", "same", "left", "right", "xy", "ij", "lower", "nothing", "fro", "stable")
PLAIN = (-2.0, -1.5, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 4.5, 7.0)
SPECIAL = ((-1.0, 0.0, 1.0), (0.0, np.nan), (np.nan,), (0.0, 1.0, np.inf), (1.0, 2.0, np.nan, -np.inf), (0.0,))
BOUNDS = ((0, 3), (0, 5), (-3, 4), (0, 8), (0, 2))
"""Ranges that arrays of integers are drawn from."""
OTHER_DTYPES = ("int64", "float32", "bool", "int8", "uint8", "complex128")
SMALL, FULL, COMPILED, AGAIN = 6, 300, 12, 8
"""Calls of a function at either size; how many of the latter are compiled; how often a compiled one is called."""


def run(full: bool) -> list[Row]:
    """Draw calls of all functions that both have."""
    trials = Trials("G36", "functions with arguments drawn at random: as NumPy, or both refuse")
    for name, ours, numpys in functions():
        for number in range(FULL if full else SMALL):
            rng = random.Random(f"{name} {number}")
            arguments = drawn(rng, name, numpys)
            wrong = disagreement(name, ours, numpys, arguments)
            trials.check(not wrong, wrong)
            if full and number < COMPILED:
                for wrong in compiled_disagreements(rng, name, ours, numpys, arguments):
                    trials.check(not wrong, wrong)
    return [trials.row()]


def disagreement(name: str, ours: Callable[..., Any], numpys: Callable[..., Any], arguments: Arguments) -> str:
    """How the two differ on a call, in words; "" if they agree, or as the table of exceptions says."""
    expected = attempted(numpys, numpys_own(numpys, arguments))
    return message(name, evaluated(attempted(ours, copy.deepcopy(arguments))), expected, arguments)


def compiled_disagreements(
    rng: random.Random, name: str, ours: Callable[..., Any], numpys: Callable[..., Any], arguments: Arguments
) -> Iterator[str]:
    """The differences of the compiled function with the arrays of the call as inputs, for draws of these."""
    arrays: list[np.ndarray] = []
    _map(arguments, arrays.append)
    inputs = [T.tensor(f"x{k}", v.dtype.name, (None,) * v.ndim) for k, v in enumerate(arrays)]
    symbolic = _filled(arguments, inputs)
    found = attempted(ours, symbolic)
    if isinstance(found, Exception) or not arrays:
        return  # the plain call tells; or the function asks for lengths
    outputs = attempted(lambda: [T.as_tensor(r) for r in found], ((), {}))
    f = ag.function(inputs, outputs, on_unused_input="ignore")
    for again in range(AGAIN):
        values = arrays if not again else [_array(rng, v, (v.ndim,), (v.dtype.name,)) for v in arrays]
        call = _filled(arguments, values)
        expected = attempted(numpys, numpys_own(numpys, call))
        yield message(f"{name} (compiled)", attempted(f, (tuple(values), {})), expected, call)


def message(what: str, found: Any, expected: Any, arguments: Arguments) -> str:
    """The difference of two results in words; "" for one that the table of exceptions has."""
    name = what.removesuffix(" (compiled)")
    wrong = difference(name, found, expected)
    if not wrong or _is_known(name, found, expected, arguments):
        return ""
    return f"{what}({_shown(arguments)}): {wrong}".replace("\n", " ")


def _is_known(name: str, found: Any, expected: Any, arguments: Arguments) -> bool:
    """Whether the tables of docs/numpy_parity.md have the difference."""
    if isinstance(expected, Exception):
        return name in COMPUTED_HERE
    if isinstance(found, Exception):
        return any(part in str(found) for part in {**REFUSED["every function"], **REFUSED.get(name, {})})
    return name in COMPUTED_OTHERWISE and COMPUTED_OTHERWISE[name][1](arguments)


# --- draws


def drawn(rng: random.Random, name: str, numpys: Callable[..., Any]) -> Arguments:
    """A call: the arguments that `keywords.py` has and some options, of which up to three are drawn anew."""
    positional: list[Any] = []
    if isinstance(numpys, np.ufunc):
        operands = ["x"] if numpys.nin == 1 else ["x1", "x2"]
        given = {o: OF.get(name, {}).get(o, REQUIRED[o]) for o in operands}
    else:
        known, required, options = arguments_of(name, numpys)
        positional, given = list(known), dict(required)
        for key, values in options.items():
            chosen = [v for v in values if v is not NONE]
            if chosen and rng.random() < 0.35:
                given[key] = rng.choice(chosen)
    keys: list[Any] = [*range(len(positional)), *(k for k in given if k != "dtype")]
    for key in rng.sample(keys, min(rng.choice((1, 1, 2, 3)), len(keys))):
        if isinstance(key, int):
            positional[key] = _other(rng, positional[key])
        else:
            given[key] = _other(rng, given[key])
    return tuple(positional), given


def _other(rng: random.Random, value: Any) -> Any:
    """Another value of the kind."""
    if isinstance(value, np.ndarray):
        return _array(rng, value, (value.ndim, 0, 1, 2, 3), (value.dtype.name,) * 16 + OTHER_DTYPES[:1])
    if isinstance(value, bool):
        return rng.random() < 0.5
    if isinstance(value, int | np.integer):
        return rng.choice(INTEGERS)
    if isinstance(value, float):
        return rng.choice(FLOATS)
    if isinstance(value, str):
        return rng.choice(TEXTS)
    if isinstance(value, tuple | list):
        items = [_other(rng, v) if rng.random() < 0.6 else v for v in value]
        return type(value)(items[: len(items) - (rng.random() < 0.2)] + items[-1:] * (rng.random() < 0.1))
    return rng.choice((0, 1, -1, 2, 5, 0.5)) if value is None and rng.random() < 0.5 else value


def _array(rng: random.Random, like: np.ndarray, ranks: tuple[int, ...], dtypes: tuple[str, ...]) -> np.ndarray:
    """An array of one of the dtypes, and mostly of the first of the ranks; vectors are sometimes sorted."""
    shape: tuple[int, ...] = like.shape
    kind = rng.random()
    if kind < 0.5 or len(ranks) == 1:
        shape = tuple(rng.choice((0, 1, 1, 2, 3, 4)) if rng.random() < 0.5 else n for n in shape)
    elif kind < 0.65:
        shape = tuple(rng.choice((1, 2, 3, 4)) for _ in range(rng.choice(ranks)))
    size = int(np.prod(shape))
    if like.dtype.kind == "b":
        values: list[Any] = [rng.random() < 0.5 for _ in range(size)]
    elif like.dtype.kind in "iu":
        low, high = rng.choice(BOUNDS)
        values = [rng.randint(low if like.dtype.kind == "i" else 0, high) for _ in range(size)]
    else:
        pool = rng.choice((PLAIN,) * 18 + SPECIAL)
        values = [rng.choice(pool) for _ in range(size)]
    order = rng.random()
    if len(shape) == 1 and order < 0.45:
        values.sort(reverse=order < 0.15)
    with np.errstate(all="ignore"):
        return np.array(values, like.dtype).reshape(shape).astype(rng.choice(dtypes))


def _filled(arguments: Arguments, values: Sequence[Any]) -> Arguments:
    """The arguments with these values in the places of the arrays."""
    rest = iter(values)
    return _map(arguments, lambda _: next(rest))


def _map(arguments: Arguments, change: Callable[[np.ndarray], Any]) -> Arguments:
    """The arguments with each array changed."""

    def changed(v: Any) -> Any:
        if isinstance(v, tuple | list):
            return type(v)(changed(item) for item in v)
        return change(v) if isinstance(v, np.ndarray) else v

    return tuple(map(changed, arguments[0])), {key: changed(v) for key, v in arguments[1].items()}


def _shown(arguments: Arguments) -> str:
    def one(v: Any) -> str:
        if isinstance(v, np.ndarray):
            return f"{v.dtype}{list(v.shape)}" + f" {v.tolist()}" * (v.size < 9)
        return f"{type(v).__name__}({', '.join(map(one, v))})" if isinstance(v, tuple | list) else repr(v)

    return ", ".join([*map(one, arguments[0]), *(f"{key}={one(v)}" for key, v in arguments[1].items())])[:300]
