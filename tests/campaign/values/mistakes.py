"""Bad inputs: each is refused before anything is computed, in at most three lines that say who, what, and the mend."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

import arignote as ag
from arignote import ops as T

from ..scorecard import Row, Trials

LINES = 3
HERE = Path(__file__).name
_FOREIGN = re.compile(r"ufunc|broadcast together|AttributeError|object has no attribute|cffi|NoneType' object")
_QUOTED = re.compile(r"\s*(\^[\^ ]*$|> )")
"""The user's own code under a message, and the marks under guilty operands: they are no lines of the message."""

Mistake = tuple[str, Callable[[], object], str]
"""A mistake: its name, a call that makes it, and words of the message beside the name of the function."""


class Sparse:
    """Stands for the sparse matrices of other packages."""

    def toarray(self) -> np.ndarray:
        return np.eye(3)

    def __repr__(self) -> str:
        return "<Compressed Sparse Row\n matrix>"


def arguments(mode: str) -> Iterator[Mistake]:
    """Values that are no array of the dtype, rank and lengths that the input promises."""
    x, k, s = T.matrix("x"), T.ivector("k"), T.tensor("s", "float32", (None, 3))
    f = ag.function([x, k, s], [x * 2, k + 1, s.sum()], name="model", mode=mode)
    good = {"x": np.ones((2, 3)), "k": np.arange(3, dtype="int32"), "s": np.ones((2, 3), "float32")}
    wrong: list[tuple[str, object]] = [
        ("x", None), ("x", "abc"), ("x", b"abc"), ("x", object()), ("x", {1: 2}), ("x", {1, 2}),
        ("x", [[1.0], [1.0, 2]]),
        ("x", np.ones((2, 3), object)), ("x", np.ones((2, 3), "U3")), ("x", np.ones((2, 3), "datetime64[s]")),
        ("x", np.ones((2, 3), "timedelta64[s]")), ("x", np.zeros((2, 3), [("a", "f8")])), ("x", iter([1.0])),
        ("x", np.ma.masked_array(good["x"], good["x"] > 0)), ("x", T.matrix("z")), ("x", Sparse()), ("x", 3.0),
        ("x", np.ones(3)), ("x", np.ones((1, 2, 3))), ("x", good["x"] * 1j), ("x", good["x"].astype("longdouble")),
        ("x", [[Decimal(1), Fraction(1, 2)]]), ("x", lambda: 0), ("x", np.ones((2, 3), "V8")),
        ("k", np.arange(3)), ("k", np.arange(3.0)), ("k", np.arange(3, dtype="uint32")), ("k", [1.5]), ("k", [2**40]),
        ("k", [10**30]), ("k", 7), ("k", [[1]]),
        ("s", np.ones((2, 3))), ("s", np.ones((2, 4), "float32")), ("s", np.ones((2, 3), "int32")), ("s", [1.0]),
    ]  # fmt: skip
    for name, value in wrong:
        position = list(good).index(name)
        given = {**good, name: value}
        fix = r".*use x\.toarray\(\)" if isinstance(value, Sparse) else ""
        says = rf"argument {position} \({name}\): expected .*, got {fix}"
        yield f"{name} = {value!r}"[:60], (lambda g=given: f(*g.values())), says
    yield "one too few", (lambda: f(good["x"], good["k"])), r"argument 2 \(s\) is missing; expected float32"
    yield "one too many", (lambda: f(*good.values(), 1)), r"takes 3 arguments \(x, k, s\), got 4"
    yield "another name", (lambda: f(**good, z=1)), r"no input is named 'z'; the inputs are: x, k, s"
    yield "twice", (lambda: f(good["x"], **good)), r"input 0 \(x\) is given by position and by name"


def shapes(mode: str) -> Iterator[Mistake]:
    """Values that do not fit one another: the operands, their shapes, and the line."""
    x, y, m, n = T.vector("x"), T.vector("y"), T.matrix("m"), T.matrix("n")
    i, k = T.lscalar("i"), T.lvector("k")
    line = rf".*built at .*{re.escape(HERE)}:\d+"
    three, four, flat, wide = np.ones(3), np.ones(4), np.ones((2, 3)), np.ones((4, 5))
    cases = [
        ("added", [x, y], T.exp(x) + y, (three, four), r"lengths 3 and 4 .*axis 0: .*\(3,\), y \(4,\)"),
        ("multiplied", [m, y], m * y, (flat, four), r"lengths 3 and 4 .*axis 1: m \(2, 3\), y \(4,\)"),
        ("product", [m, n], m @ n, (flat, wide), r"lengths 3 and 4 .*m \(2, 3\), n \(4, 5\)"),
        ("vector product", [m, y], m @ y, (flat, four), r"lengths 3 and 4 .*m \(2, 3\), y \(4,\)"),
        ("joined", [m, n], T.concatenate([m, n]), (flat, wide), r"lengths 3 and 5 .*m \(2, 3\), n \(4, 5\)"),
        ("reshaped", [x, i], T.reshape(x, (i, 2)), (three, 2), r"x of shape \(3,\) has 3 elements, not the 4"),
        ("set", [x, y], T.set_subtensor(x[:2], y), (three, four), r"x \(3,\), y \(4,\)"),
        ("index", [x, i], x[i], (three, 3), r"index 3 is out of bounds for axis 0 of x with size 3"),
        ("indices", [x, k], x[k], (three, np.array([0, -4])), r"index -4 is out of bounds for axis 0 of x with size 3"),
        ("nothing", [m], T.max(m, axis=0), (np.ones((0, 3)),), r"maximum or minimum of no elements.*"),
        ("negative length", [i], T.zeros((i, 3)), (-1,), r"a length is negative \(-1\)"),
        ("negative power", [k], k ** -k, (np.array([2]),), r"negative integer powers are not allowed; cast"),
    ]  # fmt: skip
    for what, inputs, output, values, says in cases:
        f = ag.function(inputs, output, name="model", mode=mode)
        yield what, (lambda f=f, v=values: f(*v)), says + r"[^\n]*\n" + line


def complaint(mistake: Callable[[], object], says: str) -> str:
    """Fault of the message of a mistake; "" if it is good."""
    try:
        found = mistake()
    except (TypeError, ValueError, IndexError) as error:
        text = str(error)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    else:
        return f"accepted: {found!r}"
    if not text.startswith("model: "):
        return f"does not begin with the function: {text}"
    own = [line for line in text.splitlines() if not _QUOTED.match(line)]
    if len(own) > LINES or _FOREIGN.search(text):
        return f"long, or not in our words: {text}"
    return "" if re.search(says, text, re.S) else f"says {text!r}, not {says!r}"


def run(full: bool) -> list[Row]:
    trials = Trials("G20", "bad inputs: refused in at most three lines, with who, expected, got, mend")
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for what, mistake, says in (*arguments(mode), *shapes(mode)):
                found = complaint(mistake, says)
                trials.check(not found, f"{mode}: {what}: {found}")
    return [trials.row(f"{trials.count // 2} mistakes, two modes")]
