"""Editors and type checkers see the package as it is installed: names complete, results have types, docs show.

The tools are the extra `editors`; a test is skipped where its tool is missing.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

PROGRAM = """\
import arignote as ag
from arignote import ops as T

x = T.vector("x")
y = T.exp(x)
"""
TYPES = {
    "y": "TensorVariable",
    "y + 1": "TensorVariable",
    "2 * y[1:]": "TensorVariable",
    "T.sum(y)": "TensorVariable",
    "y.sum().astype('float32')": "TensorVariable",
    "T.fvector('v')": "TensorVariable",
    "T.nn.softmax(y)": "TensorVariable",
    "T.where(y > 0, y, 0)": "TensorVariable",
    "ag.shared(1.0)": "SharedVariable",
    "ag.grad(T.sum(y), x)": "TensorVariable",
    "ag.grad(T.sum(y), [x])": "list[TensorVariable]",
    "ag.function([x], y)": "Function",
    "ag.function([x], y).profile": "RunProfile",
    "ag.freeze(y)": "Function",
}
"""Expressions, and the names of their types."""


def needs(tool):
    return pytest.mark.skipif(importlib.util.find_spec(tool) is None, reason=f"no {tool}: pip install -e '.[editors]'")


def revealed(folder):
    """A program that asks a type checker for the types, and its lines by number."""
    path = folder / "program.py"
    path.write_text(PROGRAM + "".join(f"reveal_type({expression})\n" for expression in TYPES))
    return path, {PROGRAM.count("\n") + 1 + k: expression for k, expression in enumerate(TYPES)}


def short(name):
    """The name of a type without modules."""
    return re.sub(r"\b(\w+\.)+(?=\w)", "", name)


ASK_JEDI = """\
import json, sys
import jedi

program, *ends = json.load(sys.stdin)
here = jedi.create_environment(sys.prefix, safe=False)
answers = []
for end in ends:
    script = jedi.Script(program + end, environment=here)
    signatures = end.endswith("(")
    found = [s.to_string() for s in script.get_signatures()] if signatures else [c.name for c in script.complete()]
    answers.append(found)
print(json.dumps(answers))
"""


@needs("jedi")
def test_jedi_completes_names_and_shows_parameters(tmp_path):
    ends = ["T.ex", "y.s", "ag.", "T.exp(", "ag.function("]
    told = run([sys.executable, "-c", ASK_JEDI], tmp_path, text=json.dumps([PROGRAM, *ends]))
    functions, methods, names, exp, function = json.loads(told)
    assert {"exp", "exp2", "expm1"} <= set(functions)
    assert {"sum", "shape", "sort", "std"} <= set(methods)
    assert {"grad", "function", "quantize"} <= set(names)
    assert exp[0].endswith("(x: TensorLike) -> TensorVariable")
    assert "updates" in function[0]


@needs("basedpyright")
def test_pyright_knows_the_types(tmp_path):
    path, lines = revealed(tmp_path)
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, str(path)]
    told = json.loads(run(command, tmp_path))["generalDiagnostics"]
    assert not [d["message"] for d in told if d["severity"] == "error"]
    types = {lines[d["range"]["start"]["line"] + 1]: d["message"] for d in told if d["severity"] == "information"}
    assert {e: re.search(r'is "(.*)"', message).group(1).split(" | ")[0] for e, message in types.items()} == TYPES


@needs("mypy")
def test_mypy_knows_the_types(tmp_path):
    path, lines = revealed(tmp_path)
    command = [sys.executable, "-m", "mypy", "--python-executable", sys.executable, "--cache-dir", tmp_path / "cache"]
    told = re.findall(r':(\d+): note: Revealed type is "(.*)"', run([*command, str(path)], tmp_path))
    assert {lines[int(line)]: short(name).split(" | ")[0] for line, name in told} == TYPES


@needs("basedpyright")
def test_nearly_all_names_have_types(tmp_path):
    environment = str(Path(sys.executable).parent)
    told = run(
        [sys.executable, "-m", "basedpyright", "--verifytypes", "arignote", "--ignoreexternal"], tmp_path, environment
    )
    score = float(re.search(r"Type completeness score: ([\d.]+)%", told).group(1))
    assert score >= 95, "\n".join(line for line in told.splitlines() if "error:" in line)[:4000]


def run(command, folder, environment=None, text=""):
    """Output of a command that runs outside the checkout, as in editors."""
    path = {"PATH": f"{environment}:{os.environ['PATH']}"} if environment else {}
    done = subprocess.run(
        [str(part) for part in command], input=text, capture_output=True, text=True, cwd=folder, timeout=300,
        check=False, env={**os.environ, **path},
    )  # fmt: skip
    return done.stdout
