"""Theano's names: which exist, which are refused, and that the documentation says so."""

import runpy
from pathlib import Path

import pytest

from arignote.frontends import theano
from arignote.frontends.theano import modules
from arignote.frontends.theano.refusals import REFUSED

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def made():
    return runpy.run_path(str(ROOT / "docs" / "make_theano.py"))


def test_the_tables_of_names_are_current(made):
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run `python docs/make_theano.py`"


def test_each_public_name_exists_or_is_refused_with_a_reason(made):
    for module, _, reasons, missing in made["sorted_out"](modules, REFUSED):
        assert not missing, module
        assert all(reasons), module


def test_refused_names_are_classes_that_say_why():
    for name, value in REFUSED.items():
        assert isinstance(value, type), name
        with pytest.raises(NotImplementedError, match=f"{name} is not available: "):
            value()
    with pytest.raises(NotImplementedError, match="convert by x"):
        theano.sparse.bsr_matrix("x")
    assert theano.sandbox.cuda.cuda_available is False
    assert theano.sandbox.cuda.dnn.dnn_available() is False


def test_names_that_do_not_exist_name_a_near_one():
    with pytest.raises(AttributeError, match="did you mean 'matrix'"):
        theano.tensor.matrixx  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'function'"):
        theano.functoin  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'floatX'"):
        theano.config.floatx = "float32"
    with pytest.raises(ValueError, match="expected one of 'float64', 'float32'"):
        theano.config.floatX = "float65"
