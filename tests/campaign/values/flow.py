"""Random functions of branches, loops and jumps on values: a jitted one gives what Python does.

    python -m tests.campaign.values.flow 1234    the function of a seed, and what is wrong with it

Numbers are multiples of powers of two, so that no order of additions changes a bit.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from ..scorecard import Row, Trials

FUNCTIONS, SMALL = 400, 10
_NUMBERS = (2.5, -1.25, 7.0, -6.5, 0.0)
_NAMES = ("a", "b", "c")
_DEEPEST = 2
_REFUSED = re.compile(r"symbolic|depends on values|in one branch and|do not settle|caught TypeError of the trace")
"""Messages of what a compiled function cannot do."""


class _Maker:
    """A function in the making."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.loops = 0
        self.has_helper = self.random.random() < 0.3

    def text(self) -> str:
        lines = ["def f(x):", "    a, b, c = 0.0, x, 1.0", "    z = np.zeros(3)"]
        if self.has_helper:
            lines += ["    def helper(v):", "        nonlocal c", "        c = c + v", "        return c * 0.5"]
        lines += self.block(3, 0, loop=False)
        return "\n".join([*lines, f"    return a + {self.value()} + z.sum()", ""])

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def value(self) -> str:
        name = self.pick(*_NAMES, "x", "z[1]")
        how = self.random.randrange(7)
        if how == 0:
            return f"({name} if {self.test()} else {self.pick(*_NAMES)} + 1)"
        if how == 1 and self.has_helper:
            return f"helper({self.pick('1.0', name)})"
        return f"{name} {self.pick('+', '-')} {self.pick('0.5', '1', '2.25', *_NAMES)}" if how < 5 else f"{name} * 0.5"

    def test(self) -> str:
        sign = self.pick("<", ">", "<=", ">=", "==", "!=")
        one = f"{self.pick(*_NAMES, 'x')} {sign} {self.pick('0', '1.5', '3', *_NAMES)}"
        how = self.random.randrange(8)
        if how == 0:
            return f"{one} {self.pick('and', 'or')} {self.pick(*_NAMES)} > -2"
        return f"not {one}" if how == 1 else one

    def block(self, most: int, depth: int, loop: bool) -> list[str]:
        """Return statements, indented for a depth."""
        found: list[str] = []
        for _ in range(self.random.randint(1, most)):
            found += self.statement(depth, loop)
        return ["    " * (depth + 1) + line if depth == 0 else "    " + line for line in found]

    def inner(self, depth: int, loop: bool) -> list[str]:
        return self.block(2, depth + 1, loop)

    def statement(self, depth: int, loop: bool) -> list[str]:
        kinds = ["assign", "assign", "change", "element", "jump"]
        if depth < _DEEPEST:
            kinds += ["if", "if", "for", "while", "try", "match", "with"]
        return getattr(self, f"_{self.pick(*kinds)}")(depth, loop)  # type: ignore[no-any-return]

    def _assign(self, depth: int, loop: bool) -> list[str]:
        if self.random.random() < 0.2:
            one, other = self.random.sample(_NAMES, 2)
            return [f"{one}, {other} = {self.value()}, {one}"]
        return [f"{self.pick(*_NAMES)} = {self.value()}"]

    def _change(self, depth: int, loop: bool) -> list[str]:
        return [f"{self.pick(*_NAMES)} {self.pick('+=', '-=')} {self.value()}"]

    def _element(self, depth: int, loop: bool) -> list[str]:
        return [f"z[{self.pick('0', '1', '2', '-1')}] {self.pick('=', '+=')} {self.value()}"]

    def _jump(self, depth: int, loop: bool) -> list[str]:
        jump = self.pick("break", "continue") if loop and self.random.random() < 0.7 else f"return {self.value()}"
        return [f"if {self.test()}:", f"    {jump}"] if depth < _DEEPEST or self.random.random() < 0.8 else [jump]

    def _if(self, depth: int, loop: bool) -> list[str]:
        found = [f"if {self.test()}:", *self.inner(depth, loop)]
        if self.random.random() < 0.3:
            found += [f"elif {self.test()}:", *self.inner(depth, loop)]
        return [*found, "else:", *self.inner(depth, loop)] if self.random.random() < 0.6 else found

    def _otherwise(self, depth: int, loop: bool) -> list[str]:
        return ["else:", *self.inner(depth, loop)] if self.random.random() < 0.3 else []

    def _for(self, depth: int, loop: bool) -> list[str]:
        self.loops += 1
        k = f"k{self.loops}"
        head = f"for {k} in range({self.pick(2, 20)}):"
        body = [f"    {self.pick(*_NAMES)} += {k} * 0.25", *self.inner(depth, True)]
        return [head, *body, *self._otherwise(depth, loop)]

    def _while(self, depth: int, loop: bool) -> list[str]:
        self.loops += 1
        n = f"n{self.loops}"
        head = [f"{n} = 0", f"while {n} < {self.pick(3, 19)} and {self.test()}:", f"    {n} += 1"]
        return [*head, *self.inner(depth, True), *self._otherwise(depth, loop)]

    def _try(self, depth: int, loop: bool) -> list[str]:
        body = [*self.inner(depth, loop), *(["    [1].index(3)"] if self.random.random() < 0.5 else [])]
        found = ["try:", *body, "except ValueError:", *self.inner(depth, loop)]
        found += self._otherwise(depth, loop)
        return [*found, "finally:", f"    {self.pick(*_NAMES)} += 1"] if self.random.random() < 0.3 else found

    def _match(self, depth: int, loop: bool) -> list[str]:
        return [
            f"match {self.pick(1, 2)}:", "    case 1:", *("    " + line for line in self.inner(depth, loop)),
            "    case other:", *("    " + line for line in self.inner(depth, loop)),
        ]  # fmt: skip

    def _with(self, depth: int, loop: bool) -> list[str]:
        return ["with np.errstate(all='ignore'):", *self.inner(depth, loop)]


def text_of(seed: int) -> str:
    """The source of the function of a seed."""
    return _Maker(seed).text()


def function_of(seed: int, folder: Path) -> Callable[[float], float]:
    """The function of a seed, whose source stands in a file."""
    path = folder / f"flow_{seed}.py"
    path.write_text(f"import numpy as np\n\n\n{text_of(seed)}", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f  # type: ignore[no-any-return]


def trouble(seed: int, folder: Path) -> str:
    """Describe the fault of the function of a seed: "refused" if it cannot be compiled, empty if there is none."""
    import arignote as ag

    f = function_of(seed, folder)
    mine = ag.jit(f)
    for x in _NUMBERS:
        want = f(x)
        try:
            got = float(mine(x))
        except TypeError as error:
            return "refused" if _REFUSED.search(str(error)) else f"TypeError: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        if got != want:
            return f"f({x}) is {got}, in Python {want}"
    return ""


def try_seeds(seeds: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield each seed with what is wrong."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            yield seed, trouble(seed, Path(folder))


def run(full: bool) -> list[Row]:
    """At full size other functions than the small ones, too."""
    trials = Trials("G46", "functions of random branches, loops and jumps under ag.jit: as Python")
    refused = 0
    for seed, wrong in try_seeds(range(FUNCTIONS if full else SMALL)):
        refused += wrong == "refused"
        trials.check(wrong in ("", "refused"), f"python -m tests.campaign.values.flow {seed}: {wrong}")
    return [trials.row(f"{refused} refused")]


if __name__ == "__main__":
    for number, fault in try_seeds([int(seed) for seed in sys.argv[1:]]):
        print(text_of(number))
        print(f"# {number}: {fault or 'as Python'}")
