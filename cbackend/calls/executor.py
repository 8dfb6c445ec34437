"""A graph compiled, as a callable: arrays in, arrays out, one C call.

plan -> c_text -> build_program -> Caller          each step's result is kept for whoever wants to look at it
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...graph import FunctionGraph, Op, Variable
from ...ops.fused import Fused, InPlace
from ...profiling import RunProfile, StepProfile
from ..build.toolchain import Toolchain
from ..cache.store import Cache
from ..ir.kernel import Kernel
from ..program.driver import c_text
from ..program.plan import plan
from ..program.program import Call, Host, Pack, Program
from ..runtime.runtime import build_program
from .caller import Caller
from .failures import describe


class Executable:
    """A compiled graph.  Call it with one value for each input that is not shared, in order.

    It returns the outputs that are no updates, as a list of arrays that share memory with nothing; after success the
    containers of updated inputs hold their new values.  Immutable, and safe in threads.
    """

    def __init__(self, caller: Caller, source: str, compile_seconds: float) -> None:
        self._caller = caller
        self.entry = caller.entry
        """The function that calls go to."""
        self.source = source
        """The whole C file."""
        self.compile_seconds = compile_seconds
        """Planning, printing, compiling and loading."""

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        return self.entry(*arguments)

    @property
    def program(self) -> Program:
        return self._caller.program

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return self._caller.program.kernels

    @property
    def entry_source(self) -> str:
        """The Python text of `entry`."""
        return self._caller.text

    @property
    def path(self) -> Path | None:
        """The library in the cache, its C beside it; None if the disk took none."""
        return self._caller.library.path

    @property
    def from_cache(self) -> bool:
        return self._caller.library.from_cache


def compile_graph(
    graph: FunctionGraph, *, name: str, shared: Sequence[Any], toolchain: Toolchain, cache: Cache,
    profile: RunProfile | None = None, allow_input_downcast: bool | None = None,
) -> Executable:  # fmt: skip
    """The executable of `graph`.

    `shared`: for each input the container that its value comes from, or None for an argument.  `graph.updates` are
    written to the containers after success.  `profile`: receives what each call costs; the C then has clocks in it.

    Raises:
        CompileError: the toolchain fails.
        InconsistencyError: the graph overwrites what it still needs.
    """
    start = time.perf_counter()
    program = plan(graph)
    source = c_text(program, profile is not None)
    library, runtime = build_program(source, program.products, toolchain, cache)
    caller = Caller(name, program, library, runtime, shared, profile, allow_input_downcast)
    seconds = time.perf_counter() - start
    if profile is not None:
        profile.begin(_rows(program), seconds)
    return Executable(caller, source, seconds)


def _rows(program: Program) -> list[StepProfile]:
    """One row a node, and one for the copies into outputs."""
    ran: list[dict[str, None]] = [{} for _ in range(len(program.sites) + 1)]
    for step in program.steps:
        if isinstance(step, Call):
            ran[step.site][step.function] = None
        elif isinstance(step, (Host, Pack)):
            ran[step.site]["numpy" if isinstance(step, Host) else "ag_pack"] = None
    rows = [
        StepProfile(text, ", ".join(names), tuple(map(str, site.node.origin)))
        for text, site, names in zip(_texts(program), program.sites, ran, strict=False)
    ]
    return [*rows, StepProfile("outputs", ", ".join(ran[-1]))]


def _texts(program: Program) -> list[str]:
    """Each node in the user's words; intermediate values have the names that they have in the C."""
    names: dict[Variable, str] = {}
    texts = []
    for number, node in enumerate(site.node for site in program.sites):
        many = len(node.outputs) > 1
        results = [f"v{number}_{o.index}" if many else f"v{number}" for o in node.outputs]
        names.update(zip(node.outputs, results, strict=True))
        operands = ", ".join(names.get(i) or describe(i) for i in node.inputs)
        texts.append(f"{', '.join(results)} = {_word(node.op)}({operands})")
    return texts


def _word(op: Op) -> str:
    """The op in few words: what a group computes, and no more of one that overwrites an input than what it does."""
    if isinstance(op, InPlace):
        return _word(op.op)
    if isinstance(op, Fused):
        return "+".join(dict.fromkeys(node.op.name for node in op.graph.order))
    return op.name
