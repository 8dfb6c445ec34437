"""The code of README and docs: Python blocks run in order, one namespace a page; commands exist."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from draws import rarely_long

from arignote import tree
from arignote.engines.device.dialects import opencl as devices

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = {path.relative_to(ROOT).as_posix(): path for path in FILES}
PRINTED = {
    "README.md": ["README.md:", "local_log1p", "because the mode leaves fusion out"],
    "docs/tutorials/tour.md": ["canonicalize", "halve_twice: mul(mul(u, 0.5), 0.5) -> mul(u, 0.25)", "tour.md:"],
}
SLOW = {
    f"docs/howto/{name}.md"
    for name in (
        "build-a-network", "compute-in-16-bits", "derivatives-and-memory", "freeze-and-prune", "generate-text",
        "make-it-faster", "quantize-a-model", "run-a-numpy-program", "run-an-onnx-model", "run-on-dask",
        "several-engines",
    )
}  # fmt: skip
"""Pages whose programs take longer than a second: long tests."""


def blocks(path, language):
    """(first line, text) of each fenced block of a language."""
    text = path.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)
    return [(text.count("\n", 0, m.start()) + 2, m.group(1)) for m in found]


@pytest.mark.parametrize("page", rarely_long([n for n, path in PAGES.items() if blocks(path, "python")], SLOW))
def test_python_blocks_run_in_order(page, monkeypatch, tmp_path):
    if "onnx" in page:
        pytest.importorskip("onnx")
    if "deploy-anywhere" in page:
        pytest.importorskip("ziglang")
    if "dask" in page:
        pytest.importorskip("dask.array")
    if "several-engines" in page:
        pytest.importorskip("onnxruntime")
    if "opencl" in page and devices.trouble():
        pytest.skip(f"no OpenCL: {devices.trouble()}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tree, "_registered", dict(tree._registered))  # a page registers a class of its own
    scope = {"__name__": "page"}
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        for line, text in blocks(PAGES[page], "python"):
            exec(compile("\n" * (line - 1) + text, str(PAGES[page]), "exec"), scope)
    for expected in PRINTED.get(page, ()):
        assert expected in output.getvalue()


def run(*arguments):
    """The finished process of a Python command line."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def commands():
    """The commands of all pages that need no file and change nothing."""
    lines = {line for path in PAGES.values() for _, text in blocks(path, "sh") for line in text.splitlines()}
    return sorted(lines & {"python -m arignote doctor", "python -m arignote cache list"})


@pytest.mark.parametrize("command", commands())
def test_commands_run(command):
    done = run(*shlex.split(command)[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("section", ["Run it", "Test it"])
def test_the_two_commands_set_up_everything(section):
    block = re.search(rf"## {section}\n.*?```sh\n(.*?)```", README, re.S).group(1)
    assert block.count("\n") == 1
    assert "pip install" in block and "venv" in block


def test_the_readme_is_short():
    assert README.count("\n") <= 200


@pytest.mark.long
def test_the_demonstration_reaches_its_accuracy(tmp_path):
    done = run("-m", "arignote", "demo", "--picture", str(tmp_path / "losses.svg"))
    assert (tmp_path / "losses.svg").read_text().count("<polyline") == 2
    assert done.returncode == 0, done.stdout + done.stderr
    assert float(re.search(r"accuracy of the perceptron: ([\d.]+)", done.stdout).group(1)) >= 0.95
    assert "Optimizing took" in done.stdout and "GB/s" in done.stdout and "ratio" in done.stdout
    assert len(done.stdout.splitlines()) < 90
