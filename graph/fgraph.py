"""Function graphs: immutable outputs over inputs.  An optimizer takes one and returns another."""

from __future__ import annotations

import itertools
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence
from typing import Any

from .. import pages
from ..record.cached import cached_property
from ..record.spelling import counted
from .collector import gc_paused
from .editor import GraphEditor
from .match_key import MatchKey, match_key_of
from .node import Apply, Constant, Variable
from .op import Op
from .pickling import flatten, unflatten
from .picture import groups_of, picture_of
from .text import show
from .walk import leaves, nodes_and_leaves, rebuild

_LONGEST_TEXT = 2000
"""Limit of nodes whose text a notebook shows."""

Use = tuple["Apply | None", int]
"""Reader of a variable: (node, input position), or (None, output position) for an output of the graph."""


class FunctionGraph:
    """`outputs` computed from `inputs`.  Graphs are equal if they compute the same ops on the same inputs by position.

    `updates` are pairs (input position, output position): after a run that raised nothing, the caller replaces the
    value of that input by that output, so the run itself may overwrite the old value.

    Raises ValueError if an output depends on a variable that is neither a constant nor among the inputs, or an input is
    given twice or is a constant or computed from others by an op that stands between it and the outputs; or if an
    update names no input or output, updates an input twice, or changes its dtype or rank.
    """

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], updates: Iterable[tuple[int, int]] = ()
    ) -> None:
        self.inputs: tuple[Variable, ...] = tuple(inputs)
        self.outputs: tuple[Variable, ...] = tuple(outputs)
        self.updates: tuple[tuple[int, int], ...] = tuple(sorted(updates))
        if len(set(self.inputs)) != len(self.inputs):
            twice = next(i for n, i in enumerate(self.inputs) if i in self.inputs[:n])
            raise ValueError(f"input {twice.name or twice.type} is given twice")
        for i in [i for i in self.inputs if i.owner is not None or isinstance(i, Constant)]:
            what = "a constant" if isinstance(i, Constant) else f"computed by {i.owner!r}"
            place = f"input {self.inputs.index(i)} ({i.name or i.type})"
            raise ValueError(f"{place} is {what}; an input is a variable without owner")
        order, found = nodes_and_leaves(self.outputs)
        self.order: tuple[Apply, ...] = tuple(order)
        """The nodes, inputs before users; the order depends on structure alone."""
        self._others: set[Variable] = found.difference(self.inputs)
        """The leaves that are no inputs: the constants."""
        if not all(isinstance(leaf, Constant) for leaf in self._others):
            self._refuse_stranger()
        self._check_updates()

    def _refuse_stranger(self) -> None:
        leaf = next(v for v in self._leaves() if v not in self.inputs and not isinstance(v, Constant))
        name = leaf.name or "an unnamed variable"
        raise ValueError(f"an output depends on {name} ({leaf.type}), which is not an input")

    def _check_updates(self) -> None:
        for n, (i, o) in enumerate(self.updates):
            if not (0 <= i < len(self.inputs) and 0 <= o < len(self.outputs)):
                counts = f"{counted(len(self.inputs), 'input')} and {counted(len(self.outputs), 'output')}"
                raise ValueError(f"update ({i}, {o}) names none of {counts}")
            if n and self.updates[n - 1][0] == i:
                raise ValueError(f"input {i} ({self.inputs[i].name or self.inputs[i].type}) is updated twice")
            old, new = self.inputs[i].type, self.outputs[o].type
            if old.dtype != new.dtype or old.ndim != new.ndim:
                name = self.inputs[i].name or f"input {i}"
                raise ValueError(f"the update of {name} ({old}) has another dtype or rank: {new}")

    def _leaves(self) -> list[Variable]:
        """The leaves that nodes read, in order, once for each reading."""
        read = [i for node in self.order for i in node.inputs if i.owner is None]
        return read + [o for o in self.outputs if o.owner is None]

    @cached_property
    def uses(self) -> dict[Variable, list[Use]]:
        """The readers of each variable; variables without readers are left out."""
        uses: defaultdict[Variable, list[Use]] = defaultdict(list)
        for node in self.order:
            for position, i in enumerate(node.inputs):
                uses[i].append((node, position))
        for position, o in enumerate(self.outputs):
            uses[o].append((None, position))
        return dict(uses)

    @cached_property
    def readings(self) -> Counter[Variable]:
        """The number of readers of each variable, outputs of the graph among them: the length of its `uses`."""
        counts = Counter(itertools.chain.from_iterable([node.inputs for node in self.order]))
        counts.update(self.outputs)
        return counts

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """The constants, in order of first use."""
        missing, found = self._others.copy(), dict[Any, None]()
        for values in itertools.chain([node.inputs for node in self.order], [self.outputs]) if missing else ():
            if not missing.isdisjoint(values):
                found.update(dict.fromkeys([v for v in values if v in missing]))
                missing.difference_update(values)
        return tuple(found)

    @cached_property
    def nodes(self) -> frozenset[Apply]:
        """The nodes as a set."""
        return frozenset(self.order)

    @cached_property
    def match_keys(self) -> tuple[MatchKey, ...]:
        """The match key of each node, in order."""
        return tuple([node._match_key or match_key_of(node) for node in self.order])

    @cached_property
    def kinds(self) -> tuple[MatchKey, ...]:
        """The distinct match keys, in order of first use."""
        return tuple(dict.fromkeys(self.match_keys))

    @cached_property
    def ops(self) -> KeysView[Op]:
        """The ops that are applied, in order of first use."""
        return dict.fromkeys([key.op for key in self.kinds]).keys()

    @cached_property
    def has_repeats(self) -> bool:
        """Whether two nodes apply the same op to the same inputs, or two constants are equal."""
        first: dict[tuple[Variable, ...], Apply] = {}
        others = [node for node in self.order if first.setdefault(node.inputs, node) is not node]
        alike = {*others, *[first[node.inputs] for node in others]}  # some other one has the same inputs
        if len({(node.op, node.inputs) for node in alike}) < len(alike):
            return True
        return len({constant.key for constant in self.constants}) < len(self.constants)

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.order)

    def replace(
        self,
        pairs: Mapping[Variable, Variable] | Iterable[tuple[Variable, Variable]],
        by: str,
        editor: GraphEditor | None = None,
    ) -> FunctionGraph:
        """The graph with each first variable replaced by the second, all at once; `by` names the rule.

        The second variables may be built upon the first ones.  The editor checks types, asks the watcher and writes the
        journal.  Raises ReplacementRefused if a type would be lost.
        """
        editor = editor or GraphEditor()
        changes = ((before, after) for before, after in dict(pairs).items() if before is not after)
        taken = {before: after for before, after in changes if editor.admit(by, before, after)}
        return self.substituted(taken) if taken else self

    def substituted(self, known: Mapping[Variable, Variable]) -> FunctionGraph:
        """The graph with variables replaced by their images, for engines that called the editor themselves."""
        order = None if any(v.owner for v in known) else self.order
        return FunctionGraph(self.inputs, rebuild(self.outputs, dict(known), order=order), self.updates)

    def with_images(self, images: Mapping[Variable, Variable]) -> FunctionGraph:
        """The graph after a pass over its nodes, which found `images` of all values that change; itself without any."""
        return FunctionGraph(self.inputs, [images.get(o, o) for o in self.outputs], self.updates) if images else self

    def rebuilt(self, visit: Callable[[Apply], Sequence[Variable]]) -> FunctionGraph:
        """Rebuild the graph from the inputs; `visit(node)` returns the replacements of a rebuilt node's outputs."""
        return FunctionGraph(self.inputs, rebuild(self.outputs, {}, visit, order=self.order), self.updates)

    # --- equality by structure
    @cached_property
    def key(self) -> tuple[Any, ...]:
        """A key that equal graphs share: types of inputs, ops with the numbers of their inputs, outputs, updates."""
        counter = itertools.count()
        number: dict[Variable, Any] = {i: next(counter) for i in self.inputs}

        def name(v: Variable) -> Any:
            return v.key if isinstance(v, Constant) else number[v]

        rows = []
        for node in self.order:
            rows.append((node.op, tuple(name(i) for i in node.inputs)))
            for o in node.outputs:
                number[o] = next(counter)
        return tuple(i.type for i in self.inputs), tuple(rows), tuple(name(o) for o in self.outputs), self.updates

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, FunctionGraph):
            return NotImplemented
        return hash(self) == hash(other) and self.key == other.key

    # --- text, copies
    def __str__(self) -> str:
        return show(self.inputs, self.outputs, updates=self.updates)

    def __repr__(self) -> str:
        parts = counted(len(self), "node"), counted(len(self.inputs), "input"), counted(len(self.outputs), "output")
        return f"<FunctionGraph of {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """The picture of the graph; below it, folded away, the groups of which ops are made, and its text."""
        return self._page(self._repr_svg_())

    def _page(self, picture: str) -> str:
        """A picture of the graph, and what is folded away below it."""
        text = str(self) if len(self) <= _LONGEST_TEXT else f"{self!r}: too long to be shown; print(str(graph))"
        groups = [
            pages.notebook.folded(title, pages.graph_svg.graph_svg(picture_of(inner), title))
            for title, inner in groups_of(self)
        ]
        return "".join([picture, *groups, pages.notebook.folded_text("text", text)])

    def _repr_svg_(self) -> str:
        return pages.graph_svg.graph_svg(picture_of(self), repr(self))

    def save(self, path: str | os.PathLike[str]) -> str:
        """Save the picture of the graph: as "x.svg", "x.png" or "x.html" by the ending of the path.

        A page has the inside of groups below the picture.  A PNG is drawn by CairoSVG, rsvg-convert, Inkscape or
        Chromium, whichever is there.  Returns the path.

        Raises:
            ValueError: The path has another ending.
            RuntimeError: There is no program that draws a PNG.
        """
        picture = self._repr_svg_()
        return pages.figure.Figure(picture, repr(self), self._page(picture)).save(path)

    def __reduce__(self) -> Any:
        found, rows, numbers = flatten(self.outputs)
        return _restore, (self.inputs, found, rows, numbers, self.updates)


@gc_paused
def _restore(inputs: Any, found: Any, rows: Any, numbers: Any, updates: Any) -> FunctionGraph:
    return FunctionGraph(inputs, unflatten(found, rows, numbers), updates)


def graph_of(expression: Any, asker: str) -> FunctionGraph:
    """The graph of an expression: of a variable, of a list or tuple of them, or a graph itself.

    Its inputs are the free variables, in order of first use.  Raises TypeError, in the name of `asker`.
    """
    if isinstance(expression, FunctionGraph):
        return expression
    outputs = list(expression) if isinstance(expression, (list, tuple)) else [expression]
    for position, output in enumerate(outputs):
        if not isinstance(output, Variable):
            raise TypeError(f"{asker}: expression {position} is {output!r}; expected a variable or a graph")
    return FunctionGraph([leaf for leaf in leaves(outputs) if not isinstance(leaf, Constant)], outputs)
