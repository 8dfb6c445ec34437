"""Checks before a call: tensors lie in memory where they did, and nobody wrote to those whose memory a graph reads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

LENT_BYTES = 2**16
"""The least size of a parameter that a frozen graph reads in the module's memory.

A call compares the count of writes and some of its numbers, in 0.02 us; a kernel needs far longer for so many bytes."""
SAMPLES = 4, 4
"""Samples of such a parameter that a call compares, and words of 8 bytes in each: the C code has the same numbers."""
_COUNTER = "_ZN5torch8autograd4impl15version_counterERKN2at6TensorE"
"""The name of `torch::autograd::impl::version_counter` in PyTorch's library: it takes and returns references."""
_WORDS = 8
"""The words of 4 bytes of PyTorch's counter among which the count is looked for."""
_pointer_of = torch.Tensor.data_ptr


class LentTensor(NamedTuple):
    """A tensor whose memory a graph reads, and what tells of writes to it.

    PyTorch counts the writes in `version`, but none by NumPy or `.data`, so `kept` has some of its numbers.
    """

    tensor: torch.Tensor
    samples: np.ndarray
    version: int
    kept: np.ndarray


def lent(tensor: torch.Tensor, array: np.ndarray) -> LentTensor:
    """Return a tensor as it is now, with an array over its memory."""
    samples = samples_of(array)
    return LentTensor(tensor.detach(), samples, tensor._version, samples.copy())


def samples_of(array: np.ndarray) -> np.ndarray:
    """Return words of an array of at least `LENT_BYTES` in the order of C, in its memory: a row for each sample.

    Samples are few, since each costs an address translation.  Their places are scattered by the address of the array:
    at a like place of each, large arrays one behind the other would compete for one set of the translation buffer,
    whose index folds the bits of an address (5 us more for 200 arrays of 1 MB on Zen 4).
    """
    words = array.reshape(-1).view(np.uint8)[: array.nbytes & -8].view(np.int64)
    lines = words.size // (8 * SAMPLES[0])
    first = 8 * ((array.ctypes.data // 4096 * 0x9E3779B97F4A7C15 >> 40) % 2**24 % lines)
    return np.lib.stride_tricks.as_strided(words[first:], SAMPLES, (64 * lines, 8))


def unchanged(
    executable: Any, places: Sequence[int], pointers: Sequence[int], lent: Sequence[LentTensor] = ()
) -> Callable[[list[Any]], bool]:
    """Return whether tensors of a list lie at these addresses, and lent ones are as they were.

    The result is a builtin, or a function of Python where there is no C compiler.
    """
    memory = getattr(torch._C._dynamo.guards, "_torchinductor_pyobject_tensor_data_ptr", None)
    counts = [address_of_version(each.tensor) for each in lent]
    found = None
    if memory is not None and places and None not in counts:
        exact = [(n, each.version, each.samples, each.kept) for n, each in zip(counts, lent, strict=True)]
        found = executable.watch(places, pointers, memory, (torch.Tensor, torch.nn.Parameter), exact)
    return _unchanged_in_python(list(places), list(pointers), lent) if found is None else found


def _unchanged_in_python(
    places: list[int], pointers: list[int], lent: Sequence[LentTensor]
) -> Callable[[list[Any]], bool]:
    def holds(args: list[Any]) -> bool:
        return [_pointer_of(args[k]) for k in places] == pointers and all(
            each.tensor._version == each.version and np.array_equal(each.samples, each.kept) for each in lent
        )

    return holds


# --- PyTorch's count of the writes to a tensor
def address_of_version(tensor: torch.Tensor) -> int | None:
    """Return where PyTorch counts the writes to a tensor, an i32 that lives as long as it; None if that is unknown."""
    place = _place_of_count()
    return None if place is None else _counter_of(tensor) + 4 * place


@lru_cache(maxsize=1)
def _place_of_count() -> int | None:
    """Return the word of a counter that is the count, found by writes to a tensor; None if not exactly one counts."""
    if _function() is None:
        return None
    tensor, places = torch.zeros(1), set(range(_WORDS))
    words = (ctypes.c_int32 * _WORDS).from_address(_counter_of(tensor))
    for _ in range(3):
        places = {k for k in places if words[k] == tensor._version}
        tensor.zero_()
    return places.pop() if len(places) == 1 else None


@lru_cache(maxsize=1)
def _function() -> Any:
    """Return PyTorch's function from a tensor to its counter; None if the library has no such name."""
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
        found = getattr(library, _COUNTER)
    except (OSError, AttributeError):
        return None
    found.restype, found.argtypes = ctypes.POINTER(ctypes.c_void_p), [ctypes.POINTER(ctypes.c_void_p)]
    return found


def _counter_of(tensor: torch.Tensor) -> int:
    """Return the address of the counter: tensors and counters of C++ are one pointer each."""
    return _function()(ctypes.byref(ctypes.c_void_p(tensor._cdata)))[0]  # type: ignore[no-any-return]
