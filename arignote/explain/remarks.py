"""`f.remarks`: missed optimizations, their reasons and fixes.

    not fused        two kernels that could have been one, and what kept them apart
    BLAS not used    a product of matrices that no BLAS takes
    not in place     a result that needed memory of its own although an operand of its size is at hand
    not vectorized   a kernel whose loop the compiler cannot make vectors of
    on one thread    a kernel that cannot be cut into parts
    in Python        a step that has no C and is run by NumPy
    in float32       operands in 16 bits whose products the processor multiplies in float32
    in vectors       bytes that the tiles of AMX would multiply, if Linux gave their state to this process
    small steps      a loop whose steps compute so little that the work around them takes longer

The bodies of loops and choices have remarks too.  Remarks are read off the optimized graph and the program, on demand:
they add nothing to compile time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from .. import pages
from ..cbackend.program.launches import is_launched
from ..cbackend.program.planners.host import no_c
from ..cbackend.program.program import Choice, Loop, bodies_of
from ..engines.registry import title
from ..graph import Apply, Constant, FunctionGraph, Names, Op, Variable, dims_of, execution_order
from ..ops.control.laziness import titles_at
from ..ops.core.shared import SharedVariable
from ..ops.elementwise.records import Pointwise
from ..ops.linalg.blas import BLAS_DTYPES, Accumulating, Dot, MatMul
from ..ops.lowered.assumed import AssumeEqual
from ..ops.lowered.convolution_pair import ConvolutionPair
from ..ops.lowered.fused import Fused, InPlace, unmarked
from ..ops.lowered.fused_product import FusedProduct
from ..ops.lowered.region import Region
from ..ops.reductions.cumulative import Cumulative
from ..ops.reductions.reduce import ArgReduce, Reduce
from ..ops.shapes.advanced_indexing import AdvancedIncSubtensor
from ..ops.shapes.indexing import IncSubtensor
from ..ops.shapes.shape import DimShuffle
from ..optdb.rules.memory.destroy import reduced_outputs
from ..optdb.rules.quantized.narrow import FORMATS as NARROW
from ..record import record
from ..record.spelling import counted
from ..targets.current import current
from ..targets.units import has_tiles, lacking, tiles_refused
from .replay import word

SHOWN = 40
"""Most remarks that `str` shows."""
KINDS = (
    "not fused", "BLAS not used", "not in place", "not vectorized", "on one thread", "in Python", "in float32",
    "in vectors", "small steps", "assumed",
)  # fmt: skip
SMALL_STEP = 64
"""Numbers of a step up to which a loop has small steps; the work around a step takes as long as some 100 additions."""


@record
class Remark:
    """One missed optimization: `what` it concerns, the `reason`, the fix, and the user's lines."""

    kind: str
    what: str
    reason: str
    suggestion: str = ""
    lines: tuple[str, ...] = ()
    kernel: str = ""

    def __str__(self) -> str:
        where = f"\n  at {', '.join(self.lines[:3])}" if self.lines else ""
        fix = f"\n  try: {self.suggestion}" if self.suggestion else ""
        return f"{self.kind}: {self.what}\n  because {self.reason}{fix}{where}"

    def to_dict(self) -> dict[str, Any]:
        """The remark as plain data, ready for JSON."""
        return {
            "kind": self.kind, "what": self.what, "reason": self.reason, "suggestion": self.suggestion,
            "lines": list(self.lines), "kernel": self.kernel,
        }  # fmt: skip


class Remarks(Sequence[Remark]):
    """The remarks on one function, in the order of its nodes."""

    def __init__(self, remarks: Sequence[Remark], none: str = "") -> None:
        """`none`: the text if there are no remarks."""
        self._remarks = tuple(remarks)
        self._none = none or "nothing to remark: all that could be fused, vectorized and done in place was"

    def __len__(self) -> int:
        return len(self._remarks)

    def __getitem__(self, which: Any) -> Any:
        return Remarks(self._remarks[which]) if isinstance(which, slice) else self._remarks[which]

    def of(self, kind: str) -> Remarks:
        """Return the remarks of one kind, such as "not fused".  Raises ValueError for an unknown kind."""
        if kind not in KINDS:
            raise ValueError(f"no remark is {kind!r}; expected one of {', '.join(map(repr, KINDS))}")
        return Remarks([r for r in self._remarks if r.kind == kind])

    def to_dict(self) -> list[dict[str, Any]]:
        """The remarks as plain data, ready for JSON."""
        return [remark.to_dict() for remark in self._remarks]

    def to_json(self) -> str:
        """`to_dict()` as JSON, indented."""
        return json.dumps(self.to_dict(), indent=1)

    def __str__(self) -> str:
        if not self._remarks:
            return self._none
        left = len(self._remarks) - SHOWN
        more = [f"... and {left:,} more"] if left > 0 else []
        return "\n".join([*map(str, self._remarks[:SHOWN]), *more])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        header = ("kind", "what", "because", "try", "line")
        rows = [(r.kind, r.what, r.reason, r.suggestion, "; ".join(r.lines[:3])) for r in self._remarks]
        head = f"remarks: {len(rows):,}" if rows else str(self)
        return pages.notebook.listed_form(head, [("", header, rows)], str(self))


def remarks_on(graph: FunctionGraph, ran: Collection[str], program: Any) -> Remarks:
    """The remarks on an optimized graph.

    `ran`: the names of the optimizers that it went through.  `program`: what the C backend made of it.
    """
    found = list(_remarks(graph, ran, program, ""))
    stack = _bodies(program)[::-1]
    while stack:
        body, title = stack.pop()
        found += _remarks(body.graph, ran, body, title)
        stack += _bodies(body)[::-1]
    return Remarks(found)


def _remarks(graph: FunctionGraph, ran: Collection[str], program: Any, title: str) -> list[Remark]:
    """The remarks on one program; `title` names the loop or the branch whose body it is."""
    texts = _Texts(graph, program)
    found = [*_fusion(graph, ran, texts), *_products(graph, texts), *_in_place(graph, ran, texts)]
    found += [*_vectors(program, texts), *_one_thread(program, texts, title), *_host(program, texts)]
    found += [*_small_steps(program, texts), *_in_float32(graph, texts), *_in_vectors(graph, texts)]
    place = {texts(node): n for n, node in enumerate(graph.order)}
    found.sort(key=lambda r: (place.get(r.what.partition(" -> ")[0], len(place)), r.kind))
    return [replace(r, what=f"{r.what}, inside {title}") for r in found] if title else found


def _bodies(program: Any) -> list[tuple[Any, str]]:
    """The programs of the bodies of a program, each with the name of its loop or branch."""
    titles: dict[int, str] = {}
    for step in program.steps:
        if isinstance(step, (Loop, Choice)):
            titles.update(zip(bodies_of(step), titles_at(program.sites[step.site].node).values(), strict=False))
    return [(body, titles.get(number, "a body")) for number, body in enumerate(program.bodies)]


def _small_steps(program: Any, texts: _Texts) -> Iterator[Remark]:
    """Loops whose steps compute few numbers, as far as lengths are known."""
    for node in (program.sites[step.site].node for step in program.steps if isinstance(step, Loop)):
        op = unmarked(node.op)
        values = [o for inner in op.graph.order for o in inner.outputs]
        sizes = [_known_size(v) for v in (*values, *op.graph.inputs)]
        if None not in sizes and sum(n for n in sizes if n) <= SMALL_STEP:
            yield texts.remark(
                "small steps", node,
                "a step computes few numbers, so the work around its kernels takes longer than they",
                "one loop over many such problems at once (ag.vmap, or a batch axis in the states), or no loop: "
                "T.cumsum, T.cumprod",
            )  # fmt: skip


def _known_size(variable: Variable) -> int | None:
    """The number of elements; None if it is not known."""
    size = 1
    for n in dims_of(variable):
        if not isinstance(n, int):
            return None
        size *= n
    return size


def remarks_on_host(hosted: Sequence[tuple[Apply, str]], backend: str) -> Remarks:
    """Return a remark for each node of a device's function that NumPy runs on the host, with the engine's reason."""
    where = f"run on the host by NumPy, not by {title(backend)}"
    found = [
        Remark("in Python", f"{node.op.name}, {where}", reason, lines=tuple(map(str, node.origin)))
        for node, reason in hosted
    ]
    return Remarks(found, f"nothing to remark: {title(backend)} runs every node on the device")


def remarks_without_c(graph: FunctionGraph, executable: Any, asked: str) -> Remarks:
    """Return the remark on a function that NumPy runs node by node, without fusion or vectors.

    `executable`: runs it; of engines other than NumPy nothing is known but the nodes that they leave to the host.
    `asked`: the engine that the mode asks for; if another runs it, no C compiler works, or it refuses the C.
    """
    backend, wanted, hosted = executable.backend, asked == executable.backend, getattr(executable, "hosted", None)
    if hosted is not None:
        return remarks_on_host(hosted, backend)
    if backend != "numpy":
        return Remarks([], f"nothing to remark: {title(backend)} reports no missed optimizations")
    reason = "its mode asks for NumPy" if wanted else "no C could be compiled"
    fix = 'mode="FAST_RUN"' if wanted else "`python -m arignote doctor`, which says what a compiler lacks"
    nodes = counted(len(graph), "node")
    return Remarks([Remark("in Python", f"{nodes}, run one by one by NumPy", reason, fix)] if len(graph) else [])


class _Texts:
    """Names of nodes: those of the driver, as in the C comments and in the run profile."""

    def __init__(self, graph: FunctionGraph, program: Any) -> None:
        nodes = [site.node for site in program.sites]
        names = Names()
        self.names: dict[Variable, str] = {
            i: i.name or names[i] for i in graph.inputs if i.name or isinstance(i, SharedVariable)
        }
        for k, node in enumerate(nodes):
            many = len(node.outputs) > 1
            self.names.update((o, o.name or (f"v{k}_{o.index}" if many else f"v{k}")) for o in node.outputs)
        self.kernels: dict[Apply, str] = {}
        for step in program.steps:
            if getattr(step, "kernel", False) and step.site < len(nodes):
                self.kernels.setdefault(nodes[step.site], step.function)

    def __call__(self, node: Apply) -> str:
        results = ", ".join(self.names[o] for o in node.outputs)
        return f"{results} = {word(unmarked(node.op))}({', '.join(map(self.of, node.inputs[:6]))})"

    def of(self, variable: Variable) -> str:
        data = getattr(variable, "data", None)
        if data is not None:
            return str(data) if data.size == 1 else "a constant"
        return self.names.get(variable) or variable.name or "an input"

    def remark(self, kind: str, node: Apply, reason: str, fix: str = "", reader: Apply | None = None) -> Remark:
        what = self(node) if reader is None else f"{self(node)} -> {self(reader)}"
        origin = node.origin if reader is None else dict.fromkeys((*node.origin, *reader.origin))
        return Remark(kind, what, reason, fix, tuple(map(str, origin)), self.kernels.get(node, ""))


# --- fusion


def _fusion(graph: FunctionGraph, ran: Collection[str], texts: _Texts) -> Iterator[Remark]:
    """Yield one remark per pair of neighbouring kernels."""
    excluded = "elemwise_fusion" not in ran
    for node in graph.order:
        if not _is_loop(node):
            continue
        readers = dict.fromkeys(r for o in node.outputs for r in _readers(graph, o) if _is_loop(r))
        for reader in readers:
            reason, fix = _why_separate(node, reader, graph, excluded)
            if reason:
                yield texts.remark("not fused", node, reason, fix, reader)


def _readers(graph: FunctionGraph, value: Variable) -> Iterator[Apply]:
    """Yield the nodes that read a value, directly or through a dimshuffle."""
    stack = [value]
    while stack:
        for reader, _ in graph.uses.get(stack.pop(), ()):
            if reader is not None and isinstance(reader.op, DimShuffle):
                stack.append(reader.out)
            elif reader is not None:
                yield reader


def _is_loop(node: Apply) -> bool:
    """Whether the node is a loop nest that could hold others."""
    op = unmarked(node.op)
    return isinstance(op, (Pointwise, Fused, Reduce)) and any(v.ndim for v in (*node.inputs, *node.outputs))


def _why_separate(node: Apply, reader: Apply, graph: FunctionGraph, excluded: bool) -> tuple[str, str]:
    if excluded:
        return "the mode leaves fusion out", 'mode.including("fusion")'
    op, other = unmarked(node.op), unmarked(reader.op)
    shared = [o for o in node.outputs if reader in set(_readers(graph, o))]
    if all(o.index in _reduced(op) for o in shared):
        return "", ""  # a sum is read when its loop is over: nothing was missed
    if not any(o.ndim for o in shared):
        return "", ""
    limits = current().limits.fusion
    if _size(op) + _size(other) > limits.nodes:
        return f"a kernel holds at most {limits.nodes} operations", ""
    if len({*node.inputs, *reader.inputs}) > limits.inputs:
        return f"a kernel reads at most {limits.inputs} arrays", ""
    value = shared[0]
    space = _space(reader)
    if value.ndim < len(space) or any(n == 1 and m != 1 for n, m in zip(dims_of(value), space, strict=False)):
        return (
            "the result is smaller than the loops of its reader, which would compute it again for each element",
            "",
        )
    if [str(d) for d in dims_of(value)] != [str(d) for d in space]:
        return (
            "their lengths are not known to agree: the reader could be broadcast by another operand at run time",
            "say the lengths: T.tensor(shape=...), or ag.shared(value, shape=value.shape)",
        )
    between = _between(node, reader, graph)
    if between is not None:
        return f"{word(unmarked(between.op))} between them needs the whole result of the first", ""
    return "", ""


def _space(node: Apply) -> tuple[Any, ...]:
    """Return the lengths of the loops of a node: of its largest operand or result."""
    return dims_of(max((*node.outputs, *node.inputs), key=lambda v: v.ndim))


def _between(node: Apply, reader: Apply, graph: FunctionGraph) -> Apply | None:
    """Return a node that reads the first and that the second reads, which prevents their fusion."""
    below = {r for o in node.outputs for r, _ in graph.uses.get(o, ()) if r is not None and r is not reader}
    return next((i.owner for i in reader.inputs if i.owner in below), None)


def _size(op: Any) -> int:
    return len(op.graph) if isinstance(op, Fused) else 1


def _reduced(op: Any) -> set[int]:
    """Return the outputs of an op that are complete only after its loops."""
    if isinstance(op, Fused):
        return set(reduced_outputs(op))
    return {0} if isinstance(op, Reduce) else set()


# --- products


def _products(graph: FunctionGraph, texts: _Texts) -> Iterator[Remark]:
    for node in graph.order:
        op = unmarked(node.op)
        if isinstance(op, (Dot, MatMul)) and node.out.dtype not in BLAS_DTYPES:
            yield texts.remark(
                "BLAS not used", node, f"no BLAS multiplies {node.out.dtype}", "cast the operands to float32 or float64"
            )  # fmt: skip
        elif isinstance(op, Fused) and _is_product(op):
            yield texts.remark(
                "BLAS not used", node, "a summed product of two arrays is written as * and sum",
                "write it as a @ b, T.tensordot or T.dot",
            )  # fmt: skip


def _in_float32(graph: FunctionGraph, texts: _Texts) -> Iterator[Remark]:
    """Yield a remark for each format of 16 bits to which operands are rounded and that no unit multiplies."""
    for form in NARROW.values():
        missing = lacking(current(), form.name)
        rounding = [node for node in graph.order if missing and _rounds(node, form)]
        if rounding:
            yield texts.remark(
                "in float32", rounding[0],
                f"{counted(len(rounding), 'kernel')} round to {form.name} for layers that multiply float32: the target "
                f"lacks {missing}",
            )  # fmt: skip


def _in_vectors(graph: FunctionGraph, texts: _Texts) -> Iterator[Remark]:
    """Yield a remark if Linux refuses the tiles that would multiply bytes or pairs of bfloat16 numbers."""
    products = [n for n in graph.order if _is_tiled(unmarked(n.op))]
    if products and tiles_refused():
        yield texts.remark(
            "in vectors", products[0], "Linux refuses this process the state of AMX's tiles",
            "run outside of a sandbox or virtual machine that hides it",
        )  # fmt: skip


def _is_tiled(op: Op) -> bool:
    """Whether tiles of the current target multiply the operands of an op."""
    if isinstance(op, (FusedProduct, ConvolutionPair)):
        return _is_tiled(op.product if isinstance(op, FusedProduct) else op.first)
    return has_tiles(current(), getattr(op, "tiled_format", ""))


def _rounds(node: Apply, form: Any) -> bool:
    """Whether a node, or one of its group, rounds values to a format and widens them again."""
    op = unmarked(node.op)
    held = op.graph.order if isinstance(op, (Fused, FusedProduct)) else (node,)
    return any(v.owner is not None and not isinstance(v, Constant) and form.is_rounded(o) and _computes(v)
               for n in held for o in n.outputs if o.dtype == "float32" for v in n.inputs)  # fmt: skip


def _computes(v: Variable) -> bool:
    """Whether a value of 16 bits is computed from float32."""
    return v.owner is not None and v.owner.inputs[0].dtype == "float32"


def _is_product(op: Fused) -> bool:
    """Whether a group sums a product over common axes of both factors, each of which has other axes too."""
    for node in op.graph.order:
        if isinstance(node.op, Reduce) and node.op.name == "sum" and node.inputs[0].owner is not None:
            factors = node.inputs[0].owner
            if factors.op.name == "mul" and len(factors.inputs) == 2 and node.inputs[0].ndim > 2:
                broadcast = [any(n == 1 for n in dims_of(i)) for i in factors.inputs]
                if all(broadcast):
                    return True
    return False


# --- in place

MAY_OVERWRITE = (Pointwise, Fused, Accumulating, IncSubtensor)


def _in_place(graph: FunctionGraph, ran: Collection[str], texts: _Texts) -> Iterator[Remark]:
    """Yield remarks on nodes with memory of their own although an operand has the size and dtype of the result."""
    last = {i: node for node in execution_order(graph, private=True) for i in node.inputs}
    for node in graph.order:
        if isinstance(node.op, InPlace) or not isinstance(node.op, MAY_OVERWRITE):
            continue
        reduced = _reduced(node.op)
        result = next((o for o in node.outputs if o.ndim and o.index not in reduced), None)
        alike = [i for i in node.inputs if result is not None and i.type == result.type and not isinstance(i, Constant)]
        given = [_as_given(i) for i in alike]
        own = [i for i in given if i not in graph.inputs or graph.inputs.index(i) in dict(graph.updates)]
        if own and "add_destroy_handler" not in ran:
            yield texts.remark("not in place", node, "the mode leaves it out", 'mode.including("inplace")')
        elif own:
            reason = _why_kept(own[0], node, graph, last, texts)
            if reason:
                yield texts.remark("not in place", node, reason)


def _as_given(variable: Variable) -> Variable:
    """Return the input whose lengths are assumed in place of its view; other variables as they are."""
    node = variable.owner
    return node.inputs[variable.index] if node is not None and isinstance(node.op, AssumeEqual) else variable


def _why_kept(
    operand: Variable, node: Apply, graph: FunctionGraph, last: dict[Variable, Apply], texts: _Texts
) -> str:
    """Return why an operand was not overwritten; empty if that is no missed optimization, as for arguments."""
    name = texts.of(operand)
    if operand in graph.inputs:
        return f"{name} is still read after this, or its update is another value"
    if operand in graph.outputs:
        return f"{name} is an output as well"
    if last.get(operand) is not node:
        return f"{name} is read again later, by {texts(last[operand])}"
    source = None if operand.owner is None else operand.owner.op.views().get(operand.index)
    if operand.owner is not None and source is not None:
        return f"{name} shows the memory of {texts.of(operand.owner.inputs[source])}, which is needed"
    return ""


# --- loops and steps


def _vectors(program: Any, texts: _Texts) -> Iterator[Remark]:
    plain = {k.name: k for k in program.kernels if k.rank and not k.is_vectorized}
    for node, name in texts.kernels.items():
        if name in plain:
            reason, fix = _why_scalar(node)
            yield texts.remark("not vectorized", node, reason, fix)


def _why_scalar(node: Apply) -> tuple[str, str]:
    op = unmarked(node.op)
    dtypes = {v.dtype for v in (*node.inputs, *node.outputs)}
    inside = [n.op for n in op.graph.order] if isinstance(op, Fused) else [op]
    if isinstance(op, ArgReduce):
        return "argmax and argmin depend on all earlier elements", ""
    if "float16" in dtypes:
        return "float16 is converted element by element", "compute in float32"
    if any(d.startswith("complex") for d in dtypes):
        return "complex numbers are pairs, which the compiler does not interleave", ""
    failing = next((o for o in inside if getattr(o, "fallible", False)), None)
    if failing is not None:
        return f"{failing.name} may fail on any element, so each is checked", ""
    kinds = {getattr(o, "name", "") for o in inside}
    return f"the loop over {', '.join(sorted(kinds)[:4])} carries a value or a choice from element to element", ""


def _one_thread(program: Any, texts: _Texts, title: str) -> Iterator[Remark]:
    if title:  # hardly any kernel of a step is worth several threads
        return
    whole = {k.name for k in program.kernels if k.rank and not is_launched(k)}
    for node, name in texts.kernels.items():
        if name in whole:
            yield texts.remark("on one thread", node, _why_whole(unmarked(node.op)))


def _why_whole(op: Op) -> str:
    if isinstance(op, Cumulative):
        return "each element needs the one before it"
    if isinstance(op, AdvancedIncSubtensor):
        return "indices may name one element several times, and the order of writing counts"
    return "each element needs the result of the one before it"


def _host(program: Any, texts: _Texts) -> Iterator[Remark]:
    nodes = [site.node for site in program.sites]
    for site in dict.fromkeys(s.site for s in program.steps if type(s).__name__ == "Host"):
        node = nodes[site]
        if isinstance(node.op, Region):  # it was asked for
            continue
        yield texts.remark("in Python", node, no_c(unmarked(node.op)))
