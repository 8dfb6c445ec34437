"""`f.export(folder)`: a function as C that runs without Python."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from .. import __version__
from ..cbackend.build.cross import Builder, builder_for, native_builder
from ..cbackend.bundle.bundle import Bundle
from ..cbackend.bundle.folder import write_bundle
from ..cbackend.bundle.names import c_name
from ..cbackend.calls.interface import interface_of
from ..cbackend.kernels import DRAWS, spec_named
from ..cbackend.program.plan import plan
from ..cbackend.program.planners.host import how_to_give_c
from ..cbackend.program.program import Call, Host, Program, Step
from ..database import optdb
from ..engines.compiler import find_toolchain
from ..engines.registry import title
from ..function.optimization import Optimization
from ..graph import FunctionGraph, Op, Variable
from ..ops.lowered.assumed import assumed_lengths
from ..options import process_options
from ..targets.current import using
from ..targets.named import host
from ..targets.target import Target
from ..targets.text import as_target

if TYPE_CHECKING:
    from ..function.compiled import Function


def exported(
    function: Function, folder: str | os.PathLike[str], keys: Sequence[str], target: Target | str | None,
    compiler: str | None,
) -> Path:  # fmt: skip
    """The folder with the files of `function`, whose results have these `keys`; see Function.export."""
    if not isinstance(folder, (str, os.PathLike)):
        raise TypeError(f"{function.name}: export writes to a folder, a path, got {folder!r}")
    machine = as_target(target, runs=False)
    if compiler is not None and (machine is None or not isinstance(compiler, str)):
        needs = "the name of a cross compiler" if machine else "a target beside it: target='aarch64-linux'"
        raise TypeError(f"{function.name}: export(compiler={compiler!r}) expects {needs}")
    with using(machine):
        return _written(function, Path(folder), keys, *_made_for(function, machine, compiler))


def _made_for(function: Function, target: Target | None, compiler: str | None) -> tuple[Program, Builder]:
    """Return the program of `function` for a target (None: its own), and the builder."""
    found = find_toolchain() if compiler is None else None
    program: Program | None = function.program if target is None else None
    if program is not None and any(assumed_lengths(program.graph)):
        program = function.without_assumptions.program  # nobody is there to run another function
    if function.mode.backend != "c" or (target is None and (program is None or found is None)):
        raise ValueError(f"{function.name} is run by {title(function.backend)}, so there is no C to export")
    if target is None:
        assert program is not None and found is not None
        return program, native_builder(found.under(function.target))
    is_native = found is not None and (target.arch, target.system) == (host().arch, host().system)
    builder = native_builder(found.under(target)) if found and is_native else builder_for(target, compiler)
    optimization = Optimization(function.unoptimized_graph, function.mode, process_options().strict, optdb, target)
    return plan(optimization.general().graph), builder


def _written(function: Function, path: Path, keys: Sequence[str], program: Program, builder: Builder) -> Path:
    """Write the files of a program of `function` to the folder `path`; return it."""
    hosts = _without_c(program)
    if hosts:
        how = next(filter(None, map(how_to_give_c, hosts.values())), "")
        raise ValueError(f"{function.name}: there is no C for {', '.join(sorted(hosts))}, which Python runs{how}")
    output_names = tuple(keys) or tuple(o.name or "" for o in _own_outputs(function.unoptimized_graph))
    bundle = Bundle(
        c_name(function.name), _signature(function, output_names), __version__, program, interface_of(program),
        output_names, tuple(np.array(s.container.value) for s in function.shared), builder,
    )  # fmt: skip
    _refuse_lost(path)
    path.mkdir(exist_ok=True)
    write_bundle(path, function.name, bundle.files())
    return path


def _refuse_lost(path: Path) -> None:
    """Raise FileNotFoundError if the parent folder of `path` does not exist, which suggests a typing error."""
    parent = path.absolute().parent
    if not parent.exists():
        nearest = next(folder for folder in parent.parents if folder.exists())
        raise FileNotFoundError(
            f"export: folder={str(path)!r}: {parent} does not exist; the nearest folder that does is {nearest}. "
            f"Correct the path, or make the folder: mkdir -p {shlex.quote(str(parent))}"
        )


def _own_outputs(graph: FunctionGraph) -> Sequence[Variable]:
    """Return the outputs that are no updates; updates come before them."""
    return graph.outputs[: len(graph.outputs) - len(graph.updates)]


def _without_c(program: Program) -> dict[str, Op]:
    """Return the ops that only Python runs, with the user's lines."""
    found: dict[str, Op] = {}
    for part in program.all_parts:
        sites = {step.site for step in part.steps if _needs_python(step)}
        nodes = [site.node for number, site in enumerate(part.sites) if number in sites]
        found |= {f"{node.op.name}{f' ({node.origin[0]})' if node.origin else ''}": node.op for node in nodes}
    return found


def _needs_python(step: Step) -> TypeGuard[Host | Call]:
    """Return whether a step runs in Python, or calls functions of its libraries."""
    if isinstance(step, Host):
        return True
    known = spec_named(step.function) if isinstance(step, Call) else None  # the program's own kernels have none
    return known is not None and known.table == DRAWS


def _signature(function: Function, output_names: tuple[str, ...]) -> str:
    inputs = ", ".join(f"{i.name or '_'}: {i.type}" for i in function.inputs)
    outputs = _own_outputs(function.graph)
    reported = ", ".join(f"{n}: {o.type}" if n else str(o.type) for n, o in zip(output_names, outputs, strict=True))
    return f"{function.name}({inputs}) -> {reported or 'nothing'}"
