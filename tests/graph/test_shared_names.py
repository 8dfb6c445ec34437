"""Default names of shared variables: the target of the assignment, else shared_0, shared_1, ..."""

import linecache

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T


def made(code):
    """Value that the code assigns to `found`."""
    file = f"<code {hash(code)}>"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    scope = {"ag": ag, "shared": ag.shared, "T": T, "box": type("Box", (), {}), "p": {}}
    exec(compile(code, file, "exec"), scope)
    return scope["found"]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("w = ag.shared(1.0)\nfound = w", "w"),
        ("w: object = shared([1.0, 2.0])\nfound = w", "w"),
        ("def init():\n    box.weights = ag.shared(1.0)\ninit()\nfound = box.weights", "weights"),
        ("p['bias'] = ag.shared(1.0)\nfound = p['bias']", "bias"),
        ("w = ag.shared(1.0, name='other')\nfound = w", "other"),
        ("w = v = ag.shared(1.0)\nfound = w", None),
        ("w, v = ag.shared(1.0), ag.shared(2.0)\nfound = w", None),
        ("w = [ag.shared(1.0)]\nfound = w[0]", None),
        ("p['two words'] = ag.shared(1.0)\nfound = p['two words']", None),
        ("w = ag.shared(1.0) + 1\nfound = w.owner.inputs[0]", None),
        ("w = ag.shared(\n    1.0\n)\nfound = w", None),
        ("w = T.exp(ag.shared(1.0))\nfound = w.owner.inputs[0]", None),
    ],
)  # fmt: skip
def test_the_name_is_what_the_line_plainly_assigns_to(code, name):
    assert made(code).name == name


def test_code_that_cannot_be_read_gives_no_name():
    scope = {"ag": ag}
    exec("w = ag.shared(1.0)", scope)
    assert scope["w"].name is None


def test_those_without_name_are_numbered_in_texts_pictures_and_profiles():
    x = T.matrix("x")
    layers = [ag.shared(np.full((3, 3), 0.5)) for _ in range(2)]
    f = ag.function([x], T.tanh(x @ layers[0]) @ layers[1], profile=True)
    f(np.ones((2, 3)))
    assert "dot(x, shared_0)" in str(f.unoptimized_graph) and "shared_1: float64[?, ?]" in str(f.graph)
    assert ">shared_1<" in f.graph._repr_html_()
    assert "(v0, shared_1)" in " ".join(s.text for s in f.profile.steps)
    with pytest.raises(ValueError, match="x \\(2, 4\\), a shared variable \\(3, 3\\)"):
        f(np.ones((2, 4)))
