"""`theano.sandbox.rng_mrg`: streams of MRG31k3p, bit for bit, as expressions that compile to C.

The generator has two recurrences of order 3, modulo 2**31 - 1 and 2**31 - 21069; a draw is their difference.  Each row
of a state is a stream; draw number i comes from stream i modulo the number of streams.  Streams are 2**72 draws apart.
Source: P. L'Ecuyer and R. Touzin, Fast combined multiple recursive generators with multipliers of the form
a = +-2^q +-2^r, Proceedings of the 2000 Winter Simulation Conference.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from .... import ops as T
from ....control.cond import cond
from ....control.scan import scan
from ..tensors.dtypes import float_x, upcast
from ..tensors.elementwise import FUNCTIONS, cast
from ..tensors.shapes import length, lengths
from ..tensors.variables import Variable, as_tensor_variable, lower, wrap
from .shared_values import shared

M1, M2 = 2**31 - 1, 2**31 - 21069
A1 = np.array([[0, 2**22, 2**7 + 1], [1, 0, 0], [0, 1, 0]], dtype=object)
A2 = np.array([[2**15, 0, 2**15 + 1], [1, 0, 0], [0, 1, 0]], dtype=object)
NORM = {"float16": 4.65661287e-10, "float32": 4.6566126e-10, "float64": 2.0**-31}
MOST_STREAMS = 60 * 256
UNROLLED = 8
"""Steps that are written one after the other; more of them are a loop."""


@cache
def _jump(exponent: int) -> tuple[Any, Any]:
    """The matrices of 2**exponent steps."""
    found = []
    for matrix, modulus in ((A1, M1), (A2, M2)):
        for _ in range(exponent):
            matrix = matrix.dot(matrix) % modulus
        found.append(matrix)
    return found[0], found[1]


def _moved(states: np.ndarray, jump: tuple[Any, Any]) -> np.ndarray:
    """Rows of states after a jump."""
    parts = []
    for part, matrix, modulus in ((states[:, :3], jump[0], M1), (states[:, 3:], jump[1], M2)):
        given = part.astype(np.int64)
        products = [(given * np.array([int(m) for m in row], np.int64)) % modulus for row in matrix]
        parts.append(np.stack([p.sum(axis=1) % modulus for p in products], axis=1))
    return np.concatenate(parts, axis=1).astype(np.int32)


def ff_2p134(rstate: Any) -> np.ndarray:
    """The state 2**134 draws later."""
    return np.asarray(_moved(np.asarray(rstate)[None], _jump(134))[0])


def ff_2p72(rstate: Any) -> np.ndarray:
    """The state 2**72 draws later."""
    return np.asarray(_moved(np.asarray(rstate)[None], _jump(72))[0])


def substreams(first: np.ndarray, count: int) -> np.ndarray:
    """Generator states 2**72 draws apart, beginning with the given one."""
    found = np.asarray(first, np.int32)[None]
    doubled = 0
    while len(found) < count:
        found = np.concatenate([found, _moved(found, _jump(72 + doubled))])
        doubled += 1
    return found[:count]


def guess_n_streams(size: Any, warn: bool = False) -> int:
    """The number of streams for a shape: a sixth of the draws, at most 15360, which is that of unknown shapes."""
    if not isinstance(size, (tuple, list)) or not all(isinstance(n, (int, np.integer)) for n in size):
        return MOST_STREAMS
    count = int(np.prod([int(n) for n in size]))
    return min(count // 6 if count > 6 else count, MOST_STREAMS)


# --- a step of the generator as an expression


def _reduced(x: Any, modulus: int) -> Any:
    return T.switch(T.ge(x, modulus), T.sub(x, modulus), x)


def _shifted(x: Any, bits: int) -> Any:
    """x 2**(31 - bits) modulo about 2**31, as low and high bits exchanged."""
    return T.bitwise_and(x, 2**bits - 1), T.right_shift(x, bits)


def _next(columns: Sequence[Any]) -> list[Any]:
    """The state after a draw: a column for each of its six numbers."""
    x11, x12, x13, x21, x22, x23 = columns
    low, high = _shifted(x12, 9)
    y = T.add(T.left_shift(low, 22), high)
    low, high = _shifted(x13, 24)
    y = _reduced(T.add(y, T.left_shift(low, 7), high), M1)
    new1 = _reduced(T.add(y, x13), M1)
    total = x23
    for x in (x23, x21):
        low, high = _shifted(x, 16)
        total = T.add(total, _reduced(T.add(T.left_shift(low, 15), T.mul(high, 21069)), M2))
        total = _reduced(total, M2)
    return [new1, x11, x12, total, x21, x22]


def _draw(columns: Sequence[Any], dtype: str) -> Any:
    """The uniform number between 0 and 1 of a state."""
    difference = T.sub(columns[0], columns[3])
    positive = T.switch(T.le(difference, 0), T.add(difference, M1), difference)
    if dtype == "float16":
        return T.cast(T.mul(T.cast(positive, "float32"), T.constant(NORM[dtype], "float32")), dtype)
    return T.mul(T.cast(positive, dtype), T.constant(NORM[dtype], dtype))


def draws(state: Any, count: Any, dtype: str) -> tuple[Any, Any]:
    """(new state, `count` numbers) of streams; `count` is an integer or an int64 scalar."""
    streams = int(state.container.value.shape[0])
    total = T.as_tensor(count)
    if not isinstance(count, int):
        few, many = lambda: _some(state, total, dtype), lambda: _looped(state, streams, total, dtype)
        return tuple(cond(T.le(total, streams), few, many))
    if count < streams:
        return tuple(_some(state, total, dtype))
    if count > UNROLLED * streams:
        return tuple(_looped(state, streams, total, dtype))
    columns, parts = _unrolled(_columns(state), streams, count, dtype)
    return _rows(columns), T.concatenate(parts) if len(parts) > 1 else parts[0]


def _columns(state: Any) -> list[Any]:
    return [T.cast(state[:, k], "int64") for k in range(6)]


def _rows(columns: Sequence[Any]) -> Any:
    return T.cast(T.stack(list(columns), 1), "int32")


def _unrolled(columns: list[Any], streams: int, count: int, dtype: str) -> tuple[list[Any], list[Any]]:
    parts = []
    while count > 0:
        if count >= streams:
            columns = _next(columns)
            parts.append(_draw(columns, dtype))
        else:
            moved = _next([c[:count] for c in columns])
            parts.append(_draw(moved, dtype))
            columns = [T.concatenate([new, old[count:]]) for new, old in zip(moved, columns, strict=True)]
        count -= streams
    return columns, parts


def _some(state: Any, count: Any, dtype: str) -> list[Any]:
    """The new state and the numbers of at most one draw a stream; the other streams stay as they are."""
    moved = _next(_columns(state[:count]))
    return [T.set_subtensor(state[:count], _rows(moved)), _draw(moved, dtype)]


def _looped(state: Any, streams: int, total: Any, dtype: str) -> list[Any]:
    """The same as a loop; in its last step the streams whose draws are not needed stay as they are."""
    steps = T.floor_div(T.add(total, streams - 1), streams)
    places = T.arange(streams)

    def step(first: Any, *before: Any) -> list[Any]:
        moved = _next(before)
        goes_on = T.lt(T.add(places, first), total)
        kept = [T.switch(goes_on, new, old) for new, old in zip(moved, before, strict=True)]
        return [*kept, _draw(moved, dtype)]

    starts = T.mul(T.arange(steps), streams)
    infos: Any = [*_columns(state), None]
    found, _ = scan(step, starts, infos)
    return [_rows([v[-1] for v in found[:6]]), T.flatten(found[6])[:total]]


# --- streams


class MRG_RandomStreams:  # noqa: N801  # Theano's name
    """Streams of random tensors; each draw is a new state, which functions advance.

    `seed`: an integer from 1 to 2147462578, or six of them.
    """

    def __init__(self, seed: Any = 12345, use_cuda: Any = None) -> None:
        self.state_updates: list[tuple[Any, ...]] = []
        self.default_instance_seed = seed
        self.set_rstate(seed)

    def updates(self) -> list[tuple[Any, ...]]:
        """The states and their next values."""
        return list(self.state_updates)

    def set_rstate(self, seed: Any) -> None:
        """Begin at a seed.  Raises ValueError for one that is out of range."""
        if isinstance(seed, (int, np.integer)):
            if not 0 < seed < M2:
                raise ValueError(f"MRG_RandomStreams: the seed is {seed}; expected 1 to {M2 - 1}")
            self.rstate = np.full(6, int(seed), np.int32)
            return
        given = [int(n) for n in seed]
        fits = len(given) == 6 and any(given[:3]) and any(given[3:])
        if not fits or max(given[:3]) >= M1 or max(given[3:]) >= M2 or min(given) < 0:
            raise ValueError(f"MRG_RandomStreams: the seed is {seed!r}; expected an integer or six below {M2}")
        self.rstate = np.array(given, np.int32)

    def seed(self, seed: Any = None) -> None:
        """Begin again: all states that were made get the values that they would have from this seed."""
        self.set_rstate(self.default_instance_seed if seed is None else seed)
        for state, _, size, nstreams in self.state_updates:
            count = guess_n_streams(size) if nstreams is None else nstreams
            state.set_value(self.get_substream_rstates(count))

    def inc_rstate(self) -> None:
        """Go to the next group of streams."""
        self.rstate = ff_2p134(self.rstate)

    def get_substream_rstates(self, n_streams: int, dtype: Any = None, inc_rstate: bool = True) -> np.ndarray:
        """The states of a group of streams."""
        found = substreams(self.rstate, int(n_streams))
        if inc_rstate:
            self.inc_rstate()
        return found

    def n_streams(self, size: Any) -> int:
        """The number of streams for a shape."""
        return guess_n_streams(size)

    def _uniform(self, size: Any, shape: Any, dtype: str, nstreams: Any) -> Any:
        """Numbers between 0 and 1 of a shape; `size` as it was given decides on the number of streams."""
        count = guess_n_streams(size) if nstreams is None else int(nstreams)
        state = shared(self.get_substream_rstates(max(count, 1)), borrow=True)
        new, flat = draws(state.core, _count(shape), dtype)
        sample = wrap(T.reshape(flat, shape), state)
        sample.rstate, sample.update = state, (state, wrap(new))
        self.state_updates.append((state, sample.update[1], size, nstreams))
        state.default_update = sample.update[1]
        return sample

    def uniform(
        self, size: Any, low: Any = 0.0, high: Any = 1.0, ndim: Any = None, dtype: Any = None, nstreams: Any = None,
        **options: Any,
    ) -> Any:  # fmt: skip
        """Numbers between `low` and `high`."""
        bounds = [as_tensor_variable(v) for v in (low, high)]
        dtype = upcast(float_x(None), *(v.dtype for v in bounds)) if dtype is None else float_x(dtype)
        given, shape = _shape(size, ndim)
        sample = self._uniform(given, shape, dtype, nstreams)
        if (low, high) == (0.0, 1.0) and not any(isinstance(v, Variable) for v in (low, high)):
            return sample
        first, last = (cast(v, dtype) for v in bounds)
        return _noted(sample * (last - first) + first, sample)

    def binomial(
        self, size: Any = None, n: int = 1, p: Any = 0.5, ndim: Any = None, dtype: Any = "int64", nstreams: Any = None,
        prob: Any = None, **options: Any,
    ) -> Any:  # fmt: skip
        """Ones with probability `p`, else zeros."""
        if n != 1:
            raise NotImplementedError("MRG_RandomStreams.binomial: only n=1; RandomStreams has more")
        p = as_tensor_variable(p if prob is None else prob)
        size = [p.shape[k] for k in range(p.ndim)] if size is None else size
        sample = self.uniform(size, nstreams=nstreams)
        return _noted(cast(FUNCTIONS["lt"](sample, p), dtype), sample)

    def multinomial(
        self, size: Any = None, n: int = 1, pvals: Any = None, ndim: Any = None, dtype: Any = "int64",
        nstreams: Any = None, **options: Any,
    ) -> Any:  # fmt: skip
        """For each row of probabilities a one at the place that was drawn; for `n` > 1 how often each was drawn."""
        p = as_tensor_variable(pvals)
        if size is not None or p.ndim != 2:
            raise NotImplementedError("MRG_RandomStreams.multinomial takes pvals as a matrix, and no size")
        rows = p.shape[0]
        sample = self._uniform([rows * n], _shape([rows * n], 1)[1], float_x(None), nstreams)
        numbers = sample.reshape((n, rows))
        total = FUNCTIONS["cumsum"](p, 1)
        found: Any = 0
        for k in range(n):
            above = total > numbers[k].dimshuffle(0, "x")
            found = found + cast(above & (total - p <= numbers[k].dimshuffle(0, "x")), dtype)
        return _noted(cast(found, dtype), sample)

    def normal(
        self, size: Any, avg: Any = 0.0, std: Any = 1.0, ndim: Any = None, dtype: Any = None, nstreams: Any = None,
        truncate: bool = False, **options: Any,
    ) -> Any:  # fmt: skip
        """Normal numbers by the method of Box and Muller."""
        if truncate:
            raise NotImplementedError("MRG_RandomStreams.normal: truncate=True; clip the numbers")
        mean, deviation = as_tensor_variable(avg), as_tensor_variable(std)
        dtype = upcast(float_x(None), mean.dtype, deviation.dtype) if dtype is None else float_x(dtype)
        _, shape = _shape(size, ndim)
        count = _count(shape)
        even = count + count % 2
        sample = self._uniform(None, (even,), dtype, nstreams)
        u1, u2 = sample.core[: even // 2], sample.core[even // 2 :]
        radius = T.sqrt(T.mul(T.constant(-2.0, dtype), T.log(u1)))
        angle = T.mul(T.constant(2 * np.pi, dtype), u2)
        flat = T.concatenate([T.mul(radius, T.cos(angle)), T.mul(radius, T.sin(angle))])[:count]
        made = wrap(T.reshape(flat, shape), sample)
        return _noted(made * cast(deviation, dtype) + cast(mean, dtype), sample)


RandomStreams = MRG_RandomStreams


def _noted(result: Any, sample: Any) -> Any:
    """A result with the state of the draw that it is made of."""
    result.rstate, result.update = sample.rstate, sample.update
    return result


def _count(shape: Any) -> Any:
    """The number of elements of a shape of the core."""
    if not isinstance(shape, tuple):
        return T.prod(shape)
    if all(isinstance(n, int) for n in shape):
        return int(np.prod(shape)) if shape else 1
    return T.prod(T.stack([T.as_tensor(n) for n in shape]))


def _shape(size: Any, ndim: Any) -> tuple[Any, Any]:
    """(the size as it was given, the shape for the core).  Raises ValueError for negative lengths."""
    if isinstance(size, Variable) and ndim is not None and size.core.type.shape[:1] == (None,):
        return size, tuple(lower(size)[k] for k in range(int(ndim)))
    if isinstance(size, (tuple, list)):
        if any(isinstance(n, (int, np.integer)) and n < 0 for n in size):
            raise ValueError(f"the size is {size}; expected lengths of 0 or more")
        return size, tuple(length(n) for n in size)
    return size, lengths(size)
