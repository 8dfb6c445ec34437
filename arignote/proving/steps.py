"""The steps of a journal as pairs of graphs: the part that a rewrite replaces, and its replacement.

    journal -> replay, entry by entry -> Step: (value, replacement) -> its instances, from the smallest part on

An instance ends at values that both sides read; each such value becomes an input of the instance.  To cut a graph is
sound: what holds for any value of the inputs holds for those that the graph computes.  A rule may know more about a
value, however, so later instances take in more of the graph above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..explain.replay import Node, Replay, Value, described
from ..graph import Apply, Constant, FunctionGraph, Replacement, Variable
from ..graph.editor import InnerRun
from ..ops.core.tensor import TensorVariable
from .claims import Instance

MOST_NODES = 40
"""Nodes of an instance, on each side."""
BEYOND = (0, 1, 2, 4)
"""Levels above the shared values that instances take in, one after the other."""
KEPT = 4
"""A known length above this is left open in the second round of instances."""


@dataclass
class Step:
    """One rewrite: number `index` of the function or of the body named `inside`."""

    index: int
    rule: str
    before: str
    after: str
    inside: str = ""
    instances: list[Instance] = field(default_factory=list)
    """The smallest part first."""
    whole: bool = False
    """Whether the last instance has all that the values are computed from."""
    runs: tuple[InnerRun, ...] = ()
    """The optimizations of the bodies that it puts in place."""

    @property
    def place(self) -> str:
        return f"{self.index} inside {self.inside}" if self.inside else str(self.index)

    @property
    def writes(self) -> bool:
        """Whether the replacement writes in place."""
        return bool(self.instances) and any(node.op.destroys() for node in self.instances[0].after.order)


@dataclass(frozen=True)
class End:
    """The end of a journal: the state that it leads to, and the graph that runs.

    `in_place`: the last rule that marks writes, "" if none does.  `private`: the inputs with updates are the graph's
    own.
    """

    last: FunctionGraph
    result: FunctionGraph
    in_place: str
    inside: str
    private: bool


def parts_of(graph: FunctionGraph, journal: Sequence[Replacement], result: FunctionGraph) -> Iterator[Step | End]:
    """Yield all that a proof of a journal checks: the steps and the end of it, and of the journals of bodies inside."""
    todo = [(graph, tuple(journal), result, "", False)]
    seen: set[int] = set()
    while todo:
        graph, journal, result, inside, private = todo.pop()
        steps, last = steps_of(graph, journal, inside)
        in_place = ""
        for step in steps:
            yield step
            in_place = step.rule if step.writes else in_place
            for run in step.runs if id(step.runs) not in seen else ():
                todo.append((run.before, run.journal, run.after, f"{inside} {run.title}".strip(), True))
            seen.add(id(step.runs))
        yield End(last, result, in_place, inside, private)


def steps_of(
    graph: FunctionGraph, journal: Sequence[Replacement], inside: str = ""
) -> tuple[list[Step], FunctionGraph]:
    """The steps of a journal, and the graph after all of them; an entry that exchanges no value has a step as well."""
    found: list[Step] = []
    runs: dict[str, tuple[InnerRun, ...]] = {}

    def watch(entry: Replacement, pairs: Sequence[tuple[Value, Value]], fresh: set[Node]) -> None:
        if entry.inside:
            runs[entry.rule] = entry.inside
        exchanged: Sequence[tuple[Value | None, Value | None]] = pairs or [(None, None)]
        for old, new in exchanged:
            step = Step(entry.index, entry.rule, described(entry.before), described(entry.after), inside)
            step.runs = runs.get(entry.rule, ())
            if old is not None and new is not None:
                step.instances, step.whole = _instances(old, new, fresh)
            found.append(step)

    replay = Replay(graph, journal, watch)
    replay.goto(len(journal))
    return found, replay.graph()


def _instances(old: Value, new: Value, fresh: set[Node]) -> tuple[list[Instance], bool]:
    """The instances of one exchange, and whether the last one is cut nowhere."""
    made = _cone(new, fresh, MOST_NODES * 4)
    frontier = {i for node in made for i in node.inputs if i.node is not None and i.node not in made}
    frontier |= {new} if new.node is not None and new.node not in made else set()
    instances: dict[Instance, None] = {}
    closed = False
    for nodes in _parts(old, new, made, frontier):
        instance, closed = _instance(old, new, nodes)
        instances[instance] = None
    return list(instances), closed


def _parts(old: Value, new: Value, made: set[Node], frontier: set[Value]) -> Iterator[set[Node]]:
    """Sets of nodes that an instance takes in, each larger than the one before; all others are cut off."""
    depths = _depths(old, {v for v in frontier if v is not old})
    last: set[Node] = set()
    for depth in depths:
        last = made | _levels([old], depth, {v for v in frontier if v is not old})
        yield last
    for more in BEYOND[1:]:
        cut = [i for node in last for i in node.inputs if i.node is not None and i.node not in last]
        cut += [v for v in (old, new) if v.node is not None and v.node not in last]
        if not cut or len(last) > 2 * MOST_NODES:
            return
        last = last | _levels(cut, more, set())
        yield last


def _depths(old: Value, frontier: set[Value]) -> list[int]:
    """Levels of nodes below a value that are worth a trial: first until all of the frontier is met."""
    met: set[Value] = set()
    level, seen, depth = [old], {old}, 0
    nearest = 0
    while level and depth < 12 and len(seen) < MOST_NODES:
        depth += 1
        below = []
        for value in level:
            for i in value.node.inputs if value.node is not None else ():
                if i in frontier and i not in met:
                    met.add(i)
                    nearest = depth
                if i not in seen and i not in frontier:
                    seen.add(i)
                    below.append(i)
        level = below
    first = nearest or 1
    return sorted(
        {first, min(first + 1, max(depth, 1)), min(first + 3, max(depth, 1)), max(depth, 1)} - set(range(first))
    )


def _levels(roots: Sequence[Value], depth: int, stops: set[Value]) -> set[Node]:
    """The nodes of the first levels above some values, as far as the bound on their number allows."""
    found: dict[Node, None] = {}
    level = list(roots)
    for _ in range(depth):
        nodes = [v.node for v in level if v.node is not None and v.node not in found]
        for node in nodes:
            if len(found) >= MOST_NODES:
                return set(found)
            found[node] = None
        level = [i for node in dict.fromkeys(nodes) for i in node.inputs if i not in stops]
    return set(found)


def _cone(value: Value, among: set[Node], most: int) -> set[Node]:
    """The nodes among these that a value is computed from."""
    found: set[Node] = set()
    stack = [value.node]
    while stack and len(found) < most:
        node = stack.pop()
        if node is not None and node in among and node not in found:
            found.add(node)
            stack += [i.node for i in node.inputs]
    return found


def _instance(old: Value, new: Value, nodes: set[Node]) -> tuple[Instance, bool]:
    """The two graphs over the nodes, and whether no value is cut off."""
    made: dict[Value, Variable] = {}
    inputs: list[Variable] = []
    closed = True
    for root in (old, new):
        for node, value in _ordered(root, nodes):
            if value is not None:
                if value in made:
                    continue
                made[value] = _leaf(value, len(inputs))
                closed &= value.node is None
                if not isinstance(made[value], Constant):
                    inputs.append(made[value])
            elif node is not None and node.outputs[0] not in made:
                applied = Apply(node.op, [made[i] for i in node.inputs], node.origin)
                made.update(zip(node.outputs, applied.outputs, strict=True))
    return Instance(FunctionGraph(inputs, [made[old]]), FunctionGraph(inputs, [made[new]])), closed


def _leaf(value: Value, number: int) -> Variable:
    """An input in the place of a value; the value itself if it is a constant."""
    if isinstance(value.leaf, Constant):
        return value.leaf
    return TensorVariable(value.type, name=_letters(number))


def _letters(number: int) -> str:
    """The name of input `number`: a to z, then a1 and so on."""
    return chr(97 + number % 26) + (str(number // 26) if number >= 26 else "")


def _ordered(root: Value, nodes: set[Node]) -> Iterator[tuple[Node | None, Value | None]]:
    """Yield the leaves, as (None, value), and the nodes below a value, inputs first."""
    done: set[Node | Value] = set()
    stack: list[tuple[Value, bool]] = [(root, False)]
    while stack:
        value, inputs_done = stack.pop()
        node = value.node if value.node in nodes else None
        if (value if node is None else node) in done:
            continue
        if node is None:
            done.add(value)
            yield None, value
        elif inputs_done:
            done.add(node)
            yield node, None
        else:
            stack.append((value, True))
            stack += [(i, False) for i in reversed(node.inputs)]


def opened(instance: Instance) -> Instance | None:
    """The instance with its long known lengths left open; None if it has none, or cannot do without them."""
    graph = instance.before
    if not any(n is not None and n > KEPT for v in graph.inputs for n in v.type.shape):
        return None
    leaves: dict[Variable, Variable] = {
        v: TensorVariable(
            v.type.with_shape(tuple(n if n is None or n <= KEPT else None for n in v.type.shape)), name=v.name
        )
        for v in graph.inputs
    }
    sides = []
    for side in (instance.before, instance.after):
        known = dict(leaves)
        try:
            for node in side.order:
                applied = Apply(node.op, [known.get(i, i) for i in node.inputs], node.origin)
                known.update(zip(node.outputs, applied.outputs, strict=True))
        except (TypeError, ValueError, IndexError):
            return None
        sides.append(FunctionGraph([leaves[v] for v in graph.inputs], [known.get(o, o) for o in side.outputs]))
    return Instance(*sides)
