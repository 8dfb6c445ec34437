"""The README is true: its Python blocks run, one after the other, and its commands exist."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.S)
PYTHON = [text for language, text in BLOCKS if language == "python"]
COMMANDS = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]


def test_python_blocks_run_in_order():
    scope = {"__name__": "readme"}
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        for number, text in enumerate(PYTHON):
            exec(compile(text, f"README block {number}", "exec"), scope)
    printed = output.getvalue()
    assert "canonicalize" in printed and "halve_twice: mul(mul(u, 0.5), 0.5) -> mul(u, 0.25)" in printed
    assert "x" in printed and "README block" in printed  # the error names the variable and the line


def run(*arguments):
    """What Python answers to a command line; whether it succeeded is for the caller to say."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("python -m")])
def test_commands_run(command):
    done = run(*shlex.split(command)[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("section", ["Run it", "Test it"])
def test_the_two_commands_set_up_everything(section):
    block = re.search(rf"## {section}\n.*?```sh\n(.*?)```", README, re.S).group(1)
    assert block.count("\n") == 1
    assert "pip install" in block and "venv" in block


def test_the_demonstration_reaches_its_accuracy(tmp_path):
    done = run("-m", "arignote", "demo", "--picture", str(tmp_path / "losses.svg"))
    assert (tmp_path / "losses.svg").read_text().count("<polyline") == 2
    assert done.returncode == 0, done.stdout + done.stderr
    assert float(re.search(r"accuracy of the perceptron: ([\d.]+)", done.stdout).group(1)) >= 0.95
    assert "Optimizing took" in done.stdout and "GB/s" in done.stdout and "ratio" in done.stdout
    assert len(done.stdout.splitlines()) < 90
