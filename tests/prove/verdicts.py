"""Verdicts on rules: what the instances of a rule prove together, kept with the digest of what they speak of.

proved      every instance, for all values; elementwise rules for all shapes too
bounded     every instance, on arrays of lengths up to the stated one (or for the stated values of integers)
tested      not proved, with the reason; the property tests hold the rule
refuted     a counterexample that NumPy confirms
"""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rule_trials import (
    EXAMPLES,
    ON_MATRICES,
    POSITIONS,
    RULES,
    SPECIAL,
    Violation,
    at_special_values,
    compare,
    compare_all,
    edges,
    outcome,
)  # fmt: skip

import arignote
from arignote.ops.linalg.blas import BlasOp, Dot, MatMul
from arignote.optdb import PatternRule, Rule
from arignote.optdb.applier import RuleError
from arignote.proving.check import (
    BOUNDED,
    NEVER,
    NO_ANSWER,
    PROVED,
    REFUTED,
    UNPROVED,
    Clock,
    Found,
    check,
    is_pointwise,
    needs_reals,
)
from arignote.proving.claims import Claim, Instance
from arignote.proving.lengths import shapes_of

from .instances import instances

DATA = Path(__file__).with_name("verdicts.json")
ROOT = Path(arignote.__file__).parent.parent
TESTED = "tested"
PROVER = 1
"""Raised with each change of the prover that makes earlier proofs doubtful, so that all verdicts are stale."""
MOST_INSTANCES = 30
SAMPLES = 4
"""Sets of random arrays for an instance that is not proved."""


@dataclass
class Verdict:
    """The verdict on a rule, and its evidence."""

    rule: str
    verdict: str
    contract: str
    theory: str = ""
    bounds: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    reason: str = ""
    instances: int = 0
    seconds: float = 0.0
    pattern: bool = False
    digest: str = ""


def verdict_on(rule: Rule, seconds: float, most: int = MOST_INSTANCES) -> Verdict:
    """The verdict on one rule, found in about so many seconds."""
    if rule.name in POSITIONS:
        reason = "positions among values that rounding makes equal, which a test holds against the true extremum"
        made = Verdict(rule.name, TESTED, str(rule.contract), reason=reason, digest=digest(rule))
        made.pattern = isinstance(rule, PatternRule)
        return made
    try:
        return _verdict_on(rule, seconds, most)
    except RuleError as error:
        return Verdict(rule.name, REFUTED, str(rule.contract), reason=f"the rule fails: {error}".splitlines()[0])


def claim_of(rule: Rule) -> Claim:
    """The claim of a rule, judged by the truth where its contract asks for it."""

    def judge(contract: Any, instance: Instance, arrays: Any, want: np.ndarray, got: np.ndarray) -> str:
        try:
            compare(rule, instance.before, instance.after, arrays, want, got)
        except Violation as error:
            return str(error).splitlines()[-1]
        return ""

    return Claim(rule.contract, judge)


def _verdict_on(rule: Rule, seconds: float, most: int) -> Verdict:
    begun = time.process_time()
    tally = _tally(rule, Clock(seconds), most)
    made = tally.verdict(rule)
    made.seconds = round(time.process_time() - begun, 1)
    return made


@dataclass
class _Tally:
    """The results for the instances of a rule."""

    count: Counter[str] = field(default_factory=Counter)
    theory: set[str] = field(default_factory=set)
    bounds: set[str] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)
    reasons: dict[str, str] = field(default_factory=dict)
    unanswered: list[str] = field(default_factory=list)
    over_reals: bool = False
    late: bool = False

    @property
    def good(self) -> int:
        """The number of instances that are proved."""
        return self.count[PROVED] + self.count[BOUNDED]

    def add(self, rule: Rule, instance: Instance, found: Found) -> None:
        """Take in what is known of an instance."""
        if found.status == NEVER:
            return
        if found.status == UNPROVED and found.reason.startswith((NO_ANSWER, "time")):
            self.unanswered.append(instance.dtypes)
            return
        self.count[found.status] += 1
        if found.status in (UNPROVED, REFUTED):
            self.reasons.setdefault(found.status, f"{instance.dtypes}: {found.reason}")
            return
        self.over_reals |= needs_reals(claim_of(rule), instance.before)
        self.theory |= found.theory
        self.bounds |= found.bounds
        self.facts |= found.facts

    def verdict(self, rule: Rule) -> Verdict:
        """The verdict on the rule, without its time."""
        made = Verdict(
            rule.name, TESTED, str(rule.contract), pattern=isinstance(rule, PatternRule), digest=digest(rule)
        )
        made.instances = sum(self.count.values())
        made.reason = self._reason(made.instances)
        if self.count[REFUTED]:
            made.verdict = REFUTED
        elif not made.reason:
            made.verdict = BOUNDED if self.count[BOUNDED] or self.late or self.unanswered else PROVED
            self._add_bounds(made.instances)
            if self.over_reals and rule.name in ON_MATRICES:
                self.bounds.add("finite numbers")  # of what LAPACK makes of others no contract speaks
            elif self.over_reals:
                made.verdict, made.reason = _with_special_values(rule, made.verdict, self.bounds)
        if made.verdict in (PROVED, BOUNDED):
            made.theory, made.bounds, made.facts = (
                ", ".join(sorted(self.theory)),
                sorted(self.bounds),
                sorted(self.facts),
            )
        return made

    def _reason(self, instances: int) -> str:
        """The reason why the rule is not proved; empty if it is."""
        if self.count[REFUTED]:
            return self.reasons[REFUTED]
        if self.count[UNPROVED]:
            more = f" ({self.good} of {instances} instances are proved)" if self.good else ""
            return self.reasons[UNPROVED] + more
        if len(self.unanswered) > self.good:
            return f"{NO_ANSWER}: {'; '.join(dict.fromkeys(self.unanswered))}"
        if not self.good:
            return "no instance was reached in time" if self.late else "no instance fires"
        return ""

    def _add_bounds(self, instances: int) -> None:
        """Say what time did not allow, and the largest lengths alone."""
        if self.late:
            self.bounds.add(f"the first {instances} instances")
        if self.unanswered:
            those = "; ".join(dict.fromkeys(self.unanswered))
            self.bounds.add(f"no answer in time for {len(self.unanswered)} instances: {those}")
        lengths = sorted({b for b in self.bounds if b.startswith("lengths")}, key=lambda b: int(b.rpartition(" ")[2]))
        self.bounds -= set(lengths[:-1])


def _tally(rule: Rule, clock: Clock, most: int) -> _Tally:
    """The results for the first instances, until the clock runs out or one is refuted."""
    tally = _Tally()
    sampled = rule.name in ON_MATRICES
    for instance in instances(rule):
        if sum(tally.count.values()) >= most:
            break
        if clock.over:
            tally.late = True
            break
        found = check(claim_of(rule), instance, clock)
        if found.status == UNPROVED and clock.over and tally.good:
            tally.late = True
            break
        if found.status == UNPROVED and not sampled and needs_reals(claim_of(rule), instance.before):
            sampled = True
            found = _sampled(rule, instance, found)
        tally.add(rule, instance, found)
        if found.status == REFUTED:
            break
    return tally


def _sampled(rule: Rule, instance: Instance, found: Found) -> Found:
    """The result for an instance without a proof over the reals, after a few random runs; the solver has no models."""
    rng = np.random.default_rng(0)
    try:
        for _ in range(SAMPLES):
            compare_all(rule, instance.before, instance.after, rng)
    except Violation as error:
        return Found(REFUTED, reason=str(error).splitlines()[-1])
    return found


def _with_special_values(rule: Rule, verdict: str, bounds: set[str]) -> tuple[str, str]:
    """The verdict with special values taken into account: every combination of them, run by NumPy."""
    try:
        compared = sum(_held(rule, instance) for instance in _floats(rule))
        rng = np.random.default_rng(0)
        for instance in () if compared else itertools.islice(instances(rule), 6):
            compared += sum(compare_all(rule, instance.before, instance.after, rng) for _ in range(8))
            for shapes in itertools.islice(shapes_of(instance.before), 4):
                compared += _compared_at(rule, instance, shapes, rng)
    except Violation as error:
        return REFUTED, f"at special values: {str(error).splitlines()[-1]}"
    if not compared:
        return TESTED, "equal over the reals, but no special values could be run"
    bounds.add(f"special values by NumPy, {compared} runs")
    return verdict, ""


def _compared_at(rule: Rule, instance: Instance, shapes: Any, rng: np.random.Generator) -> int:
    """The number of comparisons on arrays of these shapes, with special values among small numbers."""
    compared = 0
    for _ in range(6):
        given = [edges(rng, v.dtype, s) for v, s in zip(instance.before.inputs, shapes, strict=True)]
        if not _are_fair(instance, given):
            continue
        want = outcome(instance.before, given)
        if not isinstance(want, Exception):
            compare(rule, instance.before, instance.after, given, want, outcome(instance.after, given))
            compared += 1
    return compared


def _are_fair(instance: Instance, arrays: Sequence[np.ndarray]) -> bool:
    """Whether the arrays have the lengths of the types, and are finite if a BLAS, which skips zeros, gets them."""
    pairs = [(v.type.shape, a.shape) for v, a in zip(instance.before.inputs, arrays, strict=True)]
    fit = all(n in (None, m) for shape, lengths in pairs for n, m in zip(shape, lengths, strict=True))
    products = any(isinstance(node.op, (BlasOp, Dot, MatMul)) for node in instance.before.order)
    return fit and not (products and not all(np.isfinite(a).all() for a in arrays if a.dtype.kind in "fc"))


def _floats(rule: Rule) -> list[Instance]:
    """Instances on floats alone, of which special values are tried: the examples in two dtypes, or the first ones."""
    found = [i for i in itertools.islice(instances(rule), 40) if {v.type.kind for v in i.before.inputs} == {"f"}]
    if not found:
        return []
    examples = len(EXAMPLES.get(rule.name, ())) or 1
    others = [i for i in found[examples:] if i.dtypes != found[0].dtypes]
    return [*found[:examples], *others[:1]]


def _held(rule: Rule, instance: Instance) -> int:
    """The number of comparisons at combinations of special values."""
    before, after = instance.before, instance.after
    compared = 0
    for given in _special(instance):
        if not _are_fair(instance, given):
            continue
        want = outcome(before, given)
        if not isinstance(want, Exception):
            compare(rule, before, after, given, want, outcome(after, given))
            compared += 1
    return compared


def _special(instance: Instance) -> Iterator[list[np.ndarray]]:
    """Each combination of special values, as elements of all operands, or else along rows or at random places."""
    inputs = instance.before.inputs
    if not is_pointwise(instance.before):
        kept = (pair for pair in at_special_values(instance.before.outputs[0], inputs[0].dtype))
        yield from (arrays for graph, arrays in kept if [v.type for v in graph.inputs] == [v.type for v in inputs])
        return
    points = SPECIAL if len(inputs) < 3 else SPECIAL[::2] if len(inputs) == 3 else SPECIAL[::5]
    for values in itertools.product(points, repeat=len(inputs)):
        with np.errstate(over="ignore"):
            yield [np.full([n or 1 for n in v.type.shape], x, v.dtype) for v, x in zip(inputs, values, strict=True)]


# --- digests


def digest(rule: Rule) -> str:
    """Digest of what a verdict speaks of: the rule, the file that defines it, shared conditions."""
    path = Path(rule.origin.rpartition(":")[0])
    found = hashlib.sha256(f"{PROVER} {rule} {rule.contract}".encode())
    for source in (path, path.parents[1] / "facts.py"):
        if source.exists():
            found.update(source.read_bytes())
    return found.hexdigest()[:16]


def stale(known: Mapping[str, Verdict]) -> list[str]:
    """Names of rules without a verdict on what they are now."""
    return [name for name, rule in RULES.items() if name not in known or known[name].digest != digest(rule)]


# --- the file


def load() -> dict[str, Verdict]:
    """The verdicts in the file, by rule."""
    if not DATA.exists():
        return {}
    rows: dict[str, dict[str, Any]] = json.loads(DATA.read_text())
    return {name: Verdict(rule=name, **row) for name, row in rows.items()}


def save(verdicts: Mapping[str, Verdict]) -> None:
    """Write the file: one line a rule, in order of name; rules that are gone are left out."""
    lines = []
    for name in sorted(verdicts):
        if name in RULES:
            row = {key: value for key, value in asdict(verdicts[name]).items() if key != "rule"}
            lines.append(f"{json.dumps(name)}: {json.dumps(row)}")
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def counted(verdicts: Iterable[Verdict]) -> Counter[str]:
    """The number of rules with each verdict."""
    return Counter(v.verdict for v in verdicts)
