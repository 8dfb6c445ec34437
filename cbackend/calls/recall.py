"""The cached record of a compiled program: its interface and its library.  The next process need not plan it.

    record ::= JSON, spaces, a line feed, the bytes of the constants, each at a multiple of ALIGNED

The library is known by its key.  Kernels had the schedules that were measured best; where others are known by now, the
record is a miss, as it is where the library has gone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...graph import FunctionGraph, TensorType
from ...graph.types import ALIGNED, aligned, bytes_of
from ...record import record
from ..build.build import Library, find
from ..build.toolchain import Toolchain
from ..cache.entry import Kind
from ..cache.store import CAPACITY, Cache
from ..ir.kernel import Kernel
from ..ir.schedule import Schedule
from .interface import Interface
from .measured import Measured, plain_schedule, read_schedule
from .output_lengths import OPERATIONS, Step

LARGEST = CAPACITY // 4
"""Most bytes of constants; a program with more is not stored, and is optimized and planned again."""
_LOOKED_AT = 1 << 16


@record(eq=False)
class Recalled:
    """A program from the cache: its interface, its library, and the schedules of its kernels by name."""

    interface: Interface
    library: Library
    schedules: Mapping[str, Schedule]


def keep(
    key: bytes, name: str, interface: Interface, library: Library, kernels: Sequence[Kernel], cache: Cache
) -> bool:
    """Store what calls need to know of a program under `key`; return whether it was stored.

    `key`: a digest of all that the program was made of; `name`: of its function, for listings.  One that calls Python
    needs its graph, and is not kept.
    """
    if interface.calls_back or sum(c.nbytes for c in interface.constants) > LARGEST:
        return False
    reported = {
        "name": name,
        "library": library.key.hex(),
        "outputs": [[o.dtype, o.shape] for o in interface.outputs],
        "lengths": interface.lengths,
        "assumed": interface.assumed,
        "in_place": list(interface.in_place.items()),
        "dense_inputs": interface.dense_inputs,
        "products": interface.products,
        "solvers": interface.solvers,
        "constants": [[c.dtype.name, c.shape] for c in interface.constants],
        "sites": interface.sites,
        "kernels": {k.default or k.name: plain_schedule(k.schedule) if k.default else None for k in kernels},
    }
    head = json.dumps(reported).encode()
    parts: list[bytes | memoryview] = [head, b" " * (-(len(head) + 1) % ALIGNED), b"\n"]
    for c in interface.constants:
        bits = bytes_of(c)
        parts += (bits, bytes(-len(bits) % ALIGNED))
    return cache.store(Kind.RECORD, key, parts) is not None


def made_for(content: bytes) -> tuple[str, str]:
    """Return the name of the function in the head of a record, and the key of its library; empty if it has none."""
    try:
        head = json.loads(content.partition(b"\n")[0])
        return str(head["name"]), str(head["library"])
    except (ValueError, TypeError, KeyError):  # of another kind or version
        return "", ""


def recall(key: bytes, graph: FunctionGraph, toolchain: Toolchain, cache: Cache) -> Recalled | None:
    """Return the valid record under `key`, or None.  `graph` gives the inputs and updates."""
    content = cache.view(Kind.RECORD, key)
    try:
        return None if content is None else _read(content, graph, toolchain, cache)
    except (ValueError, TypeError, KeyError):  # of another version
        return None


def _read(content: memoryview, graph: FunctionGraph, toolchain: Toolchain, cache: Cache) -> Recalled | None:
    end = _end_of_head(content)
    reported: dict[str, Any] = json.loads(bytes(content[:end]))
    schedules = {name: schedule and read_schedule(schedule) for name, schedule in reported["kernels"].items()}
    measured = Measured(toolchain, cache)
    if any(measured(name) != schedule for name, schedule in schedules.items()):
        return None
    library = find(bytes.fromhex(reported["library"]), cache)
    if library is None:
        return None
    constants, at = [], end + 1
    for dtype, shape in reported["constants"]:
        constants.append(aligned(np.frombuffer(content, dtype, math.prod(shape), at).reshape(shape)))
        at += -(-constants[-1].nbytes // ALIGNED) * ALIGNED
    interface = Interface(
        inputs=graph.inputs, outputs=tuple(TensorType(dtype, tuple(shape)) for dtype, shape in reported["outputs"]),
        updates=graph.updates, lengths=tuple(map(_lengths, reported["lengths"])),
        in_place={int(o): int(i) for o, i in reported["in_place"]}, dense_inputs=bool(reported["dense_inputs"]),
        products=tuple(reported["products"]), solvers=tuple(reported["solvers"]), constants=tuple(constants),
        sites=int(reported["sites"]), calls_back=False, assumed=tuple(map(tuple, map(_lengths, reported["assumed"]))),
    )  # fmt: skip
    return Recalled(interface, library, {name: schedule for name, schedule in schedules.items() if schedule})


def _end_of_head(content: memoryview) -> int:
    """Return the place of the line feed.  Raises ValueError if there is none."""
    for begin in range(0, len(content), _LOOKED_AT):
        found = bytes(content[begin : begin + _LOOKED_AT]).find(b"\n")
        if found >= 0:
            return begin + found
    raise ValueError("a record without a line feed")


def _lengths(programs: Any) -> Any:
    """Return the programs of an output's lengths, with tuples in place of JSON's lists."""
    if programs is None:
        return None
    return [[_step(word, of) for word, of in program] for program in programs]


def _step(word: str, of: Any) -> Step:
    if word == "number":
        return word, int(of)
    if word == "extent":
        place, axis = of
        return word, (int(place), int(axis))
    if word not in OPERATIONS:
        raise ValueError(f"{word!r} is no operation on lengths")
    return word, None
