"""Expressions as a person would write them: the query `print` over lengths that are taken as they read.

`x * y` reads as a product of two vectors of one length, though a run may broadcast either.  So lengths that meet are
taken as equal, and what serves only that case (`sum_to`, `fill`) vanishes.  The expression itself never changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..database import optdb
from ..graph import Apply, Constant, Dim, FunctionGraph, GraphEditor, Variable, dims_of, rebuild, toposort
from ..graph.dims import Symbol, extent
from ..ops.elementwise.pointwise import Broadcasting
from ..ops.writing.expressions import opened
from ..optdb.rules.shapes.agreement import Agreement

LARGEST = 1500
"""Most nodes of an expression that is simplified; larger ones are shown as they are."""
QUERY = "print"


def simplified(outputs: Sequence[Variable]) -> list[Variable]:
    """Return the outputs in the form that is printed, in terms of the same leaves; large ones as they are."""
    found = opened(outputs)
    if len(toposort(found)) > LARGEST:
        return found
    leaves = [leaf for leaf in dict.fromkeys(_leaves(found)) if not isinstance(leaf, Constant)]
    graph = FunctionGraph(leaves, found)
    images = _agreeing(graph)
    inner = FunctionGraph(list(images.values()), rebuild(found, dict(images)))
    result, _ = optdb.query(QUERY)(inner, GraphEditor())
    return rebuild(result.outputs, {image: leaf for leaf, image in images.items()})


def _leaves(outputs: Sequence[Variable]) -> Iterator[Variable]:
    yield from (i for node in toposort(outputs) for i in node.inputs if i.owner is None)
    yield from (o for o in outputs if o.owner is None)


def _agreeing(graph: FunctionGraph) -> dict[Variable, Variable]:
    """Return leaves that stand for those of the graph: lengths that meet in it are the same length of one leaf."""
    agreement = Agreement(graph, assumed=[pair for node in graph.order for pair in _meeting(node)])
    images = {leaf: leaf.clone_leaf() for leaf in graph.inputs}
    for leaf, image in images.items():
        found = [_image(agreement.canonical(dim), images) for dim in dims_of(leaf)]
        known = [d if isinstance(d, int) else n for d, n in zip(found, leaf.type.shape, strict=True)]
        image.type = leaf.type.with_shape(tuple(known))
        own = dims_of(image)
        image._dims = tuple(mine if d is None else d for d, mine in zip(found, own, strict=True))
    return images


def _meeting(node: Apply) -> Iterator[tuple[Dim, Dim]]:
    """The pairs of lengths that meet in an elementwise op and do not broadcast as far as types tell."""
    if not isinstance(node.op, Broadcasting):
        return
    first: dict[int, Dim] = {}
    for i in node.inputs:
        for axis, dim in enumerate(reversed(dims_of(i))):
            if dim == 1:
                continue
            pair = _atoms(first.setdefault(axis, dim), dim)
            if pair is not None:
                yield pair


def _atoms(a: Dim, b: Dim) -> tuple[Dim, Dim] | None:
    """The lengths that make two lengths equal, by a common form: n - 1 and m - 1 are equal if n and m are."""
    while isinstance(a, Symbol) and isinstance(b, Symbol) and a.kind == b.kind and a.kind not in ("extent", "value"):
        if len(a.args) != len(b.args):
            return None
        differing = [(x, y) for x, y in zip(a.args, b.args, strict=True) if x != y]
        if len(differing) != 1:
            return None
        ((a, b),) = differing  # type: ignore[assignment]
    return None if a == b or (isinstance(a, int) and isinstance(b, int)) else (a, b)


def _image(dim: Dim, images: dict[Variable, Variable]) -> Dim | None:
    """Return a length in terms of the images; None if it is not that of a leaf."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, Symbol) and dim.kind == "extent" and dim.args[0] in images:
        return extent(images[dim.args[0]], dim.args[1])  # type: ignore[arg-type, index]
    return None
