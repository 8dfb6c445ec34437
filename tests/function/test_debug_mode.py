"""Mode DEBUG: a call whose result is wrong says which rewrite is at fault, with values."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.optdb import rule, stabilizes, wilds


def test_mode_debug_names_the_first_wrong_rule_its_values_and_bisect():
    u, v = wilds("u v")
    wrong = rule("wrong_on_purpose", T.logaddexp(u, v), T.add(u, v), contract=stabilizes)
    x, y, w = T.vector("x"), T.scalar("y"), ag.shared(np.ones(2), name="w")
    mode = ag.Mode("fast_run", backend="numpy", check=True).register((wrong, 0.3))
    f = ag.function([x, y], T.logaddexp(x, y) * w, updates=[(w, w + 1)], mode=mode)
    with pytest.raises(AssertionError) as error:
        f(np.array([0.0, 1.0]), 0.0)
    message = str(error.value)
    for part in (
        "output 0 differs from the NumPy meaning of the graph as it was built: 2 of 2 elements, 0.0 instead of 0.69",
        "the first wrong rewrite is number ", "made by wrong_on_purpose", 'mode.excluding("wrong_on_purpose")',
        "ag.bisect(f, inputs)",
    ):  # fmt: skip
        assert part in message, message
    scalar = ag.function([y], T.logaddexp(y, 0.0), mode=mode)
    with pytest.raises(AssertionError, match=r"1 of 1 element, 0.0 instead of 0.69"):
        scalar(0.0)


def test_mode_debug_blames_the_code_where_every_rewrite_is_right(monkeypatch):
    x = T.vector("x")
    f = ag.function([x], T.exp(x), mode=ag.Mode("fast_run", backend="numpy", check=True))
    monkeypatch.setattr(f, "_path", lambda values: np.ones(2))
    with pytest.raises(AssertionError, match=r"1 of 2 elements, 1.0 instead of 2.7.*\nevery rewrite is right"):
        f(np.array([0.0, 1.0]))
