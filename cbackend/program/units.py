"""A long C file in two units, which two compilers take at once: kernels alone, and the rest with the driver.

The text stays one file that compiles as it is.  Told `-DAG_UNIT=1` or `-DAG_UNIT=2` a compiler sees one half; kernels
of the first half are then known to both and to nobody else.  The training step of a perceptron, 17 kernels, takes two
cores 0.45 s from an empty cache to its first result so, and 0.6 s in one piece.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..ir.kernel import Kernel

WORTH_IT = 12_000
"""Characters of kernels below which a second process costs more than it saves (a start of gcc takes 30 ms)."""

_HEAD = """\
/* A long file: two compilers may take a half each, AG_UNIT 1 and 2. */
#ifdef AG_UNIT
#define AG_SHARED __attribute__((visibility("hidden")))
#else
#define AG_SHARED static
#endif
"""


def in_units(kernels: Sequence[Kernel], declarations: str, driver: str) -> str:
    """The C text of kernels, and of the driver with its declarations; in two units if there is enough of it."""
    texts = [_not_inlined(kernel.text) for kernel in kernels]
    if sum(map(len, texts)) < WORTH_IT:
        return "\n".join([*texts, declarations, driver])
    alone = _first_unit([len(text) for text in texts], len(driver))
    first = [texts[k].replace(" static ", " AG_SHARED ", 1) for k in sorted(alone)]
    second = [text for k, text in enumerate(texts) if k not in alone]
    prototypes = [_prototype(kernels[k].text) for k in sorted(alone)]
    kernels_alone = ["#if AG_UNIT != 2", *first, "#else", *prototypes, "#endif", ""]
    return "\n".join([_HEAD, *kernels_alone, "#if AG_UNIT != 1", *second, declarations, driver, "#endif", ""])


def _first_unit(sizes: Sequence[int], driver: int) -> set[int]:
    """The kernels of the first unit: half of the work, of which a driver is a third of what its length says."""
    left, taken = (sum(sizes) + driver // 3) // 2, set[int]()
    for number in sorted(range(len(sizes)), key=lambda k: (-sizes[k], k)):
        if sizes[number] <= left:
            left -= sizes[number]
            taken.add(number)
    return taken


def _not_inlined(kernel: str) -> str:
    """A kernel that the compiler keeps out of the driver, which is compiled with less effort."""
    return kernel.replace("\nstatic ", "\n__attribute__((noinline)) static ", 1)


def _prototype(kernel: str) -> str:
    signature = re.search(r"^static ([^{]*)\{", kernel, re.M)
    assert signature is not None, kernel
    return f"AG_SHARED {signature[1].strip()};"
