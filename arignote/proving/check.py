"""The proof of one instance of a claim: which theory, which lengths, which formats, and what the solver answers.

A graph of elementwise ops is proved on one element, for all; its shape is proved over unknown lengths.  Any other is
proved on arrays of a few small lengths, which bounds the proof.  A model of the solver that contradicts the claim is
run by NumPy: only a difference that NumPy shows refutes the claim.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import z3

from ..graph import Apply, Constant, FunctionGraph, Variable, leaves, rebuild
from ..ops.elementwise.records import Cast, Elementwise
from ..ops.lowered.assumed import BrokenAssumption
from ..ops.lowered.byte_tables import LookUp
from ..ops.networks.fixed_point import Requantize
from ..ops.networks.quantized import Dequantize, Quantize
from ..ops.shapes.shape import DimShuffle
from .arrays import Translation
from .claims import Claim, Instance
from .lengths import fixings, shapes_of
from .machine import HALF, NARROW, OWN, SMALL, Format, Machine
from .models import Arrays, concrete, replayed, value_of
from .reals import MOST_PATHS, Reals
from .terms import NotTranslated, OutOfFormat, Vacuous, limit
from .values import Array, Known, leaf, objects

PROVED, BOUNDED, UNPROVED, REFUTED, NEVER = "proved", "bounded", "unproved", "refuted", "never"
"""`never`: the graph fails for all arrays that were tried, so that there is nothing to prove."""


@dataclass
class Found:
    """The result for one instance."""

    status: str
    theory: set[str] = field(default_factory=set)
    bounds: set[str] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)
    reason: str = ""


class Clock:
    """The time of this process that is left for the proofs of one rule, and the answers of the solver so far."""

    def __init__(self, seconds: float) -> None:
        self.end: float = time.process_time() + seconds
        self.answers: dict[tuple[str, ...], str] = {}

    @property
    def milliseconds(self) -> int:
        return max(int(1000 * (self.end - time.process_time())), 1)

    @property
    def over(self) -> bool:
        return time.process_time() > self.end

    def part(self, most: int) -> int:
        return max(min(self.milliseconds, most), 1)


def check(claim: Claim, instance: Instance, clock: Clock) -> Found:
    """The result for the instance, before the clock runs out."""
    if not instance.before.inputs:
        return _evaluated(claim, instance)
    if all(map(is_pointwise, (instance.before, instance.after))):
        return _pointwise(claim, instance, clock)
    return _exhaustive(claim, generalized(instance)) or _bounded(claim, instance, clock)


def _evaluated(claim: Claim, instance: Instance) -> Found:
    """The result for an instance without inputs, by evaluation."""
    text = replayed(claim, instance, lambda values: [], {})
    if text.startswith("refuted"):
        return Found(REFUTED, reason=text)
    return Found(PROVED, {"evaluation of constants"})


BY_ELEMENT = (Elementwise, Cast, Quantize, Dequantize, Requantize, LookUp)
"""Ops each element of whose result depends on the same element of one operand, if the others are constants."""


def _exhaustive(claim: Claim, instance: Instance) -> Found | None:
    """The answer of NumPy for all values of the only operand, if it has few and the graph is one of its elements."""
    (*others,) = instance.before.inputs
    if len(others) != 1 or others[0].dtype not in ("bool", "int8", "uint8", "int16", "uint16", "float16"):
        return None
    (x,) = others
    nodes = [node for g in (instance.before, instance.after) for node in g.order]
    by_element = all(
        isinstance(n.op, BY_ELEMENT) and sum(not isinstance(i, Constant) for i in n.inputs) == 1 for n in nodes
    )
    if not by_element or any(n is not None for n in x.type.shape) or not x.ndim:
        return None
    width = np.dtype(x.dtype).itemsize
    values = np.arange(2 ** (8 * width if x.dtype != "bool" else 1), dtype=f"u{width}").view(x.dtype)
    given = [values.reshape((1,) * (x.ndim - 1) + (-1,))]
    text = replayed(claim, instance, lambda _: given, {})
    if text.startswith("refuted"):
        return Found(REFUTED, reason=text)
    return Found(PROVED, {f"evaluation of all {len(values)} values"})


def generalized(instance: Instance) -> Instance:
    """The instance with fresh inputs for the values that both graphs compute, the last ones of them."""
    kept = {v for node in instance.after.order for v in node.outputs}
    shared = [v for node in instance.before.order for v in node.outputs if v in kept]
    if not shared:
        return instance
    fresh = {v: type(v)(v.type) for v in shared}
    for k, v in enumerate(fresh.values()):
        v.name = f"shared{k}"
    graphs = []
    outputs = [rebuild(g.outputs, dict(fresh)) for g in (instance.before, instance.after)]
    read = dict.fromkeys(v for side in outputs for v in leaves(side) if not isinstance(v, Constant))
    if any(o.owner is None for o in outputs[0]):
        return instance
    graphs = [FunctionGraph(list(read), side) for side in outputs]
    return Instance(*graphs)


def needs_reals(claim: Claim, graph: FunctionGraph) -> bool:
    """Whether the contract lets finite results differ, and they are not integers."""
    contract = claim.contract
    loose = contract.nearer or contract.ulps or contract.within or contract.bits or "rounding" in contract.relaxed
    return bool(loose) and any(o.type.kind in "fc" for o in graph.outputs)


# --- elementwise graphs


class OnePoint(Translation):
    """The values at one element of all operands."""

    def outputs(self, nodes: Sequence[Apply], outputs: Sequence[Variable], known: dict[Variable, Known]) -> list[Known]:
        constants = {v for node in nodes for v in node.inputs if isinstance(v, Constant)}
        constants |= {v for v in outputs if isinstance(v, Constant)}
        return super().outputs(nodes, outputs, known | {c: c.data.reshape(-1)[0:1].reshape(()) for c in constants})

    def value_of(self, variable: Variable, known: Mapping[Variable, Known]) -> Known:
        return known[variable]

    def node(self, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
        return [inputs[0]] if isinstance(node.op, DimShuffle) else super().node(node, inputs)


def is_pointwise(graph: FunctionGraph) -> bool:
    """Whether an element of the result depends on the same element of the operands alone."""
    constants = [v for node in graph.order for v in node.inputs if isinstance(v, Constant)]
    constants += [v for v in graph.outputs if isinstance(v, Constant)]
    return all(isinstance(n.op, (Elementwise, Cast)) or _pads(n.op) for n in graph.order) and all(
        c.data.size and c.data.tobytes() == c.data.reshape(-1)[:1].tobytes() * c.data.size for c in constants
    )


def _pads(op: Any) -> bool:
    """Whether the op only puts axes of length 1 in front."""
    if not isinstance(op, DimShuffle):
        return False
    kept = [a for a in op.order if a != "x"]
    return kept == list(range(len(kept))) and tuple(op.order)[len(op.order) - len(kept) :] == tuple(kept)


def _pointwise(claim: Claim, instance: Instance, clock: Clock) -> Found:
    wrong = shapes_differ(instance)
    if wrong:
        return Found(UNPROVED, reason=wrong)
    inputs = dict.fromkeys((*instance.before.inputs, *instance.after.inputs))

    def given(theory: Any) -> dict[Variable, Known]:
        return {v: Array(objects((), [theory.leaf(v.name or f"v{k}", v.dtype)]), v.dtype) for k, v in enumerate(inputs)}

    def arrays(values: Mapping[str, Any]) -> list[np.ndarray]:
        shapes = [tuple(n or 1 for n in v.type.shape) for v in instance.before.inputs]
        pairs = zip(instance.before.inputs, shapes, strict=True)
        return [np.full(s, value_of(values, v.name, v.dtype), dtype=v.dtype) for v, s in pairs]

    return prove(claim, instance, OnePoint, given, arrays, clock)


def shapes_differ(instance: Instance) -> str:
    """The reason why the shapes are not proved to be the same; empty if they are."""
    before, after = instance.before, instance.after
    for a, b in zip(before.outputs, after.outputs, strict=True):
        if a.type.dtype != b.type.dtype or a.ndim != b.ndim:
            return f"the type {a.type} becomes {b.type}"
    lengths: dict[tuple[Variable, int], Any] = {}
    for v in dict.fromkeys((*before.inputs, *after.inputs)):
        for axis, n in enumerate(reversed(v.type.shape)):
            lengths[v, axis] = z3.IntVal(n) if n is not None else z3.Int(f"{v.name}{axis}")
    natural = [n >= 0 for n in lengths.values()]
    demands, results = zip(*(_lengths(g, lengths) for g in (before, after)), strict=True)
    equal = [a == b for x, y in zip(*results, strict=True) for a, b in zip(x, y, strict=True)]
    solver = z3.Solver()
    limit(solver, 1000)
    solver.add(*natural, *demands[0], z3.Not(z3.And(*equal, *demands[1])))
    return "" if solver.check() == z3.unsat else "the shape after is not proved to be that before"


def _lengths(graph: FunctionGraph, leaves: Mapping[tuple[Variable, int], Any]) -> tuple[list[Any], list[list[Any]]]:
    """(what lengths must agree, the lengths of the outputs from the last axis on)."""
    known: dict[Variable, list[Any]] = {v: [leaves[v, a] for a in range(v.ndim)] for v in graph.inputs}
    demands: list[Any] = []

    def of(v: Variable) -> list[Any]:
        return [z3.IntVal(n) for n in reversed(v.data.shape)] if isinstance(v, Constant) else known[v]

    for node in graph.order:
        rows = [of(i) for i in node.inputs]
        made: list[Any] = []
        for axis in range(node.out.ndim):
            joint = z3.IntVal(1)
            for n in (row[axis] for row in rows if axis < len(row)):
                demands.append(z3.Or(n == 1, joint == 1, n == joint))
                joint = z3.If(joint == 1, n, joint)
            made.append(joint)
        known[node.out] = made
    return demands, [of(o) for o in graph.outputs]


# --- other graphs, at a few lengths


def _bounded(claim: Claim, instance: Instance, clock: Clock) -> Found:
    total = Found(PROVED)
    count = 0
    for shapes in shapes_of(instance.before, lambda: clock.over):
        if clock.over:
            if not count:
                return Found(UNPROVED, reason="time")
            total.bounds.add("time ran out before all lengths were tried")
            break
        found = _at_shapes(claim, instance, shapes, clock)
        if found.status == NEVER:
            continue
        if found.status in (UNPROVED, REFUTED):
            if count and found.reason.startswith("not translated: an array of"):
                break
            if count and clock.over:
                total.bounds.add("time ran out before all lengths were tried")
                break
            found.reason = f"{found.reason or 'time'} at the lengths {shapes}"
            return found
        count += 1
        total.theory |= found.theory
        total.bounds |= found.bounds
        total.facts |= found.facts
        total.bounds.add(f"lengths <= {max([0, *(n for s in shapes for n in s)])}")
    if not count:
        return Found(NEVER, reason="no lengths at which the graph runs")
    largest = max((int(b.rpartition(" ")[2]) for b in total.bounds if b.startswith("lengths")), default=0)
    total.bounds = {b for b in total.bounds if not b.startswith("lengths")}
    if any(v.ndim for v in instance.before.inputs):
        total.bounds.add(f"lengths <= {largest}")
    unknown = any(None in v.type.shape for v in instance.before.inputs)
    total.status = BOUNDED if unknown or any(v.ndim for v in instance.before.inputs) else PROVED
    return total


def _at_shapes(claim: Claim, instance: Instance, shapes: Sequence[tuple[int, ...]], clock: Clock) -> Found:
    """Prove an instance at lengths, for all integers, or where that fails for a few of them."""
    inputs = instance.before.inputs
    leaves = _Leaves(inputs, dict(zip(inputs, shapes, strict=True)), {})
    found = prove(claim, instance, Translation, leaves.symbols, leaves.arrays, clock)
    if found.status != UNPROVED:
        return found
    integers = [v for v in inputs if v.type.kind in "iu"]
    choices = fixings(integers, leaves.sizes, instance.before, lambda: clock.over)
    if choices:
        return _for_choices(claim, instance, leaves, choices, clock)
    if choices is not None and found.reason.startswith("not translated"):
        return Found(NEVER, reason="no integers at which the graph runs")
    return found


def _for_choices(
    claim: Claim, instance: Instance, leaves: _Leaves, choices: Sequence[dict[Variable, np.ndarray]], clock: Clock
) -> Found:
    """Prove an instance for each choice of its integers; return the first that fails, or what all of them needed."""
    found = Found(PROVED)
    for choice in choices:
        chosen = replace(leaves, fixed=choice)
        one = prove(claim, instance, Translation, chosen.symbols, chosen.arrays, clock)
        if one.status in (UNPROVED, REFUTED):
            return one
        for name in ("theory", "bounds", "facts"):
            getattr(found, name).update(getattr(one, name))
    found.bounds.add("at most 8 values of the integers")
    return found


@dataclass(frozen=True)
class _Leaves:
    """The inputs of an instance at known lengths: some are fixed arrays, the elements of the others are symbols."""

    inputs: Sequence[Variable]
    sizes: Mapping[Variable, tuple[int, ...]]
    fixed: Mapping[Variable, np.ndarray]

    def symbols(self, theory: Any) -> dict[Variable, Known]:
        """Return the value of each input in a theory."""
        return {
            v: self.fixed[v] if v in self.fixed else leaf(theory, name, v.dtype, self.sizes[v])
            for v, name in self._named()
        }

    def arrays(self, values: Mapping[str, Any]) -> list[np.ndarray]:
        """Return the array of each input, from the values of symbols by name."""
        return [self.fixed[v] if v in self.fixed else self._array(v, name, values) for v, name in self._named()]

    def _array(self, v: Variable, name: str, values: Mapping[str, Any]) -> np.ndarray:
        places = np.ndindex(*self.sizes[v])
        elements = [value_of(values, f"{name}[{','.join(map(str, p))}]", v.dtype) for p in places]
        return np.array(elements, dtype=v.dtype).reshape(self.sizes[v])

    def _named(self) -> Iterable[tuple[Variable, str]]:
        return ((v, v.name or f"v{k}") for k, v in enumerate(self.inputs))


# --- proofs


Given = Callable[[Any], dict[Variable, Known]]


def prove(
    claim: Claim, instance: Instance, kind: type[Translation], given: Given, arrays: Arrays, clock: Clock
) -> Found:
    """The result for the instance with these leaves."""
    try:
        if needs_reals(claim, instance.before):
            return over_reals(claim, instance, kind, given, clock)
        return over_machine(claim, instance, kind, given, arrays, clock)
    except Vacuous as error:
        return Found(NEVER, reason=str(error))
    except (NotTranslated, z3.Z3Exception) as error:
        reason = str(error).splitlines()[0]
        return Found(UNPROVED, reason="time" if reason == "time" else f"not translated: {reason}")


def translated(
    theory: Any, kind: type[Translation], instance: Instance, given: Given
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """(elements before, elements after, conditions of errors before, and after)."""
    leaves = given(theory)
    sides = []
    for graph in (instance.before, instance.after):
        theory.raises = []
        translation = kind(theory)
        try:
            values = translation.run(graph, {v: leaves[v] for v in graph.inputs})
        except BrokenAssumption as error:
            raise Vacuous(str(error)) from None
        except (ValueError, IndexError) as error:  # lengths do not agree
            kind_of = Vacuous if graph is instance.before else NotTranslated
            raise kind_of(str(error).splitlines()[0]) from None
        sides.append((values, list(theory.raises)))
    (before, raises), (after, raises_after) = sides
    pairs: tuple[list[Any], list[Any]] = ([], [])
    for a, b, variable in zip(before, after, instance.before.outputs, strict=True):
        if kind is not OnePoint and tuple(a.shape) != tuple(b.shape):
            raise NotTranslated(f"the shape {tuple(a.shape)} becomes {tuple(b.shape)}")
        for side, value in zip(pairs, (a, b), strict=True):
            items = (
                value.items.flat
                if isinstance(value, Array)
                else [theory.constant(v, variable.dtype) for v in value.flat]
            )
            side.extend(items)
    return (*pairs, raises, raises_after)


def over_machine(
    claim: Claim, instance: Instance, kind: type[Translation], given: Given, arrays: Arrays, clock: Clock
) -> Found:
    """The proof over machine numbers: of their own formats, else of small ones."""
    has_floats = any(v.type.kind in "fc" for g in (instance.before, instance.after) for v in _values(g))
    formats = [OWN, SMALL, HALF] if has_floats else [OWN, NARROW]
    found = Found(UNPROVED, theory={"floating point" if has_floats else "bit-vectors"})
    proved: list[str] = []
    for form in formats:
        if clock.over:
            break
        try:
            answer, theory = ask(claim, instance, kind, given, arrays, form, clock)
        except OutOfFormat as error:
            found.reason = found.reason or f"not translated: {error}"
            continue
        found.facts |= theory.facts
        if isinstance(answer, str) and answer.startswith("refuted"):
            return Found(REFUTED, reason=answer)
        if answer == "yes":
            proved.append(form.name)
            if form is OWN:
                break
        else:
            found.reason = answer
    if not proved:
        return found
    found.reason = ""
    found.status = PROVED if has_floats or proved == ["own"] else BOUNDED
    if proved != ["own"]:
        found.bounds.add("formats of " + " and ".join(proved))
    if has_floats and proved == ["8 bits"]:
        found.bounds.add("time limit beyond 8 bits")
    return found


def _values(graph: FunctionGraph) -> list[Variable]:
    return [*graph.inputs, *(v for node in graph.order for v in (*node.inputs, *node.outputs))]


TIMEOUTS = {"own": 700, "8 bits": 2500, "16 bits": 1000, "8-bit integers": 2500}
"""Milliseconds for one question over each format."""

NO_ANSWER = "the solver gave no answer in time"


def ask(
    claim: Claim, instance: Instance, kind: type[Translation], given: Given, arrays: Arrays, form: Format, clock: Clock
) -> tuple[str, Machine]:
    """("yes", or why not) of the instance over one format."""
    theory = Machine(form)
    theory.clock = clock
    before, after, raises, raises_after = translated(theory, kind, instance, given)
    fails, fails_after = (z3.Or(*c) if c else z3.BoolVal(False) for c in (raises, raises_after))
    goals = [theory.same(claim.contract, a, b) for a, b in zip(before, after, strict=True)]
    goals.append(z3.Not(fails_after) if "errors" in claim.contract.relaxed else z3.Not(fails_after) == z3.Not(fails))
    open_goals = [g for g in map(z3.simplify, goals) if not z3.is_true(g)]
    if "errors" not in claim.contract.relaxed and raises:
        open_goals = [z3.simplify(z3.Or(fails, z3.And(*goals[:-1]))), goals[-1]]
    elif raises:
        open_goals = [z3.simplify(z3.Or(fails, z3.And(*goals)))]
    open_goals = [c for g in open_goals for c in by_truths(g, theory)]
    open_goals = [g for g in open_goals if not z3.is_true(g) and not holds_in_every_case(g) and not _by_sums(g)]
    if not open_goals:
        return "yes", theory
    key = (form.name, *sorted(g.sexpr() for g in open_goals))
    if key in clock.answers:
        return clock.answers[key], theory
    solver = _solver(theory)
    limit(solver, clock.part(TIMEOUTS[form.name]))
    solver.add(*theory.side, z3.Not(z3.And(*open_goals)))
    answer = solver.check()
    if answer == z3.unsat:
        text = "yes"
    elif answer == z3.unknown:
        text = f"{NO_ANSWER} ({form.name})"
    else:
        values = {n: concrete(solver.model().eval(v, model_completion=True)) for n, v in theory.leaves.items()}
        text = replayed(claim, instance, arrays, values)
    clock.answers[key] = text
    return text, theory


def _by_sums(goal: Any) -> bool:
    """Whether the goal is an equality of polynomials modulo a power of two with the same monomials."""
    if not (z3.is_eq(goal) and z3.is_bv(goal.arg(0))):
        return False
    return bool(z3.is_true(z3.simplify(z3.simplify(goal.arg(0) - goal.arg(1), som=True) == 0)))


MOST_CASES = 4
"""Conditions of choices whose combinations are tried one by one."""


def by_truths(goal: Any, theory: Machine) -> list[Any]:
    """Goals that are together the goal: one for each choice of the leaves that are truth values, if there are few."""
    truths = [v for v in theory.leaves.values() if z3.is_bool(v)]
    if z3.is_true(goal) or not 0 < len(truths) <= MOST_CASES:
        return [goal]
    return [_with_values(goal, truths, case) for case in itertools.product((True, False), repeat=len(truths))]


def _with_values(goal: Any, conditions: Sequence[Any], case: Sequence[bool]) -> Any:
    """The goal with truth values in the place of conditions, simplified."""
    pairs = zip(conditions, case, strict=True)
    return z3.simplify(z3.substitute(goal, *((c, z3.BoolVal(v)) for c, v in pairs)))


def holds_in_every_case(goal: Any) -> bool:
    """Whether the goal simplifies to true for all truth values of the conditions of its choices, taken as free."""
    conditions: dict[int, Any] = {}
    todo, met = [goal], set()
    while todo:
        term = todo.pop()
        if term.get_id() in met:
            continue
        met.add(term.get_id())
        if z3.is_app_of(term, z3.Z3_OP_ITE):
            conditions[term.arg(0).get_id()] = term.arg(0)
        if z3.is_const(term) and z3.is_bool(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            conditions[term.get_id()] = term
        todo += term.children()
    if not 0 < len(conditions) <= MOST_CASES:
        return False
    cases = itertools.product((True, False), repeat=len(conditions))
    return all(z3.is_true(_with_values(goal, list(conditions.values()), case)) for case in cases)


def _solver(theory: Machine) -> z3.Solver:
    if theory.uninterpreted:
        return z3.Solver()
    return z3.Then("simplify", "propagate-values", "fpa2bv", "simplify", "bit-blast", "sat").solver()


def over_reals(claim: Claim, instance: Instance, kind: type[Translation], given: Given, clock: Clock) -> Found:
    """The proof over the reals, along every path of choices."""
    found = Found(PROVED, theory={"reals"})
    todo: list[list[bool]] = [[]]
    count = 0
    inhabited = False
    while todo:
        choices = todo.pop()
        count += 1
        if count > MOST_PATHS or clock.over:
            return Found(UNPROVED, found.theory, reason="more paths than time")
        theory = Reals(choices)
        theory.clock = clock
        before, after, _, _ = translated(theory, kind, instance, given)
        values = [
            (a, b)
            for s, t in zip(before, after, strict=True)
            for a, b in zip(theory.parts(s), theory.parts(t), strict=True)
        ]
        for a, b in values:
            if not theory.equal(a, b, clock.part(1500), "nan" in claim.contract.relaxed):
                why = "time" if clock.over else "equality over the reals is not proved"
                return Found(UNPROVED, found.theory, reason=why)
        if not inhabited:
            inhabited = not values or any(_possible(theory, a.defined) for a, _ in values)
        todo += [[*theory.taken[:k], not theory.taken[k]] for k in range(len(choices), len(theory.taken))]
        found.facts |= theory.facts
    if not inhabited:
        return Found(NEVER, reason="defined nowhere over the reals")
    return found


def _possible(theory: Reals, defined: Any) -> bool:
    solver = theory.solver(1000)
    solver.add(defined)
    return bool(solver.check() != z3.unsat)
