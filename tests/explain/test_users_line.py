"""Errors, warnings and nodes name the user's line, whichever of our folders stand between it and their origin."""

import os
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph.provenance import here
from arignote.notices import notice
from arignote.optdb import OptimizerWarning
from arignote.record.frames import PACKAGE, warn

FOLDERS = [
    os.path.relpath(folder, PACKAGE)
    for folder, _, files in os.walk(PACKAGE, followlinks=True)
    if any(name.endswith(".py") for name in files) and not folder.endswith("demo")  # a program as users write them
]


def ours(folder):
    """A function that calls another one, whose code stands in a file of one of our folders."""
    space = {"contextmanager": contextmanager}
    text = "def run(call): return call()\n@contextmanager\ndef managed(call):\n    yield call()\n"
    exec(compile(text, str(Path(PACKAGE, folder, "unwritten.py")), "exec"), space)
    return space["run"], space["managed"]


def number_of(text):
    """The line of this file that ends in a comment."""
    return next(n for n, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.endswith(f"# {text}"))


def test_all_folders_are_found():
    assert {"record", "targets", "pages", "graph", "engines", "optdb/rules", "cbackend/calls"} <= set(FOLDERS)


def test_nodes_have_the_line_of_the_user():
    for folder in FOLDERS:
        run, managed = ours(folder)
        ((file, line, _),) = run(here)  # a node
        with managed(here) as ((among, of_block, _),):  # a block
            pass
        assert (file, line) == (__file__, number_of("a node")), folder
        assert (among, of_block) == (__file__, number_of("a block")), folder


def test_warnings_point_at_the_line_of_the_user():
    for folder in FOLDERS:
        run, _ = ours(folder)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            run(partial(notice, f"noticed in {folder}"))
            run(partial(warn, f"warned in {folder}"))
        assert len(found) == 2 and {w.filename for w in found} == {__file__}, folder


def test_errors_name_the_line_of_the_user():
    x, y = T.vector("x", shape=(2,)), T.vector("y", shape=(3,))
    for folder in FOLDERS:
        run, _ = ours(folder)
        with pytest.raises(ValueError, match=rf"test_users_line.py:{number_of('a sum')}"):
            run(partial(T.add, x, y))  # a sum


@pytest.mark.usefixtures("lenient")
def test_warnings_of_the_library_point_at_the_line_of_the_user():
    def wrong(graph):
        raise ArithmeticError("planted")

    x = T.vector("x")
    with pytest.warns(OptimizerWarning, match="wrong failed") as found:
        ag.function([x], x + 1, mode=ag.Mode("merge", backend="numpy").register((wrong, 0)))
    assert {w.filename for w in found} == {__file__}
    with pytest.warns(UserWarning, match="nothing depends on x") as found:
        ag.function([x], T.constant(1.0), on_unused_input="warn", mode="NUMPY")
    assert {w.filename for w in found} == {__file__}
