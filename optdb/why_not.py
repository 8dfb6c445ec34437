"""Why a rule did not change a graph: not in the query, no node it matches, a condition, or another rewrite before it.

    print(ag.optdb.explain("local_log1p", T.log(1 + x)))

The optimizers run on the graph again, stopped after any number of rewrites where a state in between is asked for.  A
binary search over these states finds the rewrite that took the last match away, or that made the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import pages
from ..graph import Apply, Constant, FunctionGraph, GraphEditor, Replacement, Variable
from ..graph.editor import Budget, InnerRun
from ..graph.match_key import match_key_of
from ..record import record
from ..record.spelling import counted
from .entries import Row, admitting
from .mismatch import Mismatch, condition_text, mismatch
from .optimizers import Optimizer
from .query import Query
from .rule import NodeRule, PatternRule, Rule, is_of, keys_text

if TYPE_CHECKING:
    from .database import Database

SHOWN = 5
"""Rewrites of the rule that the text shows."""


@record
class Explanation:
    """The fate of one rule, or one optimizer, on one graph: `fired` times, or the `reasons` why it did not."""

    name: str
    what: str
    """The text of the rule."""
    places: tuple[str, ...]
    """The place where it runs: position, path and the rewrites before it."""
    fired: tuple[Replacement, ...] = ()
    reasons: tuple[str, ...] = ()
    fix: str = ""
    inside: tuple[str, ...] = ()
    """For each time that it fired the loop or the branch in whose body; empty for the graph itself."""

    def __str__(self) -> str:
        lines = [self.what, *(f"  {place}" for place in self.places)]
        if self.fired:
            lines.append(f"  fired {len(self.fired)} time{'s' * (len(self.fired) > 1)}:")
            lines += [f"    {text}" for text in self._fired_texts()[:SHOWN]]
            lines += [f"    ... {len(self.fired) - SHOWN} more"] * (len(self.fired) > SHOWN)
        lines += [f"  {reason}" for reason in self.reasons]
        return "\n".join([*lines, f"  fix: {self.fix}"] if self.fix else lines)

    __repr__ = __str__

    def _fired_texts(self) -> list[str]:
        """Each time that it fired, with the body in which it did."""
        titles = self.inside or ("",) * len(self.fired)
        return [_entry_text(e) + (f", inside {at}" if at else "") for e, at in zip(self.fired, titles, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data, ready for JSON."""
        return {
            "name": self.name, "what": self.what, "places": list(self.places),
            "fired": [
                {"index": e.index, "text": text} for e, text in zip(self.fired, self._fired_texts(), strict=True)
            ],
            "reasons": list(self.reasons),
            "fix": self.fix,
        }  # fmt: skip

    def _repr_html_(self) -> str:
        return pages.notebook.listed_form(self.what, [
            ("runs at", ("place",), [(place,) for place in self.places]),
            ("fired", ("rewrite", ""), [(e.index, _change(e)) for e in self.fired[:SHOWN]]),
            ("why not", ("reason",), [(reason,) for reason in (*self.reasons, *([self.fix] if self.fix else []))]),
        ], str(self))  # fmt: skip


def explain(database: Database, name: str | Rule, graph: FunctionGraph, query: Query) -> Explanation:
    """Why the rule or optimizer of this name changed nothing in the graph under the query, or where it fired.

    `name` may be a Rule that is registered nowhere: then its pattern alone is compared with the graph.
    """
    if isinstance(name, Rule):
        return _unregistered(name, graph)
    rows = [row for row in database.table(query) if name in (row.name, row.path)]
    extra = {getattr(what, "name", ""): what for what, _ in query.extra}
    found = extra.get(name) or database[rows[0].path if rows else name]  # raises for unknown names, with a suggestion
    if not rows:  # a container, or a name of Theano that means others
        reason = f"{name} is no rule or optimizer of its own; ask for one inside"
        return Explanation(name, str(found), (), (), (reason,))
    run = _Run(database, graph, query)
    fired = [(entry, part.title) for part in (run, *run.inside) for entry in part.journal if entry.rule == rows[0].name]
    places = tuple(_place_text(row, run) for row in rows)
    what = str(found) if isinstance(found, Rule) else f"{rows[0].name}: an optimizer, {type(found).__name__}"
    if fired:
        entries, titles = zip(*fired, strict=True)
        return Explanation(name, what, places, entries, inside=titles)
    taken = [row for row in rows if row.taken]
    if not taken:
        reasons = tuple(f"the query {query} does not take {row.path}: {row.reason}" for row in rows)
        return Explanation(name, what, places, (), reasons, _selecting(database, rows[0], query))
    failures = [f for f in run.profile.all_failures() if f.rule == rows[0].name]
    if failures:
        error = failures[0].error.strip().splitlines()[-1]
        reasons = (f"it failed on {failures[0].node} and was left out: {error}",)
        return Explanation(name, what, places, (), reasons, f"correct the function of {name}")
    if not isinstance(found, Rule):
        return Explanation(name, what, places, (), ("it ran and found nothing to change",))
    part = next((part for part in (run, *run.inside) if part.matches(found, taken)), run)
    reasons, fix = _reasons(found, taken, part)
    missing = found.lacking() if isinstance(found, NodeRule) and found.lacking else ""
    reasons = (f"the target lacks {missing}", *reasons) if missing else reasons
    reasons = (f"inside {part.title}:", *reasons) if part.title else reasons
    return Explanation(name, what, places, (), reasons, fix)


class _Run:
    """One optimization of a graph: journal, profile, and each state on the way; `inside`: those of bodies."""

    title = ""

    def __init__(self, database: Database, graph: FunctionGraph, query: Query) -> None:
        self._optimizer: Optimizer = database.query(query)
        self._graph = graph
        editor = GraphEditor()
        self.last, self.profile = self._optimizer(graph, editor)
        self.journal = tuple(editor.journal)
        self._states: dict[int, FunctionGraph] = {0: graph, len(self.journal): self.last}
        self.inside: tuple[_Body, ...] = tuple(map(_Body, _bodies(self.journal)))

    def matches(self, rule: Rule, taken: Sequence[Row]) -> bool:
        """Whether the rule matches at the beginning, at the end, or where it begins to run."""
        begin = self.span(taken[0].path.partition("/")[0])[0]
        return any(first_match(rule, self.state(k)) is not None for k in (0, begin, len(self.journal)))

    def state(self, position: int) -> FunctionGraph:
        """The graph after the first `position` rewrites."""
        if position not in self._states:
            self._states[position], _ = self._optimizer(self._graph, GraphEditor(limit=position))
        return self._states[position]

    def span(self, stage: str) -> tuple[int, int]:
        """The rewrites before a top-level optimizer, and those up to its end."""
        begin = 0
        for child in self.profile.children:
            if child.name == stage:
                return begin, begin + child.replacements
            begin += child.replacements
        return begin, begin

    def names(self, position: int) -> list[str]:
        """The optimizers that changed something before this rewrite, in order."""
        begin, names = 0, []
        for child in self.profile.children:
            if child.replacements and begin < position:
                names.append(child.name)
            begin += child.replacements
        return names


class _Body(_Run):
    """The optimization of a body of a loop or a choice, as part of that of the graph around it."""

    def __init__(self, run: InnerRun) -> None:
        self.title, self.last, self.profile, self.journal = run.title, run.after, run.profile, run.journal
        self._run, self.inside = run, ()
        self._states = {0: run.before, len(run.journal): run.after}

    def state(self, position: int) -> FunctionGraph:
        if position not in self._states:
            done = replace(self._run, journal=self.journal[:position])
            self._states[position] = self._run.again(Budget(sum(1 for _ in done.changes())))
        return self._states[position]


def _bodies(journal: Iterable[Replacement]) -> Iterator[InnerRun]:
    """Yield the optimizations of all bodies, those within bodies behind the one around them."""
    stack = [run for entry in journal for run in entry.inside][::-1]
    while stack:
        run = stack.pop()
        yield run
        stack += [inner for entry in run.journal for inner in entry.inside][::-1]


def _reasons(rule: Rule, taken: Sequence[Row], run: _Run) -> tuple[tuple[str, ...], str]:
    """The reasons why a rule that ran fired nowhere, and the fix."""
    spans = [run.span(row.path.partition("/")[0]) for row in taken]
    begin, end = spans[0][0], spans[-1][1]

    def matches(position: int) -> Apply | None:
        return first_match(rule, run.state(position))

    before, after = matches(0), matches(len(run.journal))
    if matches(begin) is None and before is not None:
        lost = _edge(0, begin, lambda k: matches(k) is not None)
        taker = run.journal[lost]
        return (
            f"it matches the graph as you built it: {_at(before)}",
            f"rewrite {lost}, {taker.rule}, changed that before the rule ran: {_change(taker)}",
        ), f'exclude "{taker.rule}", or register the rule at an earlier position'
    if after is not None:
        made = _edge(len(run.journal), end, lambda k: matches(k) is not None)
        maker = run.journal[made - 1]
        return (
            f"it matches the optimized graph: {_at(after)}",
            f"rewrite {made - 1}, {maker.rule}, made that after the rule had run: {_change(maker)}",
        ), f"register the rule at a later position, behind {run.names(made)[-1]}"
    there = matches(begin)
    if there is not None:
        lost = _edge(begin, end, lambda k: matches(k) is not None)
        taker = run.journal[lost]
        return (
            f"it matches when its optimizer begins: {_at(there)}",
            f"rewrite {lost}, {taker.rule}, of the same optimizer came first: {_change(taker)}",
        ), f'exclude "{taker.rule}"'
    last = len(run.journal)
    states = [(_when(k, last), run.state(k)) for k in dict.fromkeys((begin, 0, end, last))]
    states += [(f", inside {b.title}", graph) for b in run.inside for graph in (b.state(0), b.last)]
    return _nearest(rule, states), ""


def _edge(inside: int, outside: int, holds: Callable[[int], bool]) -> int:
    """The last position, from `inside` towards `outside`, at which `holds`; it does at `inside`, not at `outside`."""
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


# --- matching


def first_match(rule: Rule, graph: FunctionGraph) -> Apply | None:
    """The first node that the rule would change."""
    if any(op not in graph.ops for op in rule.needs):
        return None
    uses = graph.uses
    return next((node for node in candidates(rule, graph) if _proposes(rule, node, uses)), None)


def candidates(rule: Rule, graph: FunctionGraph) -> Iterator[Apply]:
    """The nodes whose op, and whose operands' ops, the rule may match."""
    for node in graph.order:
        if not rule.ops or any(is_of(node.op, key) for key in rule.ops):
            key = match_key_of(node)
            if rule.may_match(key.op, key.heads):
                yield node


def _proposes(rule: Rule, node: Apply, uses: dict[Variable, Any]) -> bool:
    try:
        return rule.propose(node, lambda v: uses.get(v, ())) is not None
    except Exception:  # a rule may be anybody's; one that raises changes nothing
        return False


def _unregistered(rule: Rule, graph: FunctionGraph) -> Explanation:
    node = first_match(rule, graph)
    if node is not None:
        return Explanation(rule.name, str(rule), (), (), (f"it matches {_at(node)}",))
    return Explanation(rule.name, str(rule), (), (), _nearest(rule, [(_when(0, 0), graph)]))


States = Sequence[tuple[str, FunctionGraph]]
"""States of a graph, each with the words that say which one it is."""


def _nearest(rule: Rule, states: States) -> tuple[str, ...]:
    """The node to which the rule comes nearest in any of these states, and what is missing."""
    if isinstance(rule, PatternRule):
        return _nearest_to_pattern(rule, states)
    assert isinstance(rule, NodeRule)
    return _nearest_to_function(rule, states)


def _nearest_to_pattern(rule: PatternRule, states: States) -> tuple[str, ...]:
    best: tuple[str, Apply, Mismatch] | None = None
    for when, graph in states:
        uses = graph.uses
        for node in graph.order:
            if len(node.outputs) == 1 and rule.pattern.fits(node.op):
                found = mismatch(rule.pattern, node.outputs[0], lambda v, uses=uses: uses.get(v, ()))  # type: ignore[misc]
                if best is None or _nearness(found) > _nearness(best[2]):
                    best = when, node, found
    if best is None:
        return (_no_node(rule, str(rule.pattern.op)),)
    when, node, found = best
    head = f"nearest node: {_at(node)}{when}"
    if found.part is None:
        return head, _last_word(rule, node, states)
    assert found.value is not None
    where = "" if found.value is node.outputs[0] else f", but {shown(found.value)} stands there"
    return head, f"the pattern has {found.part}{where}: {found.reason}"


def _nearness(found: Mismatch) -> tuple[bool, int]:
    return found.part is None, found.matched


def _last_word(rule: PatternRule, node: Apply, states: States) -> str:
    """The condition that refuses a node with the whole pattern."""
    uses = states[0][1].uses
    for _ in rule.pattern.match(node.outputs[0], {}, lambda v: uses.get(v, ())):
        if rule.when is not None:
            condition = condition_text(rule.when)
            return f"the pattern matches; the condition {condition} is false, or the right side gives None"
        return "the pattern matches; the right side gives None"
    return "no arrangement of the operands satisfies all conditions at once"


def _nearest_to_function(rule: NodeRule, states: States) -> tuple[str, ...]:
    missing = [op for op in rule.needs if not any(op in graph.ops for _, graph in states)]
    if missing:
        return (f"it needs a node of {keys_text(missing)} anywhere in the graph, and there is none",)
    for when, graph in states:
        node = next(candidates(rule, graph), None)
        if node is not None:
            where = f"{_at(node)}{when}"
            return (f"its function {_function_text(rule)} was asked about {where}, and gave None: {rule.formula}",)
    ops = keys_text(rule.ops)
    if rule.having and any(is_of(n.op, key) for _, graph in states for n in graph.order for key in rule.ops):
        return (f"no node of {ops} has an operand computed by {keys_text(rule.having)}",)
    return (_no_node(rule, ops),)


def _function_text(rule: NodeRule) -> str:
    code = getattr(rule.function, "__code__", None)
    name = getattr(rule.function, "__name__", type(rule.function).__name__)
    return f"{name} at {code.co_filename.rpartition('/')[2]}:{code.co_firstlineno}" if code is not None else str(name)


def _no_node(rule: Rule, ops: str) -> str:
    return f"no state of the graph has a node of {ops}"


# --- text


def shown(variable: Variable, depth: int = 2) -> str:
    """A value as the ops that compute it, `depth` of them deep, over names, numbers and "..."."""
    node = variable.owner
    if isinstance(variable, Constant):
        return str(variable.data) if variable.data.size <= 8 else f"constant {variable.type}"
    if node is None:
        return variable.name or f"input {variable.type}"
    op = getattr(node.op, "name", "") or str(node.op)
    return f"{op}({', '.join(shown(i, depth - 1) for i in node.inputs)})" if depth else "..."


def _at(node: Apply) -> str:
    """A node and the user's line that made it."""
    return f"{shown(node.outputs[0])}{_line_of(node.outputs[0])}"


def _place_text(row: Row, run: _Run) -> str:
    if not row.taken:
        return f"position {row.position} ({row.path}): not taken"
    begin, end = run.span(row.path.partition("/")[0])
    names = run.names(begin)
    after = f", after {', '.join(names)}" if names else ""
    ran = f"ran after {counted(begin, 'rewrite')}{after}; its optimizer made {end - begin}"
    return f"position {row.position} ({row.path}): {ran}"


def _selecting(database: Database, row: Row, query: Query) -> str:
    """The code that makes a query select an entry that it leaves out."""
    path = {inner.path: inner for entry in database.asked(query) for inner in entry.walk()}
    parts = row.path.split("/")
    entries = [path["/".join(parts[: k + 1])] for k in range(len(parts))]
    wanted = admitting(query, entries)
    added = sorted(wanted.include - query.include)
    if wanted == query.including(*added):
        return f"mode.including({', '.join(map(_quoted, added))})"
    if query.extra:  # no text expresses it
        less = [f"-{tag}" for tag in query.exclude - wanted.exclude]
        less += [f"&{tag}" for tag in query.require - wanted.require]
        return f"leave {' '.join(sorted(less))} out of the query"
    return f"mode={_quoted(str(wanted))}"


def _quoted(text: str) -> str:
    return f'"{text}"'


def _change(entry: Replacement) -> str:
    return f"{shown(entry.before)} -> {shown(entry.after)}"


def _entry_text(entry: Replacement) -> str:
    return f"rewrite {entry.index}: {_change(entry)}{_line_of(entry.before)}"


def _when(position: int, last: int) -> str:
    if position == 0:
        return ", in the graph as you built it"
    return ", in the optimized graph" if position == last else f", after {counted(position, 'rewrite')}"


def _line_of(variable: Variable) -> str:
    origin = variable.origin
    return f"  [{origin[0]}]" if origin else ""
