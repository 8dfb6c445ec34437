"""One trial of fuzzing: programs as one function, under a query, an engine and a target, against NumPy.

Several programs share a function, so that the C compiler starts once for all of them.  A difference is attributed to a
program that shows it alone, else to the fewest that show it together, and is reduced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np
from program_trials import REFUSALS, Expected, Values, called, shrunk
from random_programs import Program, joined, other_lengths

import arignote as ag
from arignote.graph import FunctionGraph
from arignote.targets.current import using
from arignote.targets.named import by_name

ATTEMPTS = 80
"""Smaller programs that are tried for a difference."""
DRAWS = 3
"""Sets of lengths that are drawn for a program, until NumPy accepts one."""


@dataclass(frozen=True)
class Setting:
    """A query, an engine and a target."""

    query: str | None
    engine: str = "c"
    target: str = "host"
    threads: int = 1
    engines: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [self.query or "no optimizer", self.engine, self.target]
        parts += [f"{self.threads} threads"] * (self.threads > 1) + [" and ".join(self.engines)] * bool(self.engines)
        return ", ".join(parts)

    def mode(self) -> ag.Mode:
        """The mode of a function."""
        mode = ag.Mode(self.query, backend=self.engine)
        return mode.dividing(*self.engines) if self.engines else mode

    def function(self, program: Program, made: Mapping[str, Any]) -> Any:
        """The program, compiled."""
        given = [made[i.name] for i in program.inputs if not i.shared]
        with using(None if self.target == "host" else by_name(self.target)):
            return ag.function(
                given, made["outputs"], updates=made["updates"], mode=self.mode(), threads=self.threads,
                on_unused_input="ignore",
            )  # fmt: skip


COMPILED = (
    (Setting("fast_run"), Setting("fast_run", threads=2)),
    (Setting("fast_compile"),),
    (Setting("fast_run -fusion -inplace", target="x86_64-linux"),),
)
"""Settings that compile C; those of a row share their C, and a second C for lengths other than the expected ones."""
ANY_LENGTHS = tuple(tuple(replace(s, query=f"{s.query} -assume_equal") for s in row) for row in COMPILED)
"""The same with one C for all lengths."""
INTERPRETED = (
    Setting("fast_run", "numpy"), Setting("fast_compile", "numpy"), Setting("canonicalize", "numpy"),
    Setting("fast_run -canonicalize", "numpy"), Setting("fast_run fusion inplace", "numpy", "x86_64-linux-v4"),
    Setting("fast_run", "numpy", "aarch64-linux"), Setting("fast_run -specialize", "toy"),
    Setting("fast_run", "numpy", engines=("numpy", "onnxruntime")),
)  # fmt: skip
SETTINGS = (*sum(COMPILED, ()), *sum(ANY_LENGTHS, ()), *INTERPRETED)


COMPILED_ONCE_IN = 8
"""Groups of which one is compiled: a C compiler takes six times as long as all else that a group costs."""


def is_compiled(number: int) -> bool:
    """Whether the group of this number has settings that compile C."""
    return number % COMPILED_ONCE_IN == 0


def settings_of(number: int) -> tuple[Setting, ...]:
    """The settings of a group by its number: all that NumPy runs, and for some groups a row of those that compile."""
    if not is_compiled(number):
        return INTERPRETED
    turn = number // COMPILED_ONCE_IN
    rows = ANY_LENGTHS if turn % 4 else COMPILED
    return (*rows[turn % len(rows)], *INTERPRETED)


@dataclass
class Cover:
    """Ops, and pairs of an op and one that reads it, that ran."""

    ops: set[str] = field(default_factory=set)
    pairs: set[str] = field(default_factory=set)

    def add(self, graph: FunctionGraph) -> None:
        """Note the ops of a graph and of the graphs inside."""
        graphs, met = [graph], set()
        while graphs:
            for node in graphs.pop().order:
                op = getattr(node.op, "op", node.op)
                name = getattr(op, "name", type(op).__name__)
                self.ops.add(name)
                self.pairs |= {f"{i.owner.op.name} {name}" for i in node.inputs if i.owner is not None}
                inner = getattr(op, "graph", None)
                if isinstance(inner, FunctionGraph) and inner not in met:
                    met.add(inner)
                    graphs.append(inner)


@dataclass(frozen=True)
class Found:
    """A difference: the setting, how the result differs, the lengths of the program."""

    setting: Setting
    wrong: str
    lengths: tuple[int, ...]

    @property
    def kind(self) -> str:
        """The words that stay when the program is smaller."""
        return re.sub(r"[\d.\-+e]+|'[^']*'", "_", self.wrong)[:60]


def trouble_in(
    parts: Sequence[Program], seed: int, settings: Iterable[Setting], cover: Cover | None = None
) -> Found | None:
    """Return the first difference of the joined programs; None if all results are right."""
    program = joined(parts)
    made = program.made()
    functions = {}
    for setting in settings:
        try:
            functions[setting] = setting.function(program, made)
        except Exception as error:
            return Found(setting, _text(error), program.lengths)
        if cover is not None:
            cover.add(functions[setting].graph)
    if cover is not None:
        given = [made[i.name] for i in program.inputs]
        cover.add(FunctionGraph(given, [*made["outputs"], *(new for _, new in made["updates"])]))
    for cases in _cases(parts, made, seed):
        lengths = sum((case.lengths for case in cases), ())
        values = [value for case in cases for value in case.values]
        kept = [v.copy() for v in values]
        for setting, function in functions.items():
            wrong = _differs(function, program, made, cases)
            if not wrong and any(a.tobytes() != b.tobytes() for a, b in zip(kept, values, strict=True)):
                wrong = "an input was overwritten"
            if wrong:
                return Found(setting, wrong, lengths)
    return None


@dataclass(frozen=True)
class Case:
    """A program at some lengths: its arrays, and what NumPy makes of them."""

    part: Program
    lengths: tuple[int, ...]
    values: Values
    expected: Expected

    @classmethod
    def of(cls, part: Program, made: Mapping[str, Any], lengths: tuple[int, ...]) -> Case:
        """The program at these lengths, with the variables of the joined program."""
        arrays = part.arrays(lengths)
        values = [arrays[i.name] for i in part.inputs]
        results = [made[name] for name in (*part.outputs, *(new for _, new in part.updates))]
        return cls(part, lengths, values, Expected([made[i.name] for i in part.inputs], results, values))

    @property
    def refused(self) -> bool:
        """Whether NumPy refuses the lengths, or a new value has other lengths than the shared one is known to have."""
        if self.expected.results is None:
            return True
        shared = {i.name: (i.known, v.shape) for i, v in zip(self.part.inputs, self.values, strict=True)}
        new = self.expected.results[len(self.part.outputs) :]
        return any(
            known and length != given
            for (name, _), value in zip(self.part.updates, new, strict=True)
            for known, length, given in zip(*shared[name], value.shape, strict=True)
        )


def _cases(parts: Sequence[Program], made: Mapping[str, Any], seed: int) -> Iterator[list[Case]]:
    """The programs at their own lengths, at others that NumPy accepts, and at those that it refuses."""
    own = [Case.of(part, made, part.lengths) for part in parts]
    yield own
    accepted, refused = [], []
    for case in own:
        random = Random(f"{seed} {case.part.letters}")
        drawn = [case]
        for _ in range(DRAWS):
            with suppress(MemoryError):  # the program is too large for these lengths
                drawn.append(Case.of(case.part, made, other_lengths(case.part, random)))
            if not drawn[-1].refused and len(drawn) > 1:
                break
        accepted.append(case if drawn[-1].refused else drawn[-1])
        refused.append(next((each for each in drawn if each.refused), accepted[-1]))
    yield accepted
    if any(case.refused for case in refused):
        yield refused


def _differs(function: Any, program: Program, made: Any, cases: Sequence[Case]) -> str | None:
    """How results differ; where NumPy refuses, the function may refuse as well."""
    refused = any(case.refused for case in cases)
    try:
        with np.errstate(all="ignore"):
            results = called(function, program.inputs, made, [v for case in cases for v in case.values])
    except REFUSALS as error:
        return None if refused else _text(error)
    except Exception as error:
        return _text(error)
    outputs, updates = iter(results[: len(program.outputs)]), iter(results[len(program.outputs) :])
    for case in cases:
        own = [next(outputs) for _ in case.part.outputs] + [next(updates) for _ in case.part.updates]
        for k, result in enumerate(own if not case.refused else []):
            wrong = case.expected.difference(k, result)
            if wrong:
                return f"result {k}: {wrong}"
    return None


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


# --- who is at fault


def reports(parts: Sequence[Program], seed: int, settings: Iterable[Setting], cover: Cover) -> Iterator[dict[str, str]]:
    """The report of each difference; the other programs are tried again without those that differ."""
    left, settings = list(parts), list(settings)
    while left and (found := trouble_in(left, seed, settings, cover)):
        wrong = [part for part in left if _of(seed, found.setting, [part])]
        for part in wrong:
            yield reported(part, seed, _of(seed, found.setting, [part]) or found)
        if not wrong:
            yield reported(joined(_fewest(left, seed, found.setting)), seed, found)
            return
        left = [part for part in left if part not in wrong]


def _of(seed: int, setting: Setting, parts: Sequence[Program]) -> Found | None:
    """The difference of programs under a setting; None where they cannot be built."""
    try:
        return trouble_in(parts, seed, [setting])
    except Exception:
        return None


def _fewest(parts: list[Program], seed: int, setting: Setting) -> list[Program]:
    """As few of the programs as differ together: halves first, then each one left out."""
    halved = True
    while halved and len(parts) > 1:
        middle = len(parts) // 2
        halved = next((half for half in (parts[:middle], parts[middle:]) if _of(seed, setting, half)), [])
        parts = halved or parts
    for part in list(parts):
        others = [p for p in parts if p is not part]
        if others and _of(seed, setting, others):
            parts = others
    return parts


def reported(program: Program, seed: int, found: Found) -> dict[str, str]:
    """The cause of a difference, and the text of a report: the smallest program that is found, and the wrong rule."""
    setting = found.setting

    def is_alike(smaller: Program) -> bool:
        again = _of(seed, setting, [smaller])
        return again is not None and again.kind == found.kind

    small = shrunk(program, is_alike, ATTEMPTS)
    again = _of(seed, setting, [small]) or found
    lines = [f"# {setting}: {again.wrong}, with lengths {again.lengths}", small.code()]
    cause = f"{setting.engine} {again.kind}"
    try:
        made = small.made()
        arrays = small.arrays(again.lengths)
        with using(None if setting.target == "host" else by_name(setting.target)):
            function = setting.function(small, made)
            verdict = ag.bisect(function, [arrays[i.name] for i in small.inputs if not i.shared])
        lines.append(f"# {verdict}".replace("\n", "\n# "))
        cause = f"rule {verdict.rule}" if verdict.rule else cause
    except Exception as error:
        lines.append(f"# no rule is found: {_text(error)}")
    ops = Cover()
    ops.add(FunctionGraph([made[i.name] for i in small.inputs], made["outputs"]))
    return {
        "cause": cause if cause.startswith("rule") else f"{cause} {' '.join(sorted(ops.ops)[:6])}",
        "text": "\n".join(lines), "wrong": found.wrong,
    }  # fmt: skip
