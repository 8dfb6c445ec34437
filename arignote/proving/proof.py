"""The proof of a function: each rewrite of its journal, checked by itself (translation validation).

    f.proof, ag.prove(f)              the results for all rewrites of a compiled function
    ag.function(..., mode="PROVE")    the same when it is compiled; a refuted rewrite is an error

Source of the idea: Lopes et al., Alive2: Bounded Translation Validation for LLVM, PLDI 2021.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

from .. import later, pages
from ..graph import FunctionGraph, Replacement
from ..optdb import Query
from ..record.spelling import counted

if TYPE_CHECKING:
    from ..function.compiled import Function

PROVED, BOUNDED, TESTED, REFUTED = "proved", "bounded", "tested", "refuted"
SECONDS = 4.0
"""Seconds of processor time for one rewrite."""
MEANING = {
    PROVED: "for all values, and all lengths of elementwise parts", BOUNDED: "for all values, within the stated bounds",
    TESTED: "no proof; the results on drawn values agree", REFUTED: "NumPy confirms a counterexample",
}  # fmt: skip


class RefutedRewrite(AssertionError):
    """A rewrite changes the result: mode PROVE refuses the function."""


@dataclass
class StepProof:
    """The result for one rewrite: its place, its rule with the contract, the status, and the evidence or the reason."""

    place: str
    rule: str
    contract: str
    status: str
    before: str
    after: str
    theory: str = ""
    bounds: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        change = f"    {self.before} -> {self.after}"
        if self.status == REFUTED:
            found = self.reason.removeprefix(f"{REFUTED}: ").splitlines()
            return "\n".join([f"{self.place}: {self.rule}: {self.status}", change, *(f"    {line}" for line in found)])
        more = self.reason or ", ".join([*filter(None, [self.theory]), *self.bounds])
        return f"{self.place}: {self.rule}: {self.status}{f' ({more})' if more else ''}\n{change}"

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data, ready for JSON."""
        return {
            "place": self.place, "rule": self.rule, "contract": self.contract, "status": self.status,
            "before": self.before, "after": self.after, "theory": self.theory, "bounds": list(self.bounds),
            "facts": list(self.facts), "reason": self.reason,
        }  # fmt: skip


@dataclass
class Proof(Sequence[StepProof]):
    """The results for all rewrites of a function, in order; `name` is that of the function."""

    name: str
    steps: list[StepProof] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, which: Any) -> Any:
        return self.steps[which]

    @property
    def counts(self) -> dict[str, int]:
        """The number of rewrites of each status, in the order of MEANING."""
        found = Counter(step.status for step in self.steps)
        return {status: found[status] for status in MEANING}

    def of(self, *statuses: str) -> list[StepProof]:
        """The rewrites of these statuses."""
        return [step for step in self.steps if step.status in statuses]

    @property
    def refuted(self) -> list[StepProof]:
        """The rewrites with a counterexample."""
        return self.of(REFUTED)

    def unproved_by_rule(self) -> dict[str, tuple[int, str]]:
        """Rules with rewrites that are not proved: their number, and the reason of the first; most first."""
        return by_rule(self.of(TESTED, REFUTED))

    def to_dict(self) -> dict[str, Any]:
        """The proof as plain data, ready for JSON."""
        return {"name": self.name, "counts": self.counts, "steps": [step.to_dict() for step in self.steps]}

    def _repr_html_(self) -> str:
        rows = [(step.place, f"{step.rule}: {step.status} {step.reason}".rstrip()) for step in self.of(TESTED, REFUTED)]
        return pages.notebook.facts(self._head(), [*((k, str(n)) for k, n in self.counts.items()), *rows])

    def _head(self) -> str:
        counts = ", ".join(f"{n} {status}" for status, n in self.counts.items() if n)
        return f"{self.name}: {counted(len(self), 'rewrite')}: {counts or 'nothing to prove'}"

    def __str__(self) -> str:
        lines = [self._head(), *map(str, self.refuted)]
        unproved = by_rule(self.of(TESTED))
        lines += ["without proof:"] if unproved else []
        lines += [f"  {n} x {rule}: {reason}" for rule, (n, reason) in unproved.items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<proof of {self._head()}>"


def by_rule(steps: Iterable[StepProof]) -> dict[str, tuple[int, str]]:
    """Rules of these steps: their number, and the reason of the first; most first."""
    count: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for step in steps:
        count[step.rule] += 1
        reasons.setdefault(step.rule, step.reason)
    return {rule: (n, reasons[rule]) for rule, n in count.most_common()}


def prove(f: Function, seconds: float = SECONDS) -> Proof:
    """The proof of a compiled function: each rewrite of its journal, as `f.trace` numbers them.

    Args:
        f: a compiled function.
        seconds: processor time for one rewrite; what is not proved by then is evaluated on drawn values.

    Raises:
        TypeError: `f` is no compiled function.
        ValueError: `seconds` is not positive.
        ImportError: the package z3-solver is missing.
    """
    journal, graph = getattr(f, "journal", None), getattr(f, "unoptimized_graph", None)
    if journal is None or graph is None:
        raise TypeError(f"prove: f is {f!r}; expected a function of ag.function")
    query = f.mode.optimizer
    own = [what for what, _ in query.extra] if isinstance(query, Query) else []
    return prove_journal(f.name, graph, journal, f.graph, seconds, own)


def prove_journal(
    name: str, graph: FunctionGraph, journal: Sequence[Replacement], result: FunctionGraph, seconds: float = SECONDS,
    own: Sequence[Any] = (),
) -> Proof:  # fmt: skip
    """The proof that a journal leads from a graph to the result; `own`: rules that stand in no database."""
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        raise TypeError(f"prove: seconds is {seconds!r}; expected a number")
    if not seconds > 0:
        raise ValueError(f"prove: seconds is {seconds!r}; expected a positive number")
    _require_z3()
    return Proof(name, list(later.prover.Prover(seconds, own).journal(graph, journal, result)))


def require_proved(f: Function) -> None:
    """Raise RefutedRewrite, with the counterexamples, if a rewrite of the function is refuted."""
    if f.proof.refuted:
        raise RefutedRewrite(f'{f.proof}\nfix: leave the rule out, as by mode.excluding("{f.proof.refuted[0].rule}")')


def _require_z3() -> None:
    try:
        import z3  # noqa: F401
    except ImportError:
        raise ImportError("a proof needs the package z3-solver; fix: pip install arignote[prove]") from None
