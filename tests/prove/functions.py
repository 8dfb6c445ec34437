"""Proofs of the functions of real programs: tests, tutorials, Theano programs, imported networks.

    python -m tests.prove.functions [GROUP ...] [--seconds S] [--most N]
    python -m tests.prove.functions tests --files tests/function tests/optdb

Each program runs for a while; the distinct rewrites of the functions that it compiles are kept, and proved.  The
results are kept in functions.json, from which docs/proofs.md has its second table.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import pickle
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import arignote as ag
from arignote.proving.proof import BOUNDED, PROVED, REFUTED, TESTED
from arignote.proving.prover import Prover

from . import LIBRARIES
from .recording import FOLDER, UNNAMED, Kept, kept, recording

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).with_name("functions.json")
RUN_SECONDS = 20
"""Seconds of processor time for which a program runs."""
MOST = 40
"""Distinct rewrites of a rule that are proved."""
SECONDS = 1.0
GRACE = 4
"""Times the seconds for a rewrite after which its process gives up: NumPy may be slow, and Z3 late."""
TESTS = "tests"
KINDS = (PROVED, BOUNDED, TESTED, REFUTED)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)


class _Over(BaseException):
    """The time of a program is over."""


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise _Over after so many seconds of processor time."""

    def ring(*_: Any) -> None:
        raise _Over

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run(program: Callable[[], Any], folder: Path) -> None:
    """Note what a program compiles until its time is over; one that fails is cut off there."""
    here = Path.cwd()
    try:
        with tempfile.TemporaryDirectory() as own, contextlib.redirect_stdout(io.StringIO()):
            os.chdir(own)
            with warnings.catch_warnings(), recording(folder), _within(RUN_SECONDS):
                warnings.simplefilter("ignore")
                program()
    except _Over:
        pass
    except Exception as error:  # an optional package is missing, or a block shows an error
        print(f"    cut off: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
    finally:
        os.chdir(here)


def run_tests(files: list[str], folder: Path) -> None:
    """Note what tests compile; what they hold is not asked here."""
    run_watched(files, "prove.recording", {FOLDER: str(folder)}, folder)


def run_watched(files: list[str], plugin: str, settings: dict[str, str], folder: Path, jobs: int = 2) -> None:
    """Run tests under a plugin of this package that watches what they compile."""
    path = os.pathsep.join(map(str, (ROOT, ROOT / "tests", *LIBRARIES)))
    own = ["--basetemp", str(folder / "pytest")]  # the parent may be a test, which leaves nothing elsewhere
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "-p", plugin, *own, *files]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path, **settings}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    print(f"    {(done.stdout.splitlines() or ['nothing ran'])[-1]}", flush=True)


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
    """Yield small modules and a sample of the networks for PyTorch, if it is installed."""
    try:
        import torch as package
        from torch_networks import difference
        from torch_zoo import TABLE, Network
    except ImportError:
        return
    nn, x = package.nn, package.rand(2, 5, 16)
    small = {
        "perceptron": (nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(), nn.Linear(32, 4), nn.Softmax(-1)), x),
        "convolutions": (
            nn.Sequential(
                nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3),
                nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4),
            ),
            package.rand(2, 3, 12, 12),
        ),
        "transformer": (nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), x),
        "recurrent": (nn.Sequential(nn.Embedding(9, 16), nn.GRU(16, 8, batch_first=True)), package.arange(8)[None]),
    }  # fmt: skip
    for name, (module, example) in small.items():
        yield name, lambda module=module, example=example: difference(Network(module, (example,)))
    for name in ("torchvision.squeezenet1_1", "torchvision.mobilenet_v3_small", "timm.vit_tiny_patch16_224"):

        def run(name: str = name) -> None:
            package.manual_seed(0)
            difference(TABLE[name]())

        yield name, run


GROUPS: dict[str, Callable[[], Iterator[tuple[str, Callable[[], Any]]]]] = {
    "tutorials": tutorials, "Theano programs": theano, "networks from ONNX": onnx, "networks from PyTorch": torch,
}  # fmt: skip


# --- proofs


def proved(found: Kept, seconds: float, most: int, jobs: int) -> dict[str, Any]:
    """The counts of a group, and by rule: rewrites, distinct ones, those of each status, the first reason."""
    rules: dict[str, dict[str, Any]] = {}
    tasks = []
    for key in sorted(found.parts):  # the order of digests is a random sample of each rule, the same in every run
        rule, part = found.parts[key]
        entry = rules.setdefault(rule, {"rewrites": 0, "distinct": 0, **dict.fromkeys(KINDS, 0), "reason": ""})
        entry["rewrites"] += found.seen[key]
        entry["distinct"] += 1
        if entry["distinct"] <= most:
            tasks.append((rule, part, seconds))
    for n, ((rule, _, _), (status, reason)) in enumerate(zip(tasks, _results(tasks, jobs), strict=True)):
        rules[rule][status] += 1
        if status in (TESTED, REFUTED):
            rules[rule]["reason"] = rules[rule]["reason"] or reason.splitlines()[0]
        if status == REFUTED:
            print(f"    {rule}: {reason}", flush=True)
        if n % 50 == 0:
            print(f"    {n} of {len(tasks)}", flush=True)
    counts = {k: sum(entry[k] for entry in rules.values()) for k in ("rewrites", "distinct", *KINDS)}
    return {"counts": {"functions": found.functions, **counts}, "rules": dict(sorted(rules.items()))}


def _results(tasks: list[Any], jobs: int) -> Iterator[tuple[str, str]]:
    """The status of each part, in order."""
    if jobs == 1:
        yield from map(_result, tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_result, tasks)


_PROVERS: dict[float, Prover] = {}


def _result(task: tuple[str, bytes | str, float]) -> tuple[str, str]:
    """The status of a part, and its reason."""
    _, part, seconds = task
    if isinstance(part, str):
        return TESTED, part
    prover = _PROVERS.setdefault(seconds, Prover(seconds))
    try:
        with _within(GRACE * seconds):
            steps = list(prover.part(pickle.loads(part)))
    except _Over:
        return TESTED, "time"
    except ModuleNotFoundError:
        return TESTED, UNNAMED
    except Exception as error:  # named and counted: a defect of the prover ends no run
        return TESTED, f"the prover fails: {type(error).__name__}: {error}"
    worst = max(steps, key=lambda step: KINDS.index(step.status), default=None)
    return (worst.status, worst.reason) if worst is not None else (PROVED, "")


def load() -> dict[str, Any]:
    """The results on file, by group."""
    return dict(json.loads(DATA.read_text())) if DATA.exists() else {}


def page(known: dict[str, Any]) -> str:
    """The part of docs/proofs.md on functions."""
    names = ("functions", "rewrites", "distinct", *KINDS)
    lines = [f"| programs | {' | '.join(names)} |", "|" + "---|" * (1 + len(names))]
    for group, found in known.items():
        shown = f"{group} ({found['of']})" if found.get("of") else group
        lines.append(f"| {shown} | {' | '.join(str(found['counts'][name]) for name in names)} |")
    total: dict[str, dict[str, Any]] = {}
    for found in known.values():
        for rule, entry in found["rules"].items():
            sums = total.setdefault(rule, dict.fromkeys(entry, 0) | {"reason": ""})
            for name, value in entry.items():
                sums[name] = sums[name] or value if name == "reason" else sums[name] + value
    lines += ["", '<div style="max-height: 80vh; overflow: auto">', ""]
    lines += [f"| rule | {' | '.join(names[1:])} | first reason without proof |", "|" + "---|" * (1 + len(names))]
    for rule, entry in sorted(total.items(), key=lambda item: (-item[1][REFUTED], -item[1][TESTED], item[0])):
        reason = entry["reason"]
        shown = reason if len(reason) <= 160 else f"{reason[:160]} ..."
        shown = shown.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")
        lines.append(f"| {rule} | {' | '.join(str(entry[name]) for name in names[1:])} | {shown} |")
    return "\n".join([*lines, "", "</div>"])


def main() -> int:
    groups = (TESTS, *GROUPS)
    parser = argparse.ArgumentParser(prog="python -m tests.prove.functions", description=__doc__)
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(groups)}; none: all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one rewrite, of processor time")
    parser.add_argument("--most", type=int, default=MOST, help="distinct rewrites of a rule")
    parser.add_argument("--files", nargs="+", default=["tests"], help="tests that run; by default all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    options = parser.parse_args()
    unknown = [g for g in options.groups if g not in groups]
    if unknown:
        parser.error(f"no group is named {', '.join(unknown)}; expected {', '.join(groups)}")
    known = load()
    for group in options.groups or groups:
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home)
            print(group, flush=True)
            if group == TESTS:
                run_tests(options.files, folder)
            else:
                for name, program in GROUPS[group]():
                    print(f"  {name}", flush=True)
                    run(program, folder)
            found = kept(folder)
        if not found.functions:
            continue
        known = load() | {group: proved(found, options.seconds, options.most, options.jobs)}
        share = [f"functions of {', '.join(options.files)}"] * (group == TESTS and options.files != ["tests"])
        share += [f"{options.most} rewrites of a rule"] * (options.most != MOST)
        if share:
            known[group]["of"] = ", ".join(share)
        print(f"  {known[group]['counts']}", flush=True)
        DATA.write_text(json.dumps({g: known[g] for g in groups if g in known}, indent=1) + "\n")
    return int(any(found["counts"][REFUTED] for found in known.values()))


if __name__ == "__main__":
    sys.exit(main())
