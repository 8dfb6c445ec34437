"""Replay of a journal: each state between the user's graph and the optimized one.

A `Replay` holds the graph of now as values that know who reads them.  An entry of the journal moves the readers of one
value to another, so a step costs what it changes, whatever the size of the graph.  Names stay: what takes the place of
a value takes its name as well, so the difference between two states is what really changed.

Journals speak in variables of their moment.  A variable is found among the values of now as the one that was made for
it, or as the one that computes the same op on the same operands; what is not found is new, and added.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Union

from ..graph import Apply, Constant, FunctionGraph, Names, Op, Origin, Replacement, TensorType, Variable, toposort
from ..graph.collector import gc_paused
from ..graph.text import constant_label, op_text
from ..ops.core.shared import SharedVariable
from ..ops.lowered.assembled import Assembled
from ..ops.lowered.assumed import AssumeEqual
from ..ops.lowered.convolution_pair import ConvolutionPair
from ..ops.lowered.fused import Fused, InPlace
from ..ops.lowered.fused_product import FusedProduct
from ..ops.lowered.pipeline import VIEWS, Pipeline
from .delta import Delta, Line, compact

Ancestry = dict[Union["Node", int], list[tuple[int, tuple["Node", ...]]]]


class Value:
    """A value of the state: a leaf, or output `index` of a node.  `readers` are (node, position), or (None, output)."""

    __slots__ = ("index", "leaf", "name", "node", "readers", "stand_in", "type", "variables")

    def __init__(self, type: TensorType, leaf: Variable | None = None, node: Node | None = None, index: int = 0):
        self.type: TensorType = type
        self.leaf: Variable | None = leaf
        self.node: Node | None = node
        self.index: int = index
        self.readers: dict[tuple[Node | None, int], None] = {}
        self.variables: list[Variable] = []
        self.stand_in: Value | None = None
        self.name: str = ""


class Node:
    """One application of an op in the state; its inputs change when the values they read are replaced."""

    __slots__ = ("inputs", "op", "origin", "outputs")

    def __init__(self, op: Op, inputs: list[Value], types: Sequence[TensorType], origin: Origin) -> None:
        self.op: Op = op
        self.inputs: list[Value] = inputs
        self.origin: Origin = origin
        self.outputs: list[Value] = [Value(t, None, self, k) for k, t in enumerate(types)]

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.op, *self.inputs)

    @property
    def line(self) -> Line:
        """The node in the text of the graph, with its parts."""
        results, reads = tuple(o.name for o in self.outputs), tuple(i.name for i in self.inputs)
        types = ", ".join(f"{o.name}: {o.type}" for o in self.outputs)
        return Line(f"{types} = {self.expression}", results, self.op, reads, self.origin)

    @property
    def expression(self) -> str:
        """Return the op with the names of its operands."""
        return f"{word(self.op)}({', '.join(i.name for i in self.inputs)})"


Watch = Callable[[Replacement, Sequence[tuple[Value, Value]], "set[Node]"], None]
"""Observer of rewrites: (entry, pairs of a value and its replacement, nodes that are new in the graph)."""


class Replay:
    """The graph after the first `position` rewrites of a journal; `forward` plays the next."""

    def __init__(self, graph: FunctionGraph, journal: Sequence[Replacement], watch: Watch | None = None) -> None:
        self.journal: tuple[Replacement, ...] = tuple(journal)
        self._watch = watch
        """Called with each entry and the values that it exchanges, before they are."""
        self.position: int = 0
        self._inputs, self._updates = graph.inputs, graph.updates
        self._names = Names()
        self._of: dict[Variable, Value] = {}
        self._constants: dict[Any, Value] = {}
        self._equal: dict[tuple[Any, ...], dict[Node, None]] = {}
        """The current nodes by op and operands; equal ones may exist that nothing has merged yet."""
        self._gone: dict[tuple[Any, ...], Node] = {}
        """Nodes that the current rule removed; a rule that changes many nodes at once still refers to them."""
        self._once: dict[Variable, Value] = {}
        """Values of variables of such nodes at the time of the lookup."""
        self._fresh: list[Node] = []
        self._outputs: list[Value] = []
        self._ancestry: Ancestry = {}
        """For each node the rewrites that made it or replaced others by it, and these others."""
        self._operands_of: Ancestry = {}
        """For each node, and each output by number, rewrites that put a leaf in the place of an operand, and this."""
        for i in graph.inputs:
            self._leaf(i)
        for made in graph.order:  # equal nodes of the user stay apart until a rewrite merges them
            self._keep(made, self._added(made))
        for position, output in enumerate(graph.outputs):
            value = self._value(output)
            value.readers[None, position] = None
            self._outputs.append(value)
        self._give_names()

    def forward(self) -> Delta:
        """Apply the next rewrite and return its changes.  Raises IndexError at the end."""
        return self._advance(telling=True)

    def _advance(self, telling: bool) -> Delta:
        """Apply the next rewrite; its changes become text only if a caller asks for them."""
        entry = self.journal[self.position]
        if self.position and self.journal[self.position - 1].rule != entry.rule:
            self._gone.clear()
            self._once.clear()
        self.position += 1
        before = self._found(entry.before) or self._past(entry.before) or self._value(entry.before)
        self._give_names()
        after = self._value(entry.after)
        every = [(before, after), *self._others(entry, before, after)]
        pairs = [(old, new) for old, new in every if old is not new]
        texts = self._texts(pairs, {}) if telling else {}
        returned = self._returned
        equal = [] if pairs else [_once(after)]
        if self._watch is not None:
            self._watch(entry, pairs, set(self._fresh))
        self._inherit(entry.index, pairs)
        for old, new in pairs:  # it grows by nodes that become equal to others: the engine merges them
            equal += _both(old, new) if telling else ()
            more = self._move(old, new, entry.returned)
            texts = self._texts(more, texts) if telling else {}
            pairs += more
        removed = [each for old, _ in pairs for each in self._collect(old)]
        added = self._give_names()
        self._remember(entry.index, pairs, [node for node, _ in removed], added)
        if not telling:
            return Delta()
        gone = {node for node, _ in removed}
        changed = [(text, node.line) for node, text in texts.items() if node not in gone and node.line != text]
        lines = tuple(texts.get(node, text) for node, text in removed)
        came = [node.line for node in added if node not in gone]
        return compact(lines, changed, came, equal, (returned, self._returned))

    def _texts(self, pairs: Sequence[tuple[Value, Value]], known: dict[Node, Line]) -> dict[Node, Line]:
        """Return `known` and the present lines of the nodes that will go or read other values."""
        new = set(self._fresh)
        found = {n: n.line for old, _ in pairs for n, _ in old.readers if n is not None and n not in new}
        found |= {old.node: old.node.line for old, _ in pairs if old.node is not None}
        return found | known

    def _remember(
        self, index: int, pairs: Sequence[tuple[Value, Value]], removed: Sequence[Node], added: Sequence[Node]
    ) -> None:
        olds = tuple(dict.fromkeys([*(old.node for old, _ in pairs if old.node is not None), *removed]))
        for node in dict.fromkeys([*(new.node for _, new in pairs if new.node is not None), *added]):
            self._ancestry.setdefault(node, []).append((index, olds))

    def _inherit(self, index: int, pairs: Sequence[tuple[Value, Value]]) -> None:
        """Note replacements by a leaf, which has no node to remember them, at the readers."""
        for old, new in pairs:
            if new.node is None and old.node is not None:
                for node, position in old.readers:
                    self._operands_of.setdefault(position if node is None else node, []).append((index, (old.node,)))

    def history(self, place: Node | int) -> tuple[list[int], set[Node | int]]:
        """Return the numbers of the rewrites that shaped a node, and the nodes it came from, itself included.

        The number of an output of the graph stands for a leaf that is returned there.
        """
        came_from, shaped_by = _closure(place, self._ancestry), _closure(place, self._ancestry, self._operands_of)
        rewrites = {
            index for p in shaped_by for table in (self._ancestry, self._operands_of) for index, _ in table.get(p, ())
        }
        return sorted(rewrites), came_from

    def erased(self, node: Node) -> list[int]:
        """Return the numbers of the rewrites that put a leaf in the place of a node, or of what it became."""
        every = [(index, old) for made in self._operands_of.values() for index, olds in made for old in olds]
        return sorted({i for index, old in every if node in (h := self.history(old))[1] for i in (*h[0], index)})

    def node_of(self, variable: Variable) -> Node | None:
        """Return the current node of a variable of the journal or of a graph; None for a leaf or a removed node."""
        found = self._found(variable) if variable.owner is not None else None
        return found.node if found is not None else None

    @gc_paused
    def goto(self, position: int) -> None:
        """Apply rewrites up to the state after `position` of them."""
        if not self.position <= position <= len(self.journal):
            raise IndexError(f"state {position}; at {self.position} of {len(self.journal)}")
        while self.position < position:
            self._advance(telling=False)

    def _others(self, entry: Replacement, before: Value, after: Value) -> Iterator[tuple[Value, Value]]:
        """Yield further replacements: equal nodes that become one, and other outputs of an op."""
        if before is after and before.node is not None:  # a merge, of nodes that only the engine can tell apart
            for equal in list(self._equal.get(before.node.key, ())):
                yield equal.outputs[before.index], after
            return
        made = entry.after.owner
        if made is None or len(made.outputs) < 2 or after.node is None:
            return
        if before.node is not None and [o.type for o in before.node.outputs] == [o.type for o in made.outputs]:
            yield from zip(before.node.outputs, after.node.outputs, strict=True)
        elif isinstance(made.op, Fused):
            for term, output in zip(made.op.expand(made.inputs), after.node.outputs, strict=True):
                found = self._found(term)
                if found is not None:
                    yield found, output

    def _move(self, old: Value, new: Value, returned: bool) -> list[tuple[Value, Value]]:
        """Let the readers of `old` read `new`, except for nodes inside the replacement; only outputs if `returned`.

        Return the pairs to move next: outputs of readers that now equal other nodes, and the outputs of these nodes.
        """
        if old is new:
            return []
        inside = {*self._fresh, *_assuming(new.node)}
        merged: list[tuple[Value, Value]] = []
        for node, position in list(old.readers):
            if node in inside or (returned and node is not None):
                continue
            del old.readers[node, position]
            new.readers[node, position] = None
            if node is None:
                self._outputs[position] = new
            else:
                self._forget(node)
                node.inputs[position] = new
                merged += self._equal_to(node)
                self._index(node)
        if old.leaf is not None and new.node is not None and isinstance(new.node.op, AssumeEqual):
            self._rebuilt(new, inside)
        old.stand_in = new
        if old.readers:  # the replacement itself reads it
            return merged
        if not new.name and old.leaf is None:
            new.name, old.name = old.name, ""
        self._of.update(dict.fromkeys(old.variables, new))
        new.variables += old.variables
        old.variables = []
        return merged

    def _rebuilt(self, value: Value, but: Iterable[Node]) -> None:
        """Forget the variables that depend on a value: the journal has others in their place from here on."""
        todo, seen = [value], set(but)
        while todo:
            for node in {node for node, _ in todo.pop().readers if node is not None} - seen:
                seen.add(node)
                for output in node.outputs:
                    for variable in output.variables:
                        self._of.pop(variable, None)
                    output.variables = []
                    todo.append(output)

    def _equal_to(self, node: Node) -> list[tuple[Value, Value]]:
        """Pairs of the outputs of a node and the outputs of an older node that computes the same."""
        twin = next(iter(self._equal.get(node.key, ())), None)
        return list(zip(node.outputs, twin.outputs, strict=True)) if twin is not None and twin is not node else []

    def _collect(self, value: Value) -> Iterator[tuple[Node, Line]]:
        """Remove the node of a value without readers, and the nodes that only it reads."""
        stack = [value.node]
        while stack:
            node = stack.pop()
            if node is None or any(o.readers for o in node.outputs) or not node.inputs:
                continue
            yield node, node.line
            self._forget(node)
            self._gone[node.key] = node
            inputs, node.inputs = node.inputs, []
            for o in node.outputs:
                for variable in o.variables:
                    self._of.pop(variable, None)
                o.variables = []
            for position, i in enumerate(inputs):
                i.readers.pop((node, position), None)
            stack.extend(i.node for i in reversed(inputs))

    def _index(self, node: Node) -> None:
        self._equal.setdefault(node.key, {})[node] = None

    def _forget(self, node: Node) -> None:
        equal = self._equal.get(node.key, {})
        equal.pop(node, None)
        if not equal:
            self._equal.pop(node.key, None)

    # --- variables of the journal
    def _leaf(self, variable: Variable) -> Value:
        if variable in self._of:
            return self._of[variable]
        if isinstance(variable, Constant):
            value = self._constants.setdefault(variable.key, Value(variable.type, variable))
            value.name = constant_label(variable.data)
        else:
            value = Value(variable.type, variable)
            value.name = self._names[variable]
        self._of[variable] = value
        return value

    def _value(self, variable: Variable) -> Value:
        """Return the current value of a variable; add it if there is none."""
        made = variable.owner
        if made is not None and isinstance(made.op, AssumeEqual) and self._found(variable) is None:
            self._assume(made)
        for made in toposort([variable], stop_at=self._of):
            self._keep(made, self._node_like(made) or self._added(made))
        return self._of[variable] if variable.owner is not None else self._leaf(variable)

    def _assume(self, assumption: Apply) -> None:
        """Add an assumption with nodes of its own for what it computes from the leaves that it replaces.

        The nodes of the graph that compute the same will read what it assumes.
        """
        original: set[Variable] = set(assumption.inputs[: len(assumption.outputs)])
        for made in toposort(assumption.outputs):
            if original.isdisjoint(made.inputs):
                if made.outputs[0] not in self._of:
                    self._keep(made, self._node_like(made) or self._added(made))
                continue
            original.update(made.outputs)
            for variable in made.outputs:
                if variable in self._of:
                    self._of[variable].variables.remove(variable)
            self._keep(made, self._added(made))

    def _found(self, variable: Variable) -> Value | None:
        """Return the current value of a variable, if there is one."""
        for made in toposort([variable], stop_at=self._of):
            node = self._node_like(made)
            if node is None:
                return None
            self._keep(made, node)
        return self._of.get(variable)

    def _past(self, variable: Variable) -> Value | None:
        """Return the current value of a variable whose nodes the current rule removed; nothing is added."""
        for made in toposort([variable], stop_at=ChainMap(self._once, self._of)):
            operands = [self._leaf(i) if i.owner is None else self._now(i) for i in made.inputs]
            node = self._now_on(made.op, operands) or self._now_on(made.op, map(_latest, operands))
            node = node or self._gone.get((made.op, *operands))
            if node is None:
                return None
            self._once.update(zip(made.outputs, node.outputs, strict=True))
        return self._now(variable)

    def _now(self, variable: Variable) -> Value:
        """Return the current value of a variable that was looked up."""
        return self._of.get(variable) or _latest(self._once[variable])

    def _operands(self, made: Apply) -> list[Value]:
        return [self._leaf(i) if i.owner is None else self._of[i] for i in made.inputs]

    def _node_like(self, made: Apply) -> Node | None:
        return self._now_on(made.op, self._operands(made))

    def _now_on(self, op: Op, operands: Iterable[Value]) -> Node | None:
        """Return the oldest current node of an op on these operands."""
        return next(iter(self._equal.get((op, *operands), ())), None)

    def _added(self, made: Apply) -> Node:
        node = Node(made.op, self._operands(made), [o.type for o in made.outputs], made.origin)
        for position, value in enumerate(node.inputs):
            value.readers[node, position] = None
        self._index(node)
        self._fresh.append(node)
        return node

    def _keep(self, made: Apply, node: Node) -> None:
        for variable, value in zip(made.outputs, node.outputs, strict=True):
            self._of[variable] = value
            value.variables.append(variable)

    # --- what is there now
    def _give_names(self) -> list[Node]:
        """Name the values without names; yield the nodes that are new since the last time."""
        fresh, self._fresh = self._fresh, []
        for node in fresh:
            for o in node.outputs:
                if not o.name and o.variables:
                    o.name = self._names[o.variables[0]]
        return fresh

    def order(self) -> list[Node]:
        """Return the current nodes, inputs before users."""
        done: dict[Node, None] = {}
        stack = [(o.node, False) for o in reversed(self._outputs)]
        while stack:
            node, inputs_done = stack.pop()
            if node is None or node in done:
                continue
            if inputs_done:
                done[node] = None
            else:
                stack.append((node, True))
                stack.extend((i.node, False) for i in reversed(node.inputs))
        return list(done)

    @gc_paused
    def lines(self) -> list[str]:
        """Return the text of the current graph, one line per node; names stay the same in every step."""
        return [*(node.line for node in self.order()), self._returned]

    @property
    def _returned(self) -> str:
        """Return the line of the results."""
        return f"return {', '.join(o.name for o in self._outputs)}"

    @gc_paused
    def graph(self) -> FunctionGraph:
        """Return the current graph."""
        made: dict[Value, Variable] = {}
        for node in self.order():
            inputs = [made[i] if i.leaf is None else i.leaf for i in node.inputs]
            made.update(zip(node.outputs, Apply(node.op, inputs, node.origin).outputs, strict=True))
        outputs = [made[o] if o.leaf is None else o.leaf for o in self._outputs]
        return FunctionGraph(self._inputs, outputs, self._updates)


def _assuming(node: Node | None) -> list[Node]:
    """Return a node that assumes lengths, and the nodes that compute them: it replaces several leaves at once."""
    if node is None or not isinstance(node.op, AssumeEqual):
        return []
    found: dict[Node, None] = {}
    stack = [node]
    while stack:
        one = stack.pop()
        if one not in found:
            found[one] = None
            stack.extend(i.node for i in one.inputs if i.node is not None)
    return list(found)


def _both(old: Value, new: Value) -> list[tuple[str, str, str]]:
    """Return the names of two equal values and their expression; nothing for others."""
    alike = old.node is not None and new.node is not None and old.node is not new.node and old.node.key == new.node.key
    return [(new.name, old.name, old.node.expression)] if alike and old.node is not None else []


def _once(value: Value) -> tuple[str, str, str]:
    """Return the name and the expression of a value that already stands for equal ones."""
    return value.name, value.name, value.name if value.node is None else value.node.expression


def _closure(place: Node | int, *tables: Ancestry) -> set[Node | int]:
    """Return the place and all that the tables lead to from it."""
    found, stack = {place}, [place]
    while stack:
        reached = stack.pop()
        new = {old for table in tables for _, olds in table.get(reached, ()) for old in olds} - found
        found |= new
        stack += new
    return found


def _latest(value: Value) -> Value:
    """Return the current replacement of a value."""
    while value.stand_in is not None:
        value = value.stand_in
    return value


def described(variable: Variable) -> str:
    """Return a variable in one line: its op and operands, or its name or value."""
    if variable.owner is None:
        data = getattr(variable, "data", None)
        if data is not None:
            return str(data) if data.size <= 8 else f"a constant {variable.type}"
        return variable.name or f"{'shared' if isinstance(variable, SharedVariable) else 'input'} {variable.type}"
    message = ", ".join(i.name or ("..." if i.owner is not None else described(i)) for i in variable.owner.inputs)
    return f"{word(variable.owner.op)}({message})"


def word(op: Op) -> str:
    """Return the op in print; a group by the names of its nodes."""
    match op:
        case InPlace(): return f"inplace{{{word(op.op)}, {', '.join(f'{o} over {i}' for o, i in op.pairs)}}}"
        case FusedProduct(): return f"{word(op.product)}+{word(op.group)}"
        case ConvolutionPair(): return f"pair{{{word(op.first)} > {word(op.second)}}}"
        case Assembled(): return f"assembled{{{', '.join(word(node.op) for node in op.graph.order)}}}"
    if isinstance(op, Pipeline):
        stages = (word(node.op) for node in op.graph.order if not isinstance(node.op, VIEWS))
        return f"pipeline{{{' > '.join(stages)}}}"
    if isinstance(op, Fused):
        inside = list(dict.fromkeys(node.op.name for node in op.graph.order))
        return f"fused{{{'+'.join(inside[:8])}{'+...' * (len(inside) > 8)}}}"
    return op_text(op)
