"""The rows of a run profile: each node in the user's words, the functions that run it, the inputs it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...graph import Names, Op
from ...graph.pointing import called
from ...graph.provenance import modules_of
from ...ops.core.shared import SharedVariable
from ...ops.lowered.assembled import Assembled
from ...ops.lowered.assumed import AssumeEqual
from ...ops.lowered.convolution_pair import ConvolutionPair
from ...ops.lowered.fused import Fused, InPlace, unmarked
from ...ops.lowered.fused_product import FusedProduct
from ...ops.lowered.pipeline import VIEWS, Pipeline
from ...ops.lowered.region import Region
from ...profiling import StepProfile
from ...profiling.bodies import BodyProfile
from ..driver.spelling import spelled
from ..kernels import family_of
from ..program import program as prog
from ..program.accounts import bodies_at, body_runs

PACK, COPY = "ag_pack", "ag_copy"


def rows(program: prog.Program, at: int = 0) -> list[StepProfile]:
    """One row per node, and one for the copies into outputs.  `at`: where the counters of the program begin."""
    ran: list[list[str]] = [[] for _ in range(len(program.sites) + 1)]
    for step in program.steps:
        if not isinstance(step, prog.Release):
            ran[step.site] += functions(step, program)
    inner = {step.site for step in program.steps if isinstance(step, (prog.Loop, prog.Choice))}
    indifferent = {step.site for step in program.steps if isinstance(step, prog.Call) and _takes_any_strides(step)}
    bodies = _bodies(program, at)
    inputs = input_names(program)
    places = {array.base: name for array, name in zip(program.inputs, inputs, strict=True)}
    found = [
        StepProfile(
            text, _listed(names), tuple(map(str, site.node.origin)), op=unmarked(site.node.op).class_name,
            dtype=site.node.outputs[0].dtype, reads=_reads(site, places), has_body=number in inner,
            modules=modules_of(site.node.origin),
            strided=() if number in inner | indifferent else _strided(site), bodies=bodies.get(number, ()),
            **_of_region(site),
        )
        for number, (text, site, names) in enumerate(zip(texts(program), program.sites, ran, strict=False))
    ]  # fmt: skip
    return [*found, StepProfile("outputs", _listed(ran[-1]))]


def _bodies(program: prog.Program, at: int) -> dict[int, tuple[BodyProfile, ...]]:
    """Return the bodies of each node that runs some, in the order of the step that runs them."""
    choices = {step.site for step in program.steps if isinstance(step, prog.Choice)}
    found: dict[int, tuple[BodyProfile, ...]] = {}
    for (site, number), start in zip(body_runs(program), bodies_at(program), strict=True):
        before = found.get(site, ())
        title = ("otherwise" if before else "then") if site in choices else "step"
        nodes = tuple(rows(program.bodies[number], at + start))
        found[site] = *before, BodyProfile(title, nodes, at + start)
    return found


def functions(step: prog.Step, program: prog.Program) -> Iterator[str]:
    """Yield the functions that a step runs; for a loop or a choice, those of its bodies."""
    stack = [(step, program)]
    while stack:
        step, program = stack.pop()
        if isinstance(step, prog.Call):
            yield spelled(step)
        elif isinstance(step, (prog.Host, prog.Pack)):
            yield _host(step, program) if isinstance(step, prog.Host) else PACK
        bodies = [program.bodies[number] for number in prog.bodies_of(step)]
        stack += [(inner, body) for body in reversed(bodies) for inner in reversed(body.steps)]


def _host(step: prog.Host, program: prog.Program) -> str:
    """Return the kind of a step that calls back into Python."""
    return "region" if isinstance(program.sites[step.site].node.op, Region) else "numpy"


def _of_region(site: prog.Site) -> dict[str, Any]:
    """Return the engine of a region and the counters of its copies."""
    op = site.node.op
    return {"engine": op.engine, "copies": getattr(op.run, "copies", None)} if isinstance(op, Region) else {}


def _listed(names: Iterable[str]) -> str:
    """Return the functions without duplicates; copies, which only prepare the others, come last."""
    return ", ".join(sorted(dict.fromkeys(names), key=lambda name: name in (PACK, COPY)))


def input_names(program: prog.Program) -> list[str]:
    """Return the names of the inputs."""
    names = Names()
    return [
        i.name or (names[i] if isinstance(i, SharedVariable) else f"input {k}")
        for k, i in enumerate(program.graph.inputs)
    ]


def _reads(site: prog.Site, places: dict[prog.Memory, str]) -> tuple[str, ...]:
    """Return the inputs of the function that a node reads, directly or as views."""
    return tuple(dict.fromkeys(places[m] for array in site.operands for m in array.memory if m in places))


def _strided(site: prog.Site) -> tuple[str, ...]:
    """Return the operands that are not contiguous along their last axis, whatever the inputs are."""
    found = [
        called(v) for v, array in zip(site.node.inputs, site.operands, strict=True) if not _runs_along(array)
    ]  # fmt: skip
    return tuple(dict.fromkeys(found))


def _takes_any_strides(step: prog.Call) -> bool:
    """Whether a call takes operands by blocks, as products do, so that strides do not matter."""
    if step.kernel:
        return False
    return family_of(step.function) == "products" or any(isinstance(a, prog.After) for a in step.arguments)


def _runs_along(array: prog.Array) -> bool:
    if not array.lengths or array.lengths[-1] == 1 or array.dense:
        return True
    step = array.strides[-1]
    last = f"_s{len(array.strides) - 1}"  # of an input: shows at run time
    return step in (0, 1) or (isinstance(step, str) and step.startswith("in") and step.endswith(last))


def texts(program: prog.Program) -> list[str]:
    """Return each node in the user's words; intermediate values have their names in the C."""
    names = {i: n for i, n in zip(program.graph.inputs, input_names(program), strict=True) if not i.name}
    texts: list[str] = []
    for number, node in enumerate(site.node for site in program.sites):
        many = len(node.outputs) > 1
        results = [f"v{number}_{o.index}" if many else f"v{number}" for o in node.outputs]
        operands = ", ".join(names.get(i) or called(i) for i in node.inputs)
        if isinstance(node.op, AssumeEqual):  # its views are the inputs to their readers
            results = [names.get(i) or called(i) for i in node.inputs[: len(node.outputs)]]
        names.update(zip(node.outputs, results, strict=True))
        texts.append(f"{', '.join(results)} = {word_of(node.op)}({operands})")
    return texts


def word_of(op: Op) -> str:
    """Return the op in few words: the formula of a group, the plain op of an in-place one."""
    if isinstance(op, InPlace):
        return word_of(op.op)
    if isinstance(op, FusedProduct):
        return f"{word_of(op.product)}+{word_of(op.group)}"
    if isinstance(op, ConvolutionPair):
        return f"{word_of(op.first)} > {word_of(op.second)}"
    if isinstance(op, Assembled):
        return f"{op.graph.outputs[0].owner.op.name} of {', '.join(word_of(n.op) for n in op.graph.order[:-1])}"  # type: ignore[union-attr]
    if isinstance(op, Fused):
        return "+".join(dict.fromkeys(node.op.name for node in op.graph.order))
    if isinstance(op, Pipeline):
        return " > ".join(word_of(node.op) for node in op.graph.order if not isinstance(node.op, VIEWS))
    if isinstance(op, Region):
        return "+".join(dict.fromkeys(node.op.name for node in op.graph.order))
    return op.name
