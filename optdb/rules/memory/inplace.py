"""In-place work: nodes that may write over an operand without later readers.

    InPlace(op, ((output, input), ...))      `op` with leave to write the output over the input

The passes only mark; the backend obeys the marks and `execution_order(graph)`.  Without these passes no value is
ever overwritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from ....graph import Apply, FunctionGraph, GraphEditor, Op, Variable
from ....ops.control.scan_ops import Scan
from ....ops.elementwise.records import Pointwise
from ....ops.linalg.blas import Accumulating
from ....ops.lowered.fused import Fused, InPlace
from ....ops.lowered.row_passes import is_row_graph
from ....ops.shapes.advanced_indexing import AdvancedIncSubtensor
from ....ops.shapes.combining import AdvancedCombine
from ....ops.shapes.indexing import IncSubtensor
from ....profiling import InplaceProfile
from ....record import record
from ...contract import Contract, exact
from ...optimizers import Result
from .destroy import Liveness, MemoryPass, moved_inputs, reduced_outputs

Candidates = Callable[[Apply, Liveness], Iterable[tuple[int, int]]]
"""Returns the (output, input) pairs that the kernel of a node supports, the best ones first."""


def elementwise_candidates(node: Apply, live: Liveness) -> Iterator[tuple[int, int]]:
    """Yield every elementwise output with every operand read along the same axes; updates come first."""
    if isinstance(node.op, Fused) and is_row_graph(node.op.graph):
        return  # it reads its operand again, which must stay
    if isinstance(node.op, Fused):
        moved, reduced = moved_inputs(node.op), set(reduced_outputs(node.op))
        fixed = {v for v, i in zip(node.inputs, node.op.graph.inputs, strict=True) if i in moved}
        inputs = [n for n, v in enumerate(node.inputs) if v not in fixed]
        outputs = [n for n in range(len(node.outputs)) if n not in reduced]
    else:
        inputs, outputs = list(range(len(node.inputs))), [0]
    outputs = [n for n in outputs if node.outputs[n].ndim]  # scalars live in registers
    for output in sorted(outputs, key=lambda n: not live.replaced_by(node.outputs[n])):
        replaced = live.replaced_by(node.outputs[output])
        yield from ((output, n) for n in sorted(inputs, key=lambda n: node.inputs[n] not in replaced))


def first_candidate(node: Apply, live: Liveness) -> Iterator[tuple[int, int]]:
    """Yield the output with the first operand, which BLAS and the ops that write parts of an array overwrite."""
    # The kernel reads its other operands while it writes.
    if node.inputs.count(node.inputs[0]) == 1:
        yield 0, 0


@record(kw_only=True)
class InplaceOptimizer(MemoryPass):
    """Marks nodes of the ops `kinds` that may write over one of their `candidates`, in one traversal."""

    contract: ClassVar[Contract | None] = exact

    kinds: tuple[type[Op], ...]
    candidates: Candidates

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        result, tally = mark(graph, self.kinds, self.candidates, self.name, editor, self.private)
        return result, InplaceProfile(
            nb_call_replace=tally.marked,
            nb_call_validate=tally.asked,
            nb_inconsistent=tally.refused,
            by_ndim=tuple((str(ndim), count) for ndim, count in sorted(tally.by_ndim.items())),
        )


@dataclass
class Tally:
    """The counts of a pass."""

    asked: int = 0
    refused: int = 0
    marked: int = 0
    by_ndim: Counter[int] = field(default_factory=Counter)
    """Number of values that are overwritten, by rank."""


def mark(
    graph: FunctionGraph, kinds: tuple[type[Op], ...], candidates: Candidates, by: str, editor: GraphEditor,
    private: bool = False,
) -> tuple[FunctionGraph, Tally]:
    """Return `graph` with each node of `kinds` as `InPlace` that may overwrite an operand."""
    if not any(issubclass(kind, kinds) for kind in {type(node.op) for node in graph.order}):
        return graph, Tally()
    live, tally = Liveness(graph, private), Tally()
    known: dict[Variable, Variable] = {}
    for node in live.order:
        new = node.over(known)
        pairs = _legal_pairs(node, candidates, live, tally) if isinstance(node.op, kinds) else ()
        if pairs:
            marked = new.with_op(InPlace(node.op, pairs))
            if editor.admit(by, node.outputs[pairs[0][0]], marked.outputs[pairs[0][0]]):
                _record(node, marked, pairs, live, tally)
                new = marked
        if new is not node:
            known.update(zip(node.outputs, new.outputs, strict=True))
    return graph.with_images(known), tally


def _legal_pairs(node: Apply, candidates: Candidates, live: Liveness, tally: Tally) -> tuple[tuple[int, int], ...]:
    """Return the pairs to mark: no output and no operand twice."""
    pairs: dict[int, int] = {}
    victims: set[Variable] = set()
    for output, n in candidates(node, live):
        if output in pairs or node.inputs[n] in victims:
            continue
        tally.asked += 1
        if live.may_overwrite(node, output, n):
            pairs[output] = n
            victims.add(node.inputs[n])
        else:
            tally.refused += 1
    return tuple(sorted(pairs.items()))


def _record(node: Apply, marked: Apply, pairs: tuple[tuple[int, int], ...], live: Liveness, tally: Tally) -> None:
    for new, old in zip(marked.outputs, node.outputs, strict=True):
        new.name = old.name
    for _, n in pairs:
        live.take(node.inputs[n])
        tally.by_ndim[node.inputs[n].ndim] += 1
    tally.marked += 1


def state_candidates(node: Apply, live: Liveness) -> Iterator[tuple[int, int]]:
    """Yield the states of a loop that are arrays, with their first values."""
    assert isinstance(node.op, Scan)
    for output, place in node.op.replaced.items():
        if node.outputs[output].ndim and node.inputs.count(node.inputs[place]) == 1:
            yield output, place


# --- the passes


def inplace_states() -> InplaceOptimizer:
    """Marks loops whose last states may be written over their first ones."""
    return InplaceOptimizer(name="scan_make_inplace", kinds=(Scan,), candidates=state_candidates)


def inplace_setsubtensor() -> InplaceOptimizer:
    """Marks writes to a slice of an array, in that array."""
    return InplaceOptimizer(name="local_inplace_setsubtensor", kinds=(IncSubtensor,), candidates=first_candidate)


def inplace_incsubtensor1() -> InplaceOptimizer:
    """Marks writes to elements selected by integer arrays, in their array."""
    return InplaceOptimizer(
        name="local_inplace_incsubtensor1", kinds=(AdvancedIncSubtensor, AdvancedCombine), candidates=first_candidate
    )


def inplace_blas() -> InplaceOptimizer:
    """Marks calls of BLAS that accumulate into a value, over that value."""
    return InplaceOptimizer(name="InplaceBlasOpt", kinds=(Accumulating,), candidates=first_candidate)


def inplace_elemwise() -> InplaceOptimizer:
    """Marks elementwise ops and groups, over any operand that is read element by element."""
    kinds = (Pointwise, Fused)
    return InplaceOptimizer(name="inplace_elemwise_optimizer", kinds=kinds, candidates=elementwise_candidates)
