"""The cheapest assignment of the nodes of a graph to engines: minimum cuts over the DAG.

    Problem     costs of each node on each engine, values with their readers, prices of copies
    assigned    for each node the number of its engine

The energy is the sum of the costs of nodes, and for each value the price of its copy to every other engine that reads
it, once however many nodes read it there.  For two engines one cut gives the exact minimum.  For more, cuts between
pairs of engines are repeated until none lowers the energy (the swap moves of Boykov, Veksler and Zabih, 2001).  Graphs
of more than `EXACT` nodes are coarsened by heavy-edge matching first; the labels are then refined by cuts in windows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...record import record
from .min_cut import Network

EXACT = 1500
"""Largest number of nodes for an exact cut."""
FORBIDDEN = 1 << 200
"""Cost of a node on an engine that cannot run it: above the sum of all others, also of loops of up to 2^63 steps."""
WINDOW = 500
"""Nodes of a window."""
_ROUNDS = 4
"""Sweeps over all pairs of engines."""
HOST = -1
"""Producer of inputs, and reader of outputs."""


@record(eq=False)
class Value:
    """A value: the node that computes it (HOST: an input), the nodes that read it (HOST: an output), its bytes."""

    producer: int
    readers: tuple[int, ...]
    bytes: int


@record(eq=False)
class Problem:
    """`costs[e][v]`: picoseconds of node v on engine e.  `host`: the engine that holds inputs and outputs."""

    costs: Sequence[Sequence[int]]
    values: Sequence[Value]
    copy: Callable[[int, int, int], int]
    """Picoseconds of a copy: engine that has it, engine that wants it, bytes; 0 for the same engine."""
    host: int

    @property
    def engines(self) -> int:
        return len(self.costs)

    @property
    def nodes(self) -> int:
        return len(self.costs[0])

    def energy(self, labels: Sequence[int], nodes: range | None = None) -> int:
        """The energy of an assignment; `nodes`: those whose own costs count, by default all."""
        total = sum(self.costs[labels[v]][v] for v in (range(len(labels)) if nodes is None else nodes))
        return total + sum(self.copies(value, labels) for value in self.values)

    def copies(self, value: Value, labels: Sequence[int]) -> int:
        """The price of the copies of one value."""
        at = self.label(value.producer, labels)
        return sum(self.copy(at, to, value.bytes) for to in {self.label(r, labels) for r in value.readers} - {at})

    def label(self, node: int, labels: Sequence[int]) -> int:
        return self.host if node == HOST else labels[node]


def assigned(problem: Problem) -> list[int]:
    """The engine number of each node.  Each node must have an engine that runs it."""
    if problem.nodes <= EXACT:
        return _swapped(problem, _cheapest_alone(problem), range(problem.nodes))
    groups = coarsened(problem, EXACT)
    coarse = _of_groups(problem, groups)
    found = _swapped(coarse, _cheapest_alone(coarse), range(coarse.nodes))
    return _refined(problem, [found[g] for g in groups])


def _cheapest_alone(problem: Problem) -> list[int]:
    """The cheapest engine of each node, regardless of copies."""
    engines = range(problem.engines)
    return [min(engines, key=lambda e: (problem.costs[e][v], e != problem.host)) for v in range(problem.nodes)]


def _swapped(problem: Problem, labels: list[int], nodes: range) -> list[int]:
    """Return `labels`, improved until no cut among `nodes` between two engines reduces the cost."""
    engines = range(problem.engines)
    pairs = [(a, b) for a in engines for b in engines if a < b]
    best = problem.energy(labels, nodes)
    for _ in range(1 if len(pairs) == 1 else _ROUNDS):
        before = best
        for pair in pairs:
            changes = _cut(problem, labels, nodes, pair)
            was = {v: labels[v] for v in changes}
            _relabel(labels, changes)
            energy = problem.energy(labels, nodes) if changes else best
            if energy < best:
                best = energy
            else:
                _relabel(labels, was)
        if best == before:
            break
    return labels


def _cut(problem: Problem, labels: Sequence[int], nodes: range, pair: tuple[int, int]) -> dict[int, int]:
    """Changes of labels after one cut between the engines of the pair reassigns `nodes`; the first is the source."""
    a, b = pair
    number = {v: n for n, v in enumerate(v for v in nodes if labels[v] in pair)}
    net = Network(len(number))
    for v, n in number.items():
        net.terminal(n, problem.costs[b][v], problem.costs[a][v])
    for value in problem.values:
        if value.producer in number or any(r in number for r in value.readers):
            _add_value(net, problem, labels, value, number, pair)
    sides = net.on_source_side()
    chosen = {v: a if sides[n] else b for v, n in number.items()}
    return {v: label for v, label in chosen.items() if label != labels[v]}


def _relabel(labels: list[int], changes: Mapping[int, int]) -> None:
    for v, label in changes.items():
        labels[v] = label


def _add_value(
    net: Network, problem: Problem, labels: Sequence[int], value: Value, number: dict[int, int], pair: tuple[int, int]
) -> None:
    """Add the copies of a value to the cut: one copy, paid as soon as one reader is on the other engine."""
    free = [number[r] for r in value.readers if r in number]
    fixed = {problem.label(r, labels) for r in value.readers if r not in number}
    producer = number.get(value.producer)
    at = problem.label(value.producer, labels)
    for engine, source in ((pair[0], True), (pair[1], False)):
        other = pair[1] if source else pair[0]
        price = problem.copy(other if producer is not None else at, engine, value.bytes)
        if not price or not (free or engine in fixed):
            continue
        wanted = _wanted(net, free, source) if engine not in fixed else None
        _pay(net, producer, wanted, price, source)
    if producer is not None:
        here, there = (sum(problem.copy(e, f, value.bytes) for f in fixed - set(pair)) for e in pair)
        net.terminal(producer, there, here)


def _wanted(net: Network, readers: Sequence[int], source: bool) -> int:
    """Return a node that is on one side of the cut if a reader is."""
    if len(readers) == 1:
        return readers[0]
    made = net.add_node()
    for reader in readers:
        net.edge(*((reader, made) if source else (made, reader)), FORBIDDEN)
    return made


def _pay(net: Network, producer: int | None, wanted: int | None, price: int, source: bool) -> None:
    """Make the cut cost `price` if the value is read on a side (None: always) and its producer is on the other."""
    if producer is None and wanted is not None:  # it is held by a third engine
        net.terminal(wanted, *((0, price) if source else (price, 0)))
    elif producer is not None and wanted is None:
        net.terminal(producer, *((price, 0) if source else (0, price)))
    elif producer is not None and wanted is not None:
        net.edge(*((wanted, producer) if source else (producer, wanted)), price)


# --- large graphs


def coarsened(problem: Problem, limit: int) -> list[int]:
    """For each node the number of its group: at most about `limit` groups of nodes that the same engines run.

    Each pass matches every group with the neighbour to which a copy would cost most, in order; it is linear.
    """
    groups = list(range(problem.nodes))
    kinds = [tuple(row[v] < FORBIDDEN for row in problem.costs) for v in range(problem.nodes)]
    count = problem.nodes
    while count > limit:
        image = _matched(_weights(problem, groups, kinds), count)
        groups = [image[g] for g in groups]
        fewer = max(groups) + 1
        kind_of = dict(zip(image, kinds, strict=True))
        kinds = [kind_of[g] for g in range(fewer)]
        if fewer > 0.95 * count:
            break
        count = fewer
    return groups


def _weights(problem: Problem, groups: Sequence[int], kinds: Sequence[tuple[bool, ...]]) -> dict[tuple[int, int], int]:
    """Return the price of a copy between two groups that the same engines run, by their numbers."""
    weight: dict[tuple[int, int], int] = {}
    for value in problem.values:
        ends = {groups[v] for v in (value.producer, *value.readers) if v != HOST}
        first = min(ends, default=0)
        for other in ends - {first}:
            if kinds[first] == kinds[other]:
                weight[first, other] = weight.get((first, other), 0) + 1 + value.bytes
    return weight


def _matched(weight: dict[tuple[int, int], int], count: int) -> list[int]:
    """New numbers of groups after joining pairs, the heaviest first; a group left over joins its heaviest neighbour."""
    image = list(range(count))
    taken = [False] * count
    spare: list[tuple[int, int]] = []
    for u, v in sorted(weight, key=lambda pair: (-weight[pair], pair)):
        if not taken[u] and not taken[v]:
            taken[u] = taken[v] = True
            image[v] = u
        else:
            spare.append((u, v))
    for u, v in spare:
        for lone, other in ((u, v), (v, u)):
            if not taken[lone]:
                taken[lone] = True
                image[lone] = image[other]
    number: dict[int, int] = {}
    return [number.setdefault(g, len(number)) for g in image]


def _of_groups(problem: Problem, groups: Sequence[int]) -> Problem:
    """The problem between groups."""
    count = max(groups) + 1
    costs = [[0] * count for _ in range(problem.engines)]
    for mine, row in zip(costs, problem.costs, strict=True):
        for v, g in enumerate(groups):
            mine[g] = min(mine[g] + row[v], FORBIDDEN)
    values = []
    for value in problem.values:
        producer = HOST if value.producer == HOST else groups[value.producer]
        readers = {HOST if r == HOST else groups[r] for r in value.readers} - {producer}
        if readers:
            values.append(Value(producer, tuple(sorted(readers)), value.bytes))
    return Problem(costs, values, problem.copy, problem.host)


def _refined(problem: Problem, labels: list[int]) -> list[int]:
    """Labels after cuts in overlapping windows of the order of nodes, the labels around each window being fixed."""
    around: list[list[int]] = [[] for _ in labels]
    for number, value in enumerate(problem.values):
        for v in {value.producer, *value.readers} - {HOST}:
            around[v].append(number)
    for start in (*range(0, len(labels), WINDOW), *range(WINDOW // 2, len(labels), WINDOW)):
        nodes = range(start, min(start + WINDOW, len(labels)))
        values = [problem.values[k] for k in dict.fromkeys(k for v in nodes for k in around[v])]
        part = Problem(problem.costs, values, problem.copy, problem.host)
        labels = _swapped(part, labels, nodes)
    return labels
