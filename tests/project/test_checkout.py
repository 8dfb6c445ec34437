"""A checkout as a package: links put its folders together, and any number of environments install it in place."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import _cffi_backend  # noqa: F401  # for its path
import numpy as np
import pytest
import threadpoolctl  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
BESIDE = ("cbackend", "engines", "frontends", "graph", "ops", "optdb", "pages", "profiling", "record", "scaleout",
          "targets")  # fmt: skip
USE = """\
import inspect, sys
import arignote as ag
from arignote import ops as T
from arignote.graph import provenance

x = T.vector("x")
print(T.exp(x).owner.origin[0], ag.__file__)
print(inspect.getsourcefile(provenance), inspect.getsource(provenance).count("def here"))
outer = ag.__file__.removesuffix("__init__.py")
print([n for n, m in sys.modules.items() if n.startswith("arignote.") and not str(m.__file__).startswith(outer)])
"""


def used(python, folder, packages, **variables):
    """The lines that a program prints which uses the package from `folder`, with bytecode written."""
    (folder / "use.py").write_text(USE)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHONDONT", "PYTHONPYCACHE"))}
    command = [python, "use.py"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=120,
        env=environment | {"PYTHONPATH": os.pathsep.join(map(str, packages))} | variables,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_each_folder_is_a_link_to_one_beside_the_package():
    links = {path.name: os.readlink(path) for path in (ROOT / "arignote").iterdir() if path.is_symlink()}
    assert links == {name: f"../{name}" for name in BESIDE}
    assert os.readlink(ROOT / "src" / "arignote") == "../arignote"


@pytest.mark.parametrize("way", [".", "src"])
def test_all_modules_lie_in_one_tree_and_lines_are_the_users(way, tmp_path):
    line, source, elsewhere = used(sys.executable, tmp_path, [ROOT / way])
    outer = os.path.abspath(ROOT / way / "arignote")
    assert line == f"use.py:7 {outer}/__init__.py"
    assert source == f"{outer}/graph/provenance.py 1"
    assert elsewhere == "[]"


def test_both_ways_to_a_checkout_have_one_key_in_the_cache(tmp_path):
    asked = "import arignote\nfrom arignote.record.package import identity\nprint(identity())"
    reported = {
        subprocess.run([sys.executable, "-c", asked], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT / way)},
                       capture_output=True, text=True, check=True, timeout=120).stdout
        for way in (".", "src")
    }  # fmt: skip
    assert len(reported) == 1 and "None\n" not in reported


def test_a_clone_without_links_says_how_to_get_them(tmp_path):
    shutil.copyfile(ROOT / "setup.py", tmp_path / "setup.py")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "arignote").write_text("../arignote")  # as git writes links where it makes none
    command = [sys.executable, "setup.py", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "git clone -c core.symlinks=true" in done.stderr


@pytest.mark.long
def test_two_environments_install_one_checkout(tmp_path):
    left_out = shutil.ignore_patterns(".git", ".venv*", "__pycache__", "*.egg-info", ".*_cache", "prebuilt")
    checkout = shutil.copytree(ROOT, tmp_path / "checkout", symlinks=True, ignore=left_out)
    sites = {Path(sys.modules[name].__file__).parent for name in ("_cffi_backend", "threadpoolctl")}
    sites.add(Path(np.__file__).parent.parent)
    pythons = [tmp_path / name / "bin" / "python" for name in ("first", "second")]
    for python in pythons:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", python.parent.parent], check=True, timeout=120)
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "-e", checkout],
            capture_output=True, text=True, check=False, timeout=600, env=os.environ | {"CC": "/bin/false"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        for each in pythons[: pythons.index(python) + 1]:
            line, _, elsewhere = used(each, tmp_path, sites)
            assert line == f"use.py:7 {checkout}/src/arignote/__init__.py" and elsewhere == "[]"
    assert (checkout / "graph" / "__pycache__").is_dir()
