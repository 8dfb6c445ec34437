"""The head of a C file: types, and the helpers that its kernels use.

Copies of tiles and strips are in the table of the runtime (../abi/copies.h).  As with the helpers of drivers, a file
has their text for any compiler; ours gets `-DAG_PREBUILT` and calls the runtime's: they took a quarter of gcc's time
for a sum of two matrices.  Kernels have no table at hand, so the entry notes where it lies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from ...graph.types import numpy_dtype
from ...record.package_files import package_text
from ..abi.declarations import HEADERS
from ..ctext import preamble
from ..ctext.helper import C_TYPES

_COPIES = """
#ifdef AG_PREBUILT /* a compiler with it leaves to the runtime what is in its table */
{struct}
#if defined(AG_UNIT) && AG_UNIT == 1
extern __attribute__((visibility("hidden"))) const ag_copies *ag_copying;
#elif defined(AG_UNIT)
__attribute__((visibility("hidden"))) const ag_copies *ag_copying;
#else
static const ag_copies *ag_copying;
#endif
#endif
"""
_NOTED = (
    "#ifdef AG_PREBUILT",
    "    const ag_copies *none = 0; /* one call writes it, so that calls of other threads may read it */",
    "    if (!__atomic_load_n(&ag_copying, __ATOMIC_ACQUIRE))",
    "        __atomic_compare_exchange_n(&ag_copying, &none, rt->copies, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);",
    "#endif",
)
_DTYPE_OF = {name: dtype for dtype, name in C_TYPES.items()}


class Head:
    """The head of a file whose kernels use the helpers `names`."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = preamble.in_order(set(names))
        self._calls = {name: call for name in self._names if (call := _runtime_call(name))}

    def text(self) -> str:
        """Return the C text."""
        parts = [preamble.types()]
        if self._calls:
            parts.append(_COPIES.format(struct=_struct()))
        return "".join([*parts, *map(self._helper, self._names)])

    def _helper(self, name: str) -> str:
        text = preamble.helper(name).text
        call = self._calls.get(name)
        return f"\n#ifdef AG_PREBUILT\n#define {name} {call}\n#else\n{text}#endif\n" if call else f"\n{text}"

    def noted(self) -> Iterator[str]:
        """Yield the lines of the entry that note where the runtime's copies are."""
        if self._calls:
            yield from _NOTED


def _runtime_call(name: str) -> str:
    """Return the runtime's function for a helper; empty if it has none."""
    stem, _, own = name.removeprefix("ag_").rpartition("_")
    if stem not in _in_runtime() or own not in _DTYPE_OF:
        return ""
    size = numpy_dtype(_DTYPE_OF[own]).itemsize
    return f"ag_copying->{stem}[{size.bit_length() - 1}]"


@cache
def _struct() -> str:
    """Return the text of the table of copies."""
    return package_text(HEADERS / "copies.h").partition('#include "types.h"\n\n')[2].rstrip("\n")


@cache
def _in_runtime() -> frozenset[str]:
    """Return the copies in the table, by the names of its fields."""
    return frozenset(field.partition("[5]")[0] for field in _struct().split("(*")[1:])
