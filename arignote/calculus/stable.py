"""Derivatives are those of stable expressions: `log(sigmoid(x))` is differentiated as `-softplus(-x)`.

As it is written, its derivative divides by a sigmoid that underflows to 0, and no rule can repair that afterwards.
Nor can one join the products of a loop's derivative: those of the loop itself leave it first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..database import optdb
from ..graph import GraphEditor, Variable, graph_of, rebuild
from ..graph.editor import Replacement
from ..ops.core.tracing import outside
from ..optdb.query import Query
from ..optdb.sweep import MERGE

QUERY = Query.parse("merge1 useless stabilize scanOp_pushout_seqs_ops scan_inner_graph scan_unread -local_view_op")
"""Rules of stable forms, those of users as well, here and in the bodies of loops and branches; products leave loops.

`local_view_op` would take away what holds values constant to derivatives.
"""
TIDY = frozenset({"merge1", "merge", MERGE, "constant_folding", "scan_inner_graph", "scan_unread"})
"""Passes that serve those rules here, as those of `useless` do; what they alone would change stays as it is."""


def stable_forms(outputs: Sequence[Variable], fixed: Collection[Variable] = ()) -> list[Variable]:
    """Return the expressions in stable forms; the variables `fixed`, which may be computed, stay what they are."""
    images = {v: v.clone_leaf() for v in fixed if v.owner is not None}
    inside = rebuild(outputs, images) if images else list(outputs)
    editor = GraphEditor()
    with outside():
        found, _ = optdb.query(QUERY)(graph_of(inside, "grad"), editor)
    fired = set(_rules(editor.journal)) - TIDY
    if not fired or fired <= {entry.name for entry in optdb["useless"].entries()}:
        return list(outputs)
    return rebuild(found.outputs, {image: v for v, image in images.items()}) if images else list(found.outputs)


def _rules(journal: Sequence[Replacement]) -> Iterator[str]:
    """Yield the names of the rules that changed something, in bodies of loops as well."""
    for entry in journal:
        yield entry.rule
        for run in entry.inside:
            yield from (change.rule for _, change in run.changes())
