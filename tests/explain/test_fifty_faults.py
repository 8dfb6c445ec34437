"""Fifty planted faults, each reduced by `ag.bisect` to ten nodes and fifteen lines: wrong rules, and wrong C."""

import zlib

import numpy as np
import pytest
from prove.wrong_rules import WRONG
from rewriting import sample
from rule_trials import UNWRITABLE, Maker

import arignote as ag
from arignote import ops as T
from arignote.graph import Constant, leaves, rebuild

pytestmark = pytest.mark.long
MOST_NODES, MOST_LINES = 10, 15
DTYPES = ("float64", "float32", "int64", "uint8", "int8", "bool")
WRONG_C = {
    "np.tanh(x)": "x + 1.0", "np.exp(x)": "exp(x + x)", "np.sin(x)": "cos(x)", "np.abs(x)": "x", "np.floor(x)": "x - 1",
    "x * 3": "x * 2", "1 / (2 + x * x)": "1 / (2 + x)", "np.sqrt(x * x)": "x", "np.where(x > 0.3, x, 0)": "x",
}  # fmt: skip
FAULTS = [*(rule.name for rule in WRONG), *WRONG_C]


def test_there_are_fifty():
    assert len(set(FAULTS)) == 50


def assert_small(found):
    assert found is not None and found.nodes <= MOST_NODES and len(found.script().splitlines()) <= MOST_LINES, found


def program(rule, rng):
    """Inputs and outputs of a program in which the pattern of a rule stands between other nodes, or None."""
    before = Maker(rng, str(rng.choice(DTYPES))).build(rule.pattern)
    variables = [] if before is None else [v for v in leaves([before]) if not isinstance(v, Constant)]
    if not variables or before.owner is None or before.type.kind == "c":
        return None
    inputs = {v: T.tensor(v.name, v.dtype, v.type.shape) for v in variables}
    (value,) = rebuild([before], {v: around(i) for v, i in inputs.items()})
    wide = T.cast(value, "float64")
    return list(inputs.values()), [T.tanh(wide) * 2 + T.exp(wide * 0.5).sum(), value]


def programs(rule, rng):
    """Programs, endlessly; some patterns have no op for the dtypes that are drawn."""
    while True:
        try:
            made = program(rule, rng)
        except UNWRITABLE:
            continue
        if made is not None:
            yield made


def around(x):
    """The value of x, by way of other nodes."""
    return T.concatenate([x, T.flip(x, 0)], axis=0)[: x.shape[0]] if x.ndim else x


def reproducer_of(rule, rng):
    """The reproducer of the first program on which the rule is found."""
    mode = ag.Mode("fast_run", backend="numpy").register((rule, 0.3))
    for inputs, outputs in programs(rule, rng):
        f = ag.function(inputs, outputs, mode=mode, on_unused_input="ignore")
        arrays = [sample(rng, v.dtype, tuple(n or 4 for n in v.type.shape)) for v in inputs]
        for exact in (False, True):  # zeros of another sign are a change of bits
            verdict = ag.bisect(f, arrays, exact=exact)
            if verdict.rule == rule.name:
                return verdict.reproducer
    return None


@pytest.mark.parametrize("rule", WRONG, ids=lambda rule: rule.name)
def test_a_wrong_rule(rule):
    assert_small(reproducer_of(rule, np.random.default_rng(zlib.crc32(rule.name.encode()))))


@pytest.mark.parametrize("meaning", WRONG_C)
def test_wrong_c_of_an_op(meaning):
    function = eval(f"lambda x: {meaning}", {"np": np})
    wrong = ag.elementwise_op("wrong_in_c", function, c=WRONG_C[meaning], dtypes=["float64"])
    x, y = T.vector("x"), T.vector("y")
    f = ag.function([x, y], [T.exp(wrong(T.sin(x) * 2)) - y.sum(), T.cos(y)])
    verdict = ag.bisect(f, [np.linspace(-2.5, 1.0, 5), np.ones(2)])
    assert verdict.fault == "backend"
    assert_small(verdict.reproducer)
