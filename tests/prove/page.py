"""The page docs/proofs.md: the verdict on each rule, from verdicts.json."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from arignote.optdb import Rule
from arignote.optdb.rules import default_db
from arignote.proving.check import BOUNDED, PROVED, REFUTED

from . import functions
from .verdicts import TESTED, Verdict, counted

PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"
HEAD = """# Proofs of rules

Written by `python -m tests.prove --page`, from the verdicts in `tests/prove/verdicts.json`. The command
`python -m tests.prove RULE` proves one rule again. The solver is [Z3](https://github.com/Z3Prover/z3).

| verdict | meaning |
|---|---|
| proved | Every instance holds for all values. An elementwise rule holds for all shapes, too. |
| bounded | Every instance holds for all values, within the stated bounds: lengths, integers, instances. |
| tested | There is no proof, for the stated reason. Random tests hold the rule to its contract. |
| refuted | NumPy confirms a counterexample. |

An instance is the rule on one choice of dtypes, ops and ranks. The instances cover each dtype in all places, each op
that the pattern admits, and mixed dtypes.

Theories:

- **bit-vectors**: integers of their own width and sign, with NumPy's shifts, divisions and casts.
- **floating point**: IEEE 754 with NaN, infinities, signed zeros and subnormal numbers. A format of 8 or 16 bits
  stands in for the dtype where the solver gives no answer in time.
- **reals**: real numbers, for contracts that allow rounding. All combinations of special values run in NumPy as well.

A function without a closed form, such as a sum of floats, is uninterpreted: equal operands give equal results. The
column of facts names each law that a proof uses. Errors are compared for powers of integers, checks and extrema of no
elements.

A change of a rule makes its verdict stale. `python -m tests.prove --changed` proves stale rules again.

"""

FUNCTIONS = """
## Functions

A rule is proved once, on instances. `mode="PROVE"` proves what it did to your function: each rewrite becomes two small
graphs, and the solver compares them. Bodies of loops and choices have steps of their own. Memory that is written in
place is checked in the order of the run.

```python
import arignote as ag
from arignote import ops as T

x = T.vector("x")
f = ag.function([x], T.log(1 + T.exp(x)) * 1, mode="PROVE")   # a refuted rewrite is an error
print(f.proof)                                                # also without the mode, or by ag.prove(f, seconds=10)
```

`python -m arignote opt graph.txt --prove` proves the rewrites of a graph in a file.

| status | meaning |
|---|---|
| proved | The two graphs are the same ops on the same operands, or the solver finds no difference for any values. |
| bounded | The same for all values, on arrays of the stated lengths. |
| tested | There is no proof, for the stated reason. The results on drawn values agree. |
| refuted | NumPy confirms a counterexample. |

A random draw is an unknown function of its state, its lengths and its parameters: equal draws are equal, and nothing
else is known. Code of a user has no meaning here; rewrites around it are counted as tested.

The tables count the rewrites of real programs. A rewrite is a rule with the parts of the graph around it; equal ones
are one, up to the names of inputs. At most some distinct rewrites of each rule are proved: a sample by digest, the same
in every run. `python -m tests.prove.functions` runs the programs again, and `python -m tests.prove.functions tests`
runs all tests. `python -m tests.prove.ends` runs them too, and checks for each function that its rewrites lead to the
graph that runs.

"""


def page(known: Mapping[str, Verdict]) -> str:
    """The text of the page."""
    box = '<div style="max-height: 80vh; overflow: auto">\n\n'
    return (
        HEAD
        + summary(known)
        + "\n\n"
        + box
        + table(known)
        + "\n\n</div>\n"
        + FUNCTIONS
        + functions.page(functions.load())
        + "\n"
    )


def summary(known: Mapping[str, Verdict]) -> str:
    """The numbers of rules, patterns and entries of the database with each verdict."""
    entries = [e.name for e in default_db().entries() if isinstance(e.object, Rule)]
    lines = ["| | proved | bounded | tested | refuted | all |", "|---|---|---|---|---|---|"]
    groups = {
        "rules with a pattern": [v for v in known.values() if v.pattern],
        "rules with a function": [v for v in known.values() if not v.pattern],
        "all rules": list(known.values()),
        "entries, a rule once in each database": [known[name] for name in entries if name in known],
    }
    for name, verdicts in groups.items():
        count = counted(verdicts)
        cells = [str(count[kind]) for kind in (PROVED, BOUNDED, TESTED, REFUTED)]
        lines.append(f"| {name} | {' | '.join(cells)} | {len(verdicts)} |")
    return "\n".join(lines)


def table(known: Mapping[str, Verdict]) -> str:
    """One row a rule."""
    lines = [
        "| rule | verdict | contract | theory | bounds or reason | facts | instances | seconds |",
        "|" + "---|" * 8,
    ]
    for name in sorted(known):
        v = known[name]
        cells = [
            name, v.verdict, v.contract, v.theory, v.reason or "; ".join(v.bounds), "; ".join(v.facts),
            str(v.instances), f"{v.seconds:g}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(_cell(c) for c in cells)} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Text that stands in a cell of a table."""
    shown = text if len(text) <= 200 else f"{text[:200]} ..."
    return shown.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("[", "\\[")
