"""Modes by name, and the mode that finds the first NaN or infinity."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.function.mode import as_mode

x = T.vector("x")


@pytest.mark.parametrize(
    ("text", "name"),
    [("debug", "DEBUG"), ("DebugMode", "DEBUG"), ("DEBUG_MODE", "DEBUG"), ("NanGuardMode", "NAN"), ("nan", "NAN"),
     ("fast_run", "FAST_RUN"), ("Fast_Compile", "FAST_COMPILE"), ("numpy", "NUMPY")],
)  # fmt: skip
def test_names_of_modes_and_of_theanos(text, name):
    assert as_mode(text).name == name
    ag.function([x], x + 1, mode=text)


@pytest.mark.parametrize(("mode", "query", "check"), [
    ("FAST_RUN -fusion", "fast_run -fusion", False), ("fast_run -fusion", "fast_run -fusion", False),
    ("DEBUG -fusion &exact", "fast_run &exact -fusion", True), ("DebugMode, <2", "fast_run <2.0", True),
    ("fast_compile unsafe fusion(fusion -inplace)", "fast_compile unsafe fusion(fusion -inplace)", False),
    (ag.Mode("FAST_COMPILE").including("unsafe"), "fast_compile unsafe", False),
    (ag.Mode("FAST_RUN"), "fast_run", False),
    (ag.Mode("FAST_RUN <2").asking("<1 -merge"), "fast_run -merge <1.0", False),
])  # fmt: skip
def test_a_query_may_begin_with_the_name_of_a_mode(mode, query, check):
    found = as_mode(mode)
    assert (str(found.optimizer), found.check) == (query, check)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: as_mode("-fusion"), "'-fusion' includes no tag, so nothing would run; use 'fast_run -fusion'"),
    (lambda: ag.Mode("&exact"), "includes no tag"), (lambda: as_mode("NUMPY -fusion"), "NUMPY runs no optimizer"),
    (lambda: ag.Mode("DEBUG"), r"DEBUG is no query; use mode='DEBUG', or ag.Mode\('fast_run', check=True\)"),
    (lambda: ag.Mode("NAN -fusion"), "use mode='NAN -fusion'"), (lambda: as_mode("fast_run -"), "cannot read '-'"),
])  # fmt: skip
def test_a_text_that_is_no_mode_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_an_unknown_name_lists_the_modes():
    with pytest.raises(ValueError, match="NAN"):
        ag.function([x], x, mode="FAST")


def test_the_first_nan_or_infinity_raises_with_its_line_and_operands():
    f = ag.function([x], T.where(x > 0, T.log(x), 0.0).sum(), mode="NAN")
    assert f(np.ones(2)) == 0 and f.backend == "c"
    with pytest.raises(FloatingPointError, match=r"(?s)function: first Inf in log\(x\).*test_modes.py.*float64\[2\]"):
        f(np.zeros(2))
    with pytest.raises(FloatingPointError, match="first NaN in log"):
        f(np.array([-1.0, 1.0]))
    assert np.isnan(f(np.array([np.nan]))) == np.isnan(T.where(x > 0, T.log(x), 0.0).sum().eval({x: [np.nan]}))


def test_updates_are_not_made_by_a_call_that_raises():
    w = ag.shared(np.ones(2), name="w")
    step = ag.function([x], None, updates=[(w, w / x)], mode="NAN")
    with pytest.raises(FloatingPointError, match="first Inf in true_div"):
        step(np.zeros(2))
    assert (w.get_value() == 1).all()
    step(np.full(2, 2.0))
    assert (w.get_value() == 0.5).all()
