"""Random generators of NumPy as arrays: the state of a bit generator as a vector of uint64, and back.

The first word says which bit generator it is.  The rest is its `state`: integers in words of 64 bits, arrays as they
are.  A generator made of a state draws the same bits as the one that the state was taken from.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

STATE_DTYPE = "uint64"
_KINDS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
_MASK = (1 << 64) - 1
_local = threading.local()


def state_of(generator: np.random.Generator) -> np.ndarray:
    """Return the state of a generator as a vector.  Raises TypeError for a bit generator that is none of NumPy's."""
    bits = generator.bit_generator
    kind = type(bits).__name__
    if kind not in _KINDS:
        raise TypeError(f"expected a generator with one of NumPy's bit generators ({', '.join(_KINDS)}), got {kind}")
    state: Any = bits.state
    if kind.startswith("PCG64"):
        inner = state["state"]
        words = [
            inner["state"] >> 64, inner["state"] & _MASK, inner["inc"] >> 64, inner["inc"] & _MASK,
            state["has_uint32"], state["uinteger"],
        ]  # fmt: skip
        return np.array([_KINDS.index(kind), *words], np.uint64)
    if kind == "MT19937":
        inner = state["state"]
        return np.concatenate([[np.uint64(2), np.uint64(inner["pos"])], inner["key"].astype(np.uint64)])
    if kind == "Philox":
        inner = state["state"]
        tail = [state["buffer_pos"], state["has_uint32"], state["uinteger"]]
        arrays = [inner["counter"], inner["key"], state["buffer"], np.array(tail, np.uint64)]
        return np.concatenate([[np.uint64(3)], *arrays])
    tail = [state["has_uint32"], state["uinteger"]]
    return np.concatenate([[np.uint64(4)], state["state"]["state"], np.array(tail, np.uint64)])


def set_state(bits: Any, words: np.ndarray) -> None:
    """Give a bit generator of the right kind the state of a vector."""
    kind = _KINDS[int(words[0])]
    if kind.startswith("PCG64"):
        _, high, low, inc_high, inc_low, has, integer = words.tolist()
        inner = {"state": high << 64 | low, "inc": inc_high << 64 | inc_low}
        bits.state = {"bit_generator": kind, "state": inner, "has_uint32": has, "uinteger": integer}
    elif kind == "MT19937":
        bits.state = {"bit_generator": kind, "state": {"key": words[2:].astype(np.uint32), "pos": int(words[1])}}
    elif kind == "Philox":
        position, has, integer = words[11:14].tolist()
        inner = {"counter": words[1:5].copy(), "key": words[5:7].copy()}
        bits.state = {
            "bit_generator": kind, "state": inner, "buffer": words[7:11].copy(), "buffer_pos": position,
            "has_uint32": has, "uinteger": integer,
        }  # fmt: skip
    else:
        has, integer = words[5:7].tolist()
        inner = {"state": words[1:5].copy()}
        bits.state = {"bit_generator": kind, "state": inner, "has_uint32": has, "uinteger": integer}


class _NoSeed(ISeedSequence):
    """A seed of zeros, for a bit generator whose state is set at once: hashing a seed takes longer than that."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        """Return zeros."""
        return np.zeros(n_words, dtype)


_NO_SEED = _NoSeed()


def generator_of(words: np.ndarray) -> np.random.Generator:
    """Return a new generator of this state."""
    bits = getattr(np.random, _KINDS[int(words[0])])(_NO_SEED)
    set_state(bits, words)
    return np.random.Generator(bits)


def borrowed_generator(words: np.ndarray) -> np.random.Generator:
    """Return the generator of this thread for such states, in this state; the next call gives it another."""
    known = _local.__dict__.setdefault("generators", {})
    kind = int(words[0])
    found = known.get(kind)
    if found is None:
        found = known[kind] = generator_of(words)
    set_state(found.bit_generator, words)
    return found  # type: ignore[no-any-return]
