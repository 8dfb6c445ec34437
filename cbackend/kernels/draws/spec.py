"""The call of draws by NumPy's own C functions."""

from __future__ import annotations

from enum import IntEnum

from .. import DRAWS, READ, WRITE, KernelSpec, array, flag, length


class Distribution(IntEnum):
    """The distributions, in the order of their functions behind the bit generator (runtime/draws.py)."""

    NORMAL = 0
    UNIFORM = 1
    GAMMA = 2
    BETA = 3
    LOGNORMAL = 4
    LAPLACE = 5
    LOGISTIC = 6
    VONMISES = 7
    WALD = 8
    EXPONENTIAL = 9
    WEIBULL = 10
    TRIANGULAR = 11
    POISSON = 12
    GEOMETRIC = 13
    HALFNORMAL = 14
    BINOMIAL = 15
    INTEGERS = 16


ENUMS = (Distribution,)

SPECS = (
    DRAW := KernelSpec(
        "draw",
        "count samples y of a distribution, by NumPy's functions, and the state after them.  A step is 0 or 1: a "
        "parameter is one number, or has as many as there are samples.",
        (
            flag("distribution"),
            length("count"),
            length("words", "length of the state"),
            array("state", READ, c="i64"),
            array("first", READ),
            length("first_step"),
            array("second", READ, optional=True),
            length("second_step"),
            array("third", READ, optional=True),
            length("third_step"),
            array("y", WRITE),
            array("after", WRITE, c="i64"),
        ),
        DRAWS, "draw_samples", fails=("PROMISED",),
    ),
)  # fmt: skip
