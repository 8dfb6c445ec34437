"""Proofs of the functions of real programs: the tutorials, the Theano programs, imported networks.

    python -m tests.prove.functions [GROUP ...] [--seconds S] [--most N]

Each program runs for a while; the functions that it compiles are caught and proved.  The results are kept in
functions.json, from which docs/proofs.md has its second table.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import os
import re
import runpy
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import arignote as ag
from arignote.function import function as functions
from arignote.proving.proof import BOUNDED, PROVED, REFUTED, TESTED, StepProof
from arignote.proving.prover import Prover

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).with_name("functions.json")
RUN_SECONDS = 20
"""Seconds of processor time for which a program runs; compilers run meanwhile, and NumPy in place of their C."""
MOST = 6
"""Functions of a program that are proved, the first ones."""
SECONDS = 1.0
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)


class _Over(BaseException):
    """The time of a program is over."""


def caught(program: Callable[[], Any]) -> list[Any]:
    """The functions that a program compiles until its time is over; one that fails is cut off there."""
    found: list[Any] = []
    compiled = functions._compiled

    def keep(*args: Any) -> Any:
        made = compiled(*args)
        found.append(made)
        return made

    def ring(*_: Any) -> None:
        raise _Over

    functions._compiled = keep
    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, RUN_SECONDS)
    here = Path.cwd()
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            os.chdir(folder)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program()
    except _Over:
        pass
    except Exception as error:  # an optional package is missing, or a block shows an error
        print(f"    cut off: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        os.chdir(here)
        functions._compiled = compiled
    return found


def tutorials() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the Python blocks of each tutorial, as one program."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))):
        text = path.read_text(encoding="utf-8")

        def run(text: str = text) -> None:
            scope = {"__name__": "page"}
            for block in BLOCK.findall(text):
                exec(compile(block, "page", "exec"), scope)

        yield path.stem, run


def theano() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the programs written for Theano."""
    from arignote.frontends import theano as front

    folder = ROOT / "examples" / "theano"
    for path in sorted(folder.glob("*.py")):
        if path.stem == "digits":
            continue

        def run(path: Path = path) -> None:
            front.install()
            sys.path.insert(0, str(folder))
            runpy.run_path(str(path))["run"]()

        yield path.stem, run


def onnx() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield a sample of the networks in the package onnx."""
    from onnx.backend.test.loader import load_model_tests

    for case in load_model_tests(kind="pytorch-converted")[::4]:
        path = str(Path(case.model_dir) / "model.onnx")
        yield case.name, lambda path=path: ag.from_onnx(path).function()


def torch() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield a sample of the networks for PyTorch, if it is installed."""
    try:
        import torch as package
        import torch_networks
    except ImportError:
        return
    makers = {**torch_networks.torchvision_models(), **torch_networks.hugging_face_models()}
    for name in ("squeezenet1_1", "mobilenet_v3_small", "resnet18", "hf/bert", "hf/llama", "hf/vit", "hf/t5"):

        def run(name: str = name) -> None:
            package.manual_seed(0)
            torch_networks.difference(*makers[name]())

        yield name, run


GROUPS: dict[str, Callable[[], Iterator[tuple[str, Callable[[], Any]]]]] = {
    "tutorials": tutorials, "Theano programs": theano, "networks from ONNX": onnx, "networks from PyTorch": torch,
}  # fmt: skip


def proved(group: str, seconds: float, most: int) -> Iterator[dict[str, Any]]:
    """Yield after each program the counts of a group, and by rule (rewrites, those without proof, the first reason)."""
    counts: Counter[str] = Counter()
    rules: dict[str, list[Any]] = {}
    prover = Prover(seconds)
    for name, program in GROUPS[group]():
        print(f"{group}: {name}", flush=True)
        mine: Counter[str] = Counter()
        for f in itertools.islice((f for f in caught(program) if f.journal), most):
            counts["functions"] += 1
            for step in prover.journal(f.unoptimized_graph, f.journal, f.graph):
                mine[step.status] += 1
                _count(rules, step)
                if step.status == REFUTED:
                    print(f"    {step}", flush=True)
        counts += mine
        print(f"    {dict(mine)}", flush=True)
        yield {"counts": dict(counts), "rules": rules}


def _count(rules: dict[str, list[Any]], step: StepProof) -> None:
    entry = rules.setdefault(step.rule, [0, 0, ""])
    entry[0] += 1
    if step.status in (TESTED, REFUTED):
        entry[1] += 1
        entry[2] = entry[2] or step.reason.splitlines()[0]


def load() -> dict[str, Any]:
    """The results on file, by group."""
    return dict(json.loads(DATA.read_text())) if DATA.exists() else {}


def page(known: dict[str, Any]) -> str:
    """The part of docs/proofs.md on functions."""
    kinds = (PROVED, BOUNDED, TESTED, REFUTED)
    lines = [f"| programs | functions | rewrites | {' | '.join(kinds)} |", "|" + "---|" * 7]
    for group, found in known.items():
        counts = found["counts"]
        cells = [
            group,
            counts.get("functions", 0),
            sum(counts.get(k, 0) for k in kinds),
            *(counts.get(k, 0) for k in kinds),
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    total: dict[str, list[Any]] = {}
    for found in known.values():
        for rule, (n, without, reason) in found["rules"].items():
            entry = total.setdefault(rule, [0, 0, ""])
            total[rule] = [entry[0] + n, entry[1] + without, entry[2] or reason]
    lines += [
        "",
        "Rules with rewrites that are not proved:",
        "",
        "| rule | rewrites | without proof | first reason |",
        "|---|---|---|---|",
    ]
    for rule, (n, without, reason) in sorted(total.items(), key=lambda item: (-item[1][1], item[0])):
        if without:
            shown = reason if len(reason) <= 160 else f"{reason[:160]} ..."
            shown = shown.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")
            lines.append(f"| {rule} | {n} | {without} | {shown} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove.functions", description=__doc__)
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)}; none: all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one rewrite, of processor time")
    parser.add_argument("--most", type=int, default=MOST, help="functions of a program")
    options = parser.parse_args()
    unknown = [g for g in options.groups if g not in GROUPS]
    if unknown:
        parser.error(f"no group is named {', '.join(unknown)}; expected {', '.join(GROUPS)}")
    os.environ.setdefault("ARIGNOTE_COMPILE_BUDGET", "0")
    known = load()
    for group in options.groups or GROUPS:
        for found in proved(group, options.seconds, options.most):
            known = load() | ({group: found} if found["counts"] else {})
            DATA.write_text(json.dumps({g: known[g] for g in GROUPS if g in known}, indent=1) + "\n")
    return int(any(found["counts"].get(REFUTED, 0) for found in known.values()))


if __name__ == "__main__":
    sys.exit(main())
