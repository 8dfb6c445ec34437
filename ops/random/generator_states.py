"""Random generators of NumPy as arrays: the state of a bit generator as a vector of uint64, and back.

The first word names the bit generator.  The rest is its memory for PCG64, else its `state`: integers in words of 64
bits, arrays as they are.  A generator made of a state draws the same bits as the one that the state was taken from.
"""

from __future__ import annotations

import ctypes
import threading
from functools import cache
from typing import Any

import numpy as np

STATE_DTYPE = "uint64"
PCG64_WORDS = 6
"""Length of a state of PCG64 or PCG64DXSM: kind, state, increment (low words first), the half of a word to be drawn."""
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
        half = state["has_uint32"] | state["uinteger"] << 32
        words = [inner["state"] & _MASK, inner["state"] >> 64, inner["inc"] & _MASK, inner["inc"] >> 64, half]
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
        _, low, high, inc_low, inc_high, half = words.tolist()
        inner = {"state": high << 64 | low, "inc": inc_high << 64 | inc_low}
        bits.state = {
            "bit_generator": kind, "state": inner, "has_uint32": half & 0xFFFFFFFF, "uinteger": half >> 32,
        }  # fmt: skip
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


class StateView:
    """The state of one generator, read and written in the memory of its bit generator if that has the known layout.

    PCG64 has a pointer to state and increment, then a flag and the half of a word.  The dict of `state` takes 20 times
    as long.
    """

    generator: np.random.Generator
    _memory: tuple[np.ndarray, np.ndarray] | None

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self._kind = type(generator.bit_generator).__name__
        self._memory = _memory_of(generator.bit_generator) if self._kind == "PCG64" and layout_holds() else None
        self._code: int = _KINDS.index(self._kind) if self._kind in _KINDS else -1

    def read(self) -> np.ndarray:
        """Return the state as a new vector."""
        if self._memory is None:
            return state_of(self.generator)
        words = np.empty(PCG64_WORDS, np.uint64)
        words[0] = self._code
        words[1:5], words[5:] = self._memory
        return words

    def write(self, words: np.ndarray) -> bool:
        """Take over a state; False for that of another kind of bit generator."""
        if words[0] != self._code:
            return False
        if self._memory is None:
            set_state(self.generator.bit_generator, words)
        else:
            numbers, half = self._memory
            numbers[:], half[:] = words[1:5], words[5:]
        return True


def _memory_of(bits: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return arrays over state and increment of a PCG64, and over its half of a word."""
    address = bits.ctypes.state_address
    place = ctypes.c_uint64.from_address(address).value
    four: Any = (ctypes.c_uint64 * 4).from_address(place)
    one: Any = (ctypes.c_uint64 * 1).from_address(address + 8)
    return np.frombuffer(four, np.uint64), np.frombuffer(one, np.uint64)


@cache
def layout_holds() -> bool:
    """Return whether PCG64 of this NumPy has the memory layout that `StateView` and the C of draws assume."""
    generator = np.random.Generator(np.random.PCG64(7))
    generator.integers(0, 9, dtype=np.uint32)  # leaves half of a word
    expected, before = state_of(generator), generator.bit_generator.state
    if int(expected[5]) & 1 != 1 or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    numbers, half = _memory_of(generator.bit_generator)
    found = [*numbers.tolist(), *half.tolist()]
    return found == expected[1:].tolist() and generator.bit_generator.state == before


@cache
def draws_in_c() -> bool:
    """Return whether NumPy's C functions can be called on states: it exports them, and PCG64 has the known layout."""
    generator: Any = np.random._generator  # type: ignore[attr-defined]
    return layout_holds() and hasattr(ctypes.CDLL(generator.__file__), "random_normal")


@cache
def _seedless() -> Any:
    """Return a seed of zeros, for a bit generator whose state is set at once: hashing a seed takes longer than that."""
    base: Any = np.random.bit_generator.ISeedSequence

    class NoSeed(base):  # type: ignore[misc]
        def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
            return np.zeros(n_words, dtype)

    return NoSeed()


def generator_of(words: np.ndarray) -> np.random.Generator:
    """Return a new generator of this state."""
    bits = getattr(np.random, _KINDS[int(words[0])])(_seedless())
    set_state(bits, words)
    return np.random.Generator(bits)


def borrowed_generator(words: np.ndarray) -> StateView:
    """Return a view of the generator of this thread for such states, in this state; the next call gives it another."""
    known = _local.__dict__.setdefault("views", {})
    kind = int(words[0])
    found: StateView | None = known.get(kind)
    if found is None:
        found = known[kind] = StateView(generator_of(words))
    found.write(words)
    return found


def state_now(generator: np.random.Generator) -> np.ndarray:
    """Return the state of a generator, as `state_of`, in the fastest way."""
    return StateView(generator).read()


def advance(generator: np.random.Generator, state: np.ndarray) -> None:
    """Give a generator another state."""
    with generator.bit_generator.lock:
        StateView(generator).write(state)
