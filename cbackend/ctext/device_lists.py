"""Functions of work items in OpenCL C: a kernel of its own for each, or one kernel for a list of launches.

    static void k_item(i64 item, i64 row, i64 layer, i64 items, i64 n0, __global f32 *y0) { ... }
    __kernel void k(i64 n0, __global f32 *y0) { k_item(get_global_id(0), ..., get_global_size(0), n0, y0); }

    __kernel void launches(__global const i64 *list)
    {
        for (; list[0] >= 0; list += list[1])
            switch (list[0]) { case 0: ... k_item(x, y, z, list[2], list[5], (__global f32 *)list[6]); ... }
    }

A launch of a list is these numbers: the function, the length of the launch, the work items along three axes, and the
arguments, pointers among them.  One work item runs all launches in order, so each reads what those before it wrote.
The functions are the same in both kernels, and so are the bits.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from ...record import record
from .emit import INDENT

HEAD = 5
"""Numbers of a launch in front of its arguments."""
LIST = "launches"
"""The name of the kernel of lists."""
_PLACE = "i64 item, i64 row, i64 layer, i64 items"


@record
class Item:
    """The function of a work item: the kernel's name, the definitions that it needs, its parameters and its body.

    A parameter is declared as `i64 n0` or as a pointer.  The body also reads the place of the item along three axes,
    `item`, `row` and `layer`, and the number of `items` along the first one.
    """

    name: str
    definitions: tuple[str, ...]
    parameters: tuple[str, ...]
    body: str

    @property
    def function(self) -> str:
        """The text of the function."""
        return f"static void {self.name}_item({', '.join((_PLACE, *self.parameters))})\n{{\n{self.body}\n}}\n"

    @property
    def pointers(self) -> list[bool]:
        """For each parameter whether it is a pointer."""
        return ["*" in p for p in self.parameters]


def item_source(item: Item) -> str:
    """The text of a kernel that runs a function in all work items."""
    return kernels_source([item])


def kernels_source(items: Sequence[Item]) -> str:
    """The text of such kernels; definitions that they share appear once."""
    return "\n".join([*_definitions(items), *(line for i in items for line in (i.function, *_kernel(i), ""))])


def list_source(items: Sequence[Item]) -> str:
    """The text of the kernel that works through a list of launches of these functions."""
    return "\n".join([*_definitions(items), *(item.function for item in items), *_list(items), ""])


def _definitions(items: Sequence[Item]) -> Iterable[str]:
    return dict.fromkeys(d for item in items for d in item.definitions)


def _name(parameter: str) -> str:
    return parameter.rsplit(maxsplit=1)[-1].lstrip("*")


def _argument(number: int, parameter: str) -> str:
    """The argument of a launch, as the function takes it."""
    given = f"list[{HEAD + number}]"
    return f"({parameter.removesuffix(_name(parameter))})(size_t){given}" if "*" in parameter else given


def _kernel(item: Item) -> Iterator[str]:
    place = (*(f"get_global_id({axis})" for axis in range(3)), "get_global_size(0)")
    yield f"__kernel void {item.name}({', '.join(item.parameters)})"
    yield "{"
    yield f"{INDENT}{item.name}_item({', '.join((*place, *map(_name, item.parameters)))});"
    yield "}"


def _list(items: Sequence[Item]) -> Iterator[str]:
    yield f"__kernel void {LIST}(__global const i64 *list)"
    yield "{"
    yield f"{INDENT}for (; list[0] >= 0; list += list[1]) {{"
    yield f"{INDENT * 2}const i64 items = list[2], rows = list[3], layers = list[4];"
    yield f"{INDENT * 2}for (i64 layer = 0; layer < layers; layer++)"
    yield f"{INDENT * 3}for (i64 row = 0; row < rows; row++)"
    yield f"{INDENT * 4}for (i64 item = 0; item < items; item++)"
    yield f"{INDENT * 5}switch (list[0]) {{"
    for number, item in enumerate(items):
        given = ", ".join(itertools.starmap(_argument, enumerate(item.parameters)))
        yield f"{INDENT * 5}case {number}: {item.name}_item(item, row, layer, items, {given}); break;"
    yield f"{INDENT * 5}}}"
    yield f"{INDENT}}}"
    yield "}"
