"""`f.why(...)`: the origin of a part of the optimized function: the user's lines, rules, lines of C.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import pages
from ..cbackend.driver.page import CFile, Place
from ..graph import Apply, FunctionGraph, SourceLine, Variable, union
from ..record import record
from ..record.spelling import counted
from .replay import Node, Replay, described
from .trace import LONG, Rewrite, Trace

SHOWN = 20


@record
class Why:
    """The answer: nodes of the optimized graph as text, the user's lines, the rewrites in order, the lines of C."""

    subject: str
    nodes: tuple[str, ...]
    lines: tuple[SourceLine, ...]
    rewrites: tuple[Rewrite, ...]
    places: tuple[Place, ...]
    untold: int = 0
    """Number of rewrites that were too many to replay; `rewrites` is empty then."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels that compute it."""
        return tuple(dict.fromkeys(p.kernel for p in self.places if p.kernel))

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules that shaped it, each once, in order."""
        return tuple(dict.fromkeys(r.rule for r in self.rewrites))

    @property
    def excluding(self) -> str:
        """Return the code that excludes these rules from `mode`."""
        names = ", ".join(f'"{rule}"' for rule in self.rules if rule != "MergeOptimizer")
        return f"mode.excluding({names})" if names else ""

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data, ready for JSON."""
        return {
            "subject": self.subject, "nodes": list(self.nodes),
            "lines": [{"file": line.file, "line": line.line, "text": str(line)} for line in self.lines],
            "rewrites": [r.to_dict() for r in self.rewrites], "kernels": list(self.kernels),
            "places": [p.to_dict() for p in self.places], "excluding": self.excluding,
        }  # fmt: skip

    def __str__(self) -> str:
        out = [self.subject]
        out += [f"  is {node}" for node in self.nodes[:SHOWN]] or ["  is not in the optimized graph any more"]
        out += ["", "comes from"]
        out += [f"  {line}  {line.code}".rstrip() for line in self.lines[:SHOWN]] or ["  no line that is known"]
        many = f"some of {counted(self.untold, 'rewrite')}, too many to be told" if self.untold else ""
        count = f"{len(self.rewrites)} rewrite{'s' * (len(self.rewrites) != 1)}"
        out += ["", f"was shaped by {many or count}"]
        out += [f"  {r.index}: {r.rule}: {r.before} -> {r.after}" for r in self.rewrites[:SHOWN]]
        if self.excluding:
            out += ["", "is left as it was by", f"  {self.excluding}"]
        out += ["", "is computed by"]
        out += [f"  {p.kernel or 'the driver'}, lines {p.first} to {p.last} of the C" for p in self.places[:SHOWN]]
        return "\n".join(out if self.places else out[:-2])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return pages.notebook.listed_form(self.subject, [
            ("in the optimized graph", ("node",), [(node,) for node in self.nodes]),
            ("comes from", ("line", "code"), [(str(line), line.code) for line in self.lines]),
            ("was shaped by", ("rewrite", "rule", "before", "after"),
             [(r.index, r.rule, r.before, r.after) for r in self.rewrites]),
            ("is computed by", ("kernel", "lines of the C"),
             [(p.kernel or "the driver", f"{p.first} to {p.last}") for p in self.places]),
        ], str(self))  # fmt: skip


class Answers:
    """The records that `why` searches: the replayed rewriting of one function, and its C."""

    start: FunctionGraph
    graph: FunctionGraph
    trace: Trace

    def __init__(self, start: FunctionGraph, graph: FunctionGraph, trace: Trace, program: Any, source: CFile) -> None:
        self.start, self.graph, self.trace = start, graph, trace
        self.program = program
        self.places: tuple[Place, ...] = source.places
        self.source: str = source.text
        self.untold: int = len(trace.journal) if len(trace.journal) > LONG else 0
        self.first: dict[Variable, Node | None] = {}
        self.node_of: dict[Apply, Node | None] = dict.fromkeys(graph.order)
        self.lines_of: dict[Node, list[SourceLine]] = {}  # of all nodes of the user's graph that a node stands for
        if not self.untold:
            self.replay: Replay = Replay(start, trace.journal)
            self.first = {o: self.replay.node_of(o) for node in start.order for o in node.outputs}
            for output, node in self.first.items():
                if node is not None and output.owner is not None:
                    self.lines_of.setdefault(node, []).extend(output.owner.origin)
            self.replay.goto(len(trace.journal))
            self.node_of = {node: self.replay.node_of(node.outputs[0]) for node in graph.order}

    def about(self, thing: Any) -> Why:
        """The answer about a node, a variable, a line of the C (a number) or a name.

        Raises TypeError for other things, LookupError for what the function does not have.
        """
        if isinstance(thing, bool) or not isinstance(thing, (int, str, Variable, Apply)):
            raise TypeError(f"why: expected a variable, a node, a line of the C or a name, got {thing!r}")
        if isinstance(thing, int):
            return self._about_line(thing)
        if isinstance(thing, str):
            return self._about_name(thing)
        subject = thing.outputs[0] if isinstance(thing, Apply) else thing
        return self._about_nodes(f"{subject!r}", self._nodes_for(subject), [subject])

    def _about_line(self, number: int) -> Why:
        lines = self.source.split("\n")
        if not 1 <= number <= len(lines) or self.program is None:
            raise LookupError(f"why: the C has {len(lines) if self.source else 0} lines; none is number {number}")
        place = next((p for p in self.places if p.first <= number <= p.last), None)
        sites = place.sites if place is not None else ()
        nodes = [self.program.sites[s].node for s in sites if s < len(self.program.sites)]
        return self._about_nodes(f"line {number} of the C: {lines[number - 1].strip()}", nodes, ())

    def _about_name(self, name: str) -> Why:
        if name.startswith("k_"):
            sites = [s for p in self.places if p.kernel == name for s in p.sites]
            if not sites:
                raise LookupError(f"why: the function has no kernel {name!r}")
            return self._about_nodes(f"kernel {name}", [self.program.sites[s].node for s in sites], ())
        named = [v for v in self._variables(self.start) if v.name == name]
        named = named or [v for v in self._variables(self.graph) if v.name == name]
        if not named:
            known = dict.fromkeys(v.name for v in self._variables(self.start) if v.name)
            raise LookupError(f"why: nothing is named {name!r}; known are {', '.join(list(known)[:12]) or 'no names'}")
        return self._about_nodes(name, self._nodes_for(named[0]), named)

    @staticmethod
    def _variables(graph: FunctionGraph) -> Iterable[Variable]:
        yield from graph.inputs
        for node in graph.order:
            yield from node.outputs

    def _nodes_for(self, variable: Variable) -> list[Apply]:
        """Return the nodes of the optimized graph that compute a variable of either graph, or contain it."""
        if variable.owner in self.node_of:
            return [variable.owner]
        if variable.owner is None:
            return [reader for reader, _ in self.graph.uses.get(variable, ()) if reader is not None]
        first = self.first.get(variable)
        if first is None and self.untold and variable in set(self._variables(self.start)):
            return []
        if first is None:
            raise LookupError(f"why: {variable!r} is no part of this function")
        return [node for node, now in self.node_of.items() if now is not None and self._came_from(now, first)]

    def _came_from(self, now: Node, first: Node) -> bool:
        return first in self.replay.history(now)[1]

    def _about_nodes(self, subject: str, nodes: Sequence[Apply], besides: Sequence[Variable]) -> Why:
        rewrites: set[int] = set()
        earlier: set[SourceLine] = set()  # of what was replaced or merged: a node keeps the lines of the first alone
        for node in nodes:
            now = self.node_of.get(node)
            if now is not None:
                numbers, olds = self.replay.history(now)
                rewrites.update(numbers)
                every_old = [old for old in olds if isinstance(old, Node)]
                earlier.update(line for old in every_old for line in (*old.origin, *self.lines_of.get(old, ())))
        returned = [k for k, o in enumerate(self.graph.outputs) if o in besides and o.owner is None]
        if not self.untold:
            rewrites.update(n for k in returned for n in self.replay.history(k)[0])
            gone = [self.first.get(v) for v in besides if not nodes and v.owner is not None]
            rewrites.update(n for node in gone if node is not None for n in self.replay.erased(node))
        every = self.trace.every if rewrites else ()
        sites = {n for n, site in enumerate(self.program.sites) if site.node in set(nodes)} if self.program else set()
        found = tuple(p for p in self.places if sites.intersection(p.sites))
        origin = union(*(v.origin for v in besides), *(node.origin for node in nodes), tuple(sorted(earlier)))
        known = [(node, self.node_of.get(node)) for node in nodes if node in self.node_of]
        texts = tuple(described(node.outputs[0]) if now is None else now.line for node, now in known)
        texts += tuple(f"output {k}, {described(self.graph.outputs[k])}" for k in returned)
        return Why(subject, texts, origin, tuple(every[i] for i in sorted(rewrites)), found, self.untold)
