"""Minimum s-t cuts: maximum flows by Dinic's algorithm (E. A. Dinic, 1970), over arrays, without recursion.

    net = Network(nodes)              nodes 0 .. nodes-1, and two terminals
    net.terminal(v, source, sink)     capacities from the source to v and from v to the sink
    net.edge(u, v, forth, back)       capacities in both directions
    net.on_source_side()              for each node whether a minimum cut leaves it with the source

Among the minimum cuts it is the one whose source side is smallest, so the result depends on the network alone.
"""

from __future__ import annotations


class Network:
    """A network with integer capacities."""

    def __init__(self, nodes: int) -> None:
        self._source, self._sink = nodes, nodes + 1
        self._edges: list[list[int]] = [[] for _ in range(nodes + 2)]
        """For each node the numbers of its edges; edge e ^ 1 is the reverse of edge e."""
        self._heads: list[int] = []
        self._left: list[int] = []
        """Residual capacities."""

    def add_node(self) -> int:
        """A further node."""
        self._edges.append([])
        return len(self._edges) - 1

    def terminal(self, node: int, source: int, sink: int) -> None:
        """Add capacities between a node and the terminals; the common part is in every cut and left out."""
        common = min(source, sink)
        if source > common:
            self.edge(self._source, node, source - common)
        if sink > common:
            self.edge(node, self._sink, sink - common)

    def edge(self, tail: int, head: int, forth: int, back: int = 0) -> None:
        """Add an edge."""
        if tail == head or not (forth or back):
            return
        for start, end, capacity in ((tail, head, forth), (head, tail, back)):
            self._edges[start].append(len(self._heads))
            self._heads.append(end)
            self._left.append(capacity)

    def on_source_side(self) -> list[bool]:
        """Compute for each node whether it is on the source's side of the cut; call it once."""
        level = self._levels()
        while level[self._sink] >= 0:
            self._block(level)
            level = self._levels()
        return [at >= 0 for n, at in enumerate(level) if n not in (self._source, self._sink)]

    def _levels(self) -> list[int]:
        """Distances from the source in the residual network; -1 for unreachable nodes."""
        level = [-1] * len(self._edges)
        level[self._source] = 0
        queue, heads, left = [self._source], self._heads, self._left
        for node in queue:
            below = level[node] + 1
            for e in self._edges[node]:
                if left[e] and level[heads[e]] < 0:
                    level[heads[e]] = below
                    queue.append(heads[e])
        return level

    def _block(self, level: list[int]) -> None:
        """Saturate the paths of the level graph."""
        edges, heads, left, sink = self._edges, self._heads, self._left, self._sink
        at = [0] * len(edges)
        path: list[int] = []
        node = self._source
        while True:
            if node == sink:
                node = self._augment(path)
                continue
            mine = edges[node]
            while at[node] < len(mine):
                e = mine[at[node]]
                if left[e] and level[heads[e]] == level[node] + 1:
                    break
                at[node] += 1
            if at[node] < len(mine):
                path.append(mine[at[node]])
                node = heads[path[-1]]
            elif path:
                node = heads[path.pop() ^ 1]
                at[node] += 1
            else:
                return

    def _augment(self, path: list[int]) -> int:
        """Send the largest flow along a path; cut it at its first saturated edge and return that edge's tail."""
        left = self._left
        flow = min(left[e] for e in path)
        for e in path:
            left[e] -= flow
            left[e ^ 1] += flow
        first = next(k for k, e in enumerate(path) if not left[e])
        tail = self._heads[path[first] ^ 1]
        del path[first:]
        return tail
