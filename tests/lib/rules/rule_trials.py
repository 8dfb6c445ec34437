"""Random graphs on which a rule fires, run by NumPy before and after: what the tests and the campaign hold rules by.

A rule with a pattern gets graphs made from the pattern: wild cards become variables of random dtypes and shapes,
numbers constants of weak and strong dtypes and of shapes that broadcast.  A rule with a function gets its examples
(rule_rows*.py) with other dtypes, lengths, constants and operands.  Data has NaN, infinities, signed zeros, subnormal
numbers and the extremes of integers.
"""

import importlib
import itertools
import zlib
from pathlib import Path

import numpy as np
from contracts import farther_from_truth
from rewriting import graph_of, rewritten, sample, tame
from truths import true_array, true_summands

from arignote import ops as T
from arignote.graph import DTYPES, Constant, leaves, rebuild
from arignote.ops.elementwise.records import ELEMENTWISE, Cast, Elementwise, from_bfloat16, to_bfloat16
from arignote.ops.linalg.blas import BlasOp, Dot
from arignote.ops.nn import LogSoftmax, Softmax
from arignote.ops.reductions.reduce import REDUCTIONS, ArgReduce, Reduce
from arignote.ops.shapes.shape import DimShuffle
from arignote.optdb import PatternRule, Rule
from arignote.optdb.patterns import Applied, Number, OpLike, Wild
from arignote.optdb.rules import default_db
from arignote.proving.agreement import disagreements
from arignote.proving.claims import is_of_lengths, outcome

RULES = {e.name: e.object for e in default_db().entries() if isinstance(e.object, Rule)}
TABLES = [importlib.import_module(path.stem) for path in sorted(Path(__file__).parent.glob("rule_rows*.py"))]
ROWS = [row for table in TABLES for row in table.ROWS]
"""(name, before, after) of every rule."""
UNCHANGED = [row for table in TABLES for row in getattr(table, "UNCHANGED", ())]
EXAMPLES = {name: [before for other, before, _ in ROWS if other == name] for name in RULES}
ON_MATRICES = {row[0] for table in TABLES if table.__name__ == "rule_rows_linalg" for row in table.ROWS}
ON_NUMBERS = sorted(name for name, examples in EXAMPLES.items() if examples and name not in ON_MATRICES)
"""Rules that may be given any numbers; those on matrices that are promised to have properties are tested on such."""
POSITIONS = {"local_argmax_pushdown", "local_argmax_of_softmax"}
"""Rules that find other positions among values that rounding made equal: held against the truth in a test."""

CANDIDATES = [
    *ELEMENTWISE.values(), *map(Cast, DTYPES), *(Reduce(op, (0,)) for op in REDUCTIONS.values()), Reduce(T.add, ()),
    DimShuffle((1, 0)), DimShuffle((0, 1)), DimShuffle(("x", 0, 1)), DimShuffle((0,)), Softmax(1), Softmax(0),
    LogSoftmax(1), ArgReduce("argmax", 0), ArgReduce("argmin", None), ArgReduce("argmax", 1),
]  # fmt: skip
RANKS = [(1, 1, 1), (2, 2, 2), (0, 1, 0), (2, 1, 1), (1, 2, 0), (0, 0, 0)]
LENGTHS = [(64, 64), (1, 64), (64, 1), (0, 64), (1, 1), (8, 1), (5, 9)]
SIZES = [[3], [9], [1], [0], [5], [1, 3], [1, 5], [4, 5, 6]]
ELEMENTS = 400
"""Elements of an array, at most."""
EDGES = [
    np.nan, np.inf, -np.inf, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 10.5, -17.0, 88.0, 89.0, -104.0, 709.0, 710.0,
    -746.0, 1e-8, 3e38, -1e300,
]  # fmt: skip
"""Among small numbers: where a function overflows, underflows or is not defined."""
UNWRITABLE = (TypeError, ValueError, OverflowError, IndexError)
"""Exception of an expression that a user could not write."""


class Maker:
    """A random graph that a pattern matches."""

    def __init__(self, rng, dtype):
        self.rng = rng
        self.known = {}
        self.dtype = dtype
        self.mixed = rng.random() < 0.3
        self.strong = rng.random() < 0.3
        self.ranks = itertools.cycle(RANKS[rng.integers(len(RANKS))])

    def variable(self, wild):
        rank = next(self.ranks)
        dtype = str(self.rng.choice(DTYPES)) if self.mixed else self.dtype
        shape = tuple(1 if self.rng.random() < 0.15 else None for _ in range(rank))
        made = T.tensor(wild.name, dtype=dtype, shape=shape)
        if (wild.when is None or wild.when(made)) and self.rng.random() < 0.8:
            return made
        with np.errstate(all="ignore"):
            shape = (1,) * int(self.rng.integers(1, 3)) if self.strong else ()
            value = T.constant(np.full(shape, self.number(dtype)).astype(dtype))
        return value if np.isfinite(value.data).all() and (wild.when is None or wild.when(value)) else None

    def number(self, dtype):
        whole = np.dtype(dtype).kind in "biu"
        return self.rng.choice([2, 4, 8, 3, 1, 64, 5] if whole else [0.25, 2.0, -3.5, 0.1, 1e10, 4, 5])

    def build(self, pattern):
        """Replacement of the pattern; None if there is none."""
        if isinstance(pattern, Wild):
            if pattern.name not in self.known:
                self.known[pattern.name] = self.variable(pattern)
            return self.known[pattern.name]
        if isinstance(pattern, Number):
            return self.constant(pattern)
        assert isinstance(pattern, Applied)
        op = pattern.op
        if isinstance(op, OpLike):
            if op.name not in self.known:
                self.known[op.name] = self.candidate(op)
            op = self.known[op.name]
        operands = [self.build(p) for p in pattern.operands]
        return None if any(o is None for o in operands) else op(*operands)

    def constant(self, pattern):
        if not self.strong:
            return pattern.value
        shape = [(), (1,), (1, 1), (3, 1)][self.rng.integers(4)]
        dtype = self.rng.choice(["int8", "int64", "float64", "float32", self.dtype])
        with np.errstate(all="ignore"):
            return T.constant(np.full(shape, pattern.value).astype(dtype))

    def candidate(self, like):
        fitting = [op for op in CANDIDATES if like.accepts(op) and getattr(op, "arity", None) != 3]
        return fitting[self.rng.integers(len(fitting))]


# --- other graphs like an example


def varied(rng, example, dtype):
    """The example on leaves of other dtypes, lengths and values."""
    found = leaves([example])
    length = int(rng.integers(1, 6))
    others = {}
    moved = rng.random() < 0.3
    narrow = rng.random() < 0.3
    for v in found:
        if isinstance(v, Constant):
            if moved and v.dtype == "int64" and v.ndim == 0:
                others[v] = T.constant(np.int64(rng.integers(-4, 8)))
        else:
            others[v] = other_leaf(rng, v, dtype if v.type.kind != "i" or narrow else v.dtype, length)
    if rng.random() < 0.2:
        compound(rng, others)
    (output,) = rebuild([example], others)
    return output


def other_leaf(rng, v, dtype, length):
    shape = [_other_length(rng, n, length) for n in v.type.shape]
    return T.tensor(v.name, dtype=dtype, shape=tuple(shape))


def _other_length(rng, known, length):
    if known is not None:
        return known if rng.random() < 0.7 else None
    return [None, 1, length][rng.choice(3, p=[0.75, 0.15, 0.1])]


def compound(rng, others):
    """One leaf becomes an expression of itself, or one that another leaf may broadcast."""
    variables = [v for v in others if not isinstance(v, Constant)]
    for v in variables[: int(rng.integers(1, 3))]:
        leaf = others[v]
        like = T.tensor(f"{v.name}_like", dtype=leaf.dtype, shape=(None,) * leaf.ndim)
        others[v] = [ELEMENTWISE["identity"](leaf), T.fill(like, leaf), leaf * like][rng.integers(3)]


# --- firings


def graphs(rule, rng):
    """(graph before, graph after) for random graphs on which the rule fires, endlessly; None where it does not."""
    good = []
    while True:
        dtype = good[rng.integers(len(good))] if good and rng.random() < 0.7 else str(rng.choice(DTYPES))
        try:
            output = proposed(rule, rng, dtype)
            before = None if output is None else graph_of(output)
        except UNWRITABLE:
            before = None
        after = before if before is None else rewritten(before, rule)
        if after is before:
            yield None
            continue
        good.append(dtype)
        yield before, after


def proposed(rule, rng, dtype):
    """A graph that might be one for the rule; None if nothing came of it."""
    if isinstance(rule, PatternRule) and rng.random() < 0.9:
        output = Maker(rng, dtype).build(rule.pattern)
    else:
        examples = EXAMPLES[rule.name]
        output = varied(rng, examples[rng.integers(len(examples))], dtype)
    return output if getattr(output, "owner", None) is not None else None


def arrays_for(graph, rng, make):
    """Arrays that may fit the graph: lengths that broadcast together, some of them broadcast."""
    if rng.random() < 0.5 and all(isinstance(node.op, Elementwise) for node in graph.order):
        lengths = LENGTHS[rng.integers(len(LENGTHS))]
        shapes = [
            [m or (n if rng.random() < 0.8 else 1) for n, m in zip((1, 1, *lengths)[4 - v.ndim :], v.type.shape)]
            for v in graph.inputs
        ]
    else:
        sizes = SIZES[rng.integers(len(SIZES))]
        shapes = [[int(rng.choice(sizes)) if m is None else m for m in v.type.shape] for v in graph.inputs]
    index = tame if rng.random() < 0.7 else make
    makes = [index if v.type.kind in "iu" and v.ndim == 0 else make for v in graph.inputs]
    return [how(rng, v.dtype, shape) for how, v, shape in zip(makes, graph.inputs, shapes, strict=True)]


def edges(rng, dtype, shape):
    """Small numbers with few special values among them, so that most rows and operands have one or none."""
    made = tame(rng, dtype, shape)
    if made.dtype.kind not in "fc":
        return made
    special = rng.random(made.shape) < rng.choice([0.05, 0.3, 1.0])
    with np.errstate(all="ignore"):
        return np.where(special, rng.choice(EDGES, made.shape), made).astype(dtype)


SPECIAL = [
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-8, 88.0, 89.0, -104.0, 710.0, -746.0, 3.4e38, -1.7e308,
]  # fmt: skip
"""Values whose every combination is tried as operands of stable forms; half of them in three operands, or a row."""


def at_special_values(example, dtype):
    """(graph, arrays) of an example for each combination of special values in its operands, or along an axis."""
    found = [v for v in leaves([example]) if not isinstance(v, Constant)]
    others = {v: T.tensor(v.name, dtype=dtype, shape=v.type.shape) for v in found if v.type.kind == "f"}
    try:
        graph = graph_of(*rebuild([example], others))
    except UNWRITABLE:
        return
    kinds = {(v.type.kind, v.ndim) for v in graph.inputs}
    with np.errstate(over="ignore"):
        points = np.array(SPECIAL).astype(dtype)
    if kinds == {("f", 1)} and all(isinstance(node.op, Elementwise) for node in graph.order):
        points = points if len(graph.inputs) < 3 else points[::2]
        for combination in itertools.product(points, repeat=len(graph.inputs)):
            yield graph, [np.array([value]) for value in combination]
    elif kinds == {("f", 2)}:
        rows = np.array(list(itertools.product(points[[0, 1, 2, 3, 5, 11]], repeat=3)))
        for k, shape in itertools.product(range(len(rows)), [(1, 3), (3, 1)]):
            yield graph, [rows[(k + 80 * n) % len(rows)].reshape(shape) for n in range(len(graph.inputs))]
    else:
        rng = np.random.default_rng(0)
        yield from ((graph, arrays_for(graph, rng, edges)) for _ in range(60))


def hold_at_special_values(rule):
    """How often values were compared; raises Violation where a rule makes another value than the contract allows."""
    compared = 0
    for example, dtype in itertools.product(EXAMPLES[rule.name], ("float64", "float32")):
        after = graph = None
        for before, arrays in at_special_values(example, dtype):
            after = after if graph is before else rewritten(before, rule)
            graph, want = before, outcome(before, arrays)
            if not isinstance(want, Exception):
                compare(rule, before, after, arrays, want, outcome(after, arrays))
                compared += 1
    return compared


SLACK_OF_SUMS = 16
"""Epsilons, of 1 or of the summands if they are larger, that a sum of exponentials may be off."""


class Violation(AssertionError):
    """A result that the contract of a rule does not allow."""


def fire(rule, count, attempts, seed=0):
    """(firings, comparisons) of `count` firings, fewer if `attempts` graphs do not give as many.

    Raises Violation where values before and after are not as the contract says.
    """
    rng = np.random.default_rng([seed, zlib.crc32(rule.name.encode())])
    fired = compared = 0
    for found in itertools.islice(graphs(rule, rng), attempts):
        if found is not None:
            now = compare_all(rule, *found, rng)
            compared += now
            fired += now > 0
        if fired == count:
            break
    return fired, compared


def compare_all(rule, before, after, rng):
    """How often values before and after were compared, on arrays of several shapes."""
    compared = 0
    for make in (sample, tame, edges):
        arrays = arrays_for(before, rng, make)
        want, got = outcome(before, arrays), outcome(after, arrays)
        if isinstance(want, Exception):
            lost = not isinstance(got, Exception) and not is_of_lengths(want)
            if lost and "errors" not in rule.contract.relaxed:
                raise Violation(f"{rule}\n{before}\n{after}\non {arrays} the error is lost: {want!r}")
            continue
        if isinstance(got, Exception):
            raise Violation(f"{rule}\n{before}\n{after}\non {arrays}: {got!r}")
        compare(rule, before, after, arrays, want, got)
        compared += 1
    return compared


def compare(rule, before, after, arrays, want, got):
    """Raise Violation unless `got` is what the contract of the rule allows for `want`."""
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        raise Violation(f"{rule}\n{before}\n{after}\n{want.dtype}{want.shape} became {got.dtype}{got.shape}")
    if rule.contract.bits and before.outputs[0].owner.op is to_bfloat16:
        want, got = from_bfloat16.evaluate(want)[0], from_bfloat16.evaluate(got)[0]
    operands = [a for a in (*arrays, *products_in_place_of_leaves(before, arrays).values()) if a.dtype.kind in "fc"]
    scale = float(max((np.abs(a[np.isfinite(a)]).max(initial=0.0) for a in operands), default=0.0))
    finite = all(np.isfinite(a).all() for a in arrays)
    wrong = disagreements(rule.contract, want, got, scale, finite)
    if not finite and any(isinstance(node.op, (BlasOp, Dot)) for node in before.order):
        wrong &= np.isfinite(want) & np.isfinite(got)  # BLAS skips some zeros, which infinity makes NaN
    if "underflow" in rule.contract.relaxed and want.dtype.kind == "f":
        for a in (a for a in arrays if a.dtype.kind == "f" and broadcasts(a.shape, want.shape)):
            wrong &= ~((a != 0) & (np.abs(a) < np.finfo(a.dtype).smallest_normal))
    if rule.contract.nearer and want.dtype.kind == "f" and wrong.any():
        wrong &= confirmed(before, arrays, want, got, wrong, scale)
    if wrong.any():
        where = tuple(np.argwhere(wrong)[0])
        operands = [np.broadcast_to(a, want.shape)[where] for a in arrays if broadcasts(a.shape, want.shape)]
        change = f"{want[where]!r} became {got[where]!r} ({rule.contract})"
        raise Violation(f"{rule}\n{before}\n{after}\nof {operands}: {change}")


def products_in_place_of_leaves(before, arrays):
    """Results of `compound` on leaves of the example: operands of the rule that are larger than the arrays."""
    given = dict(zip(before.inputs, arrays, strict=True))
    made = {n.out: n.inputs for n in before.order if n.op is T.mul and len(n.inputs) == 2}
    with np.errstate(all="ignore"):
        return {
            v: given[a] * given[like]
            for v, (a, like) in made.items()
            if a in given and like in given and like.name.endswith("_like")
        }


def broadcasts(shape, whole):
    try:
        return np.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False


def confirmed(before, arrays, want, got, wrong, scale):
    """Where the truth speaks for `want`."""
    result = np.zeros(want.shape, dtype=bool)
    if not all(isinstance(node.op, Elementwise) for node in before.order):
        return wrong & ~nearer_in_arrays(before, arrays, want, got, scale)
    given = dict(zip(before.inputs, arrays, strict=True)) | products_in_place_of_leaves(before, arrays)
    for where in map(tuple, np.argwhere(wrong)[:12]):
        at = {v: np.broadcast_to(a, want.shape)[where] for v, a in given.items()}
        result[where] = farther_from_truth(before.outputs[0], at, float(want[where]), float(got[where]))
    return result


def nearer_in_arrays(before, arrays, want, got, scale):
    """Where `got` is as good as `want`, which is no elementwise function of the arrays.

    Where there is no truth to ask, the two must agree to the rounding of a sum if `want` is finite.
    """
    eps = float(np.finfo(want.dtype).eps)
    with np.errstate(all="ignore"):
        near = (want == got) | (np.abs(want - got) <= SLACK_OF_SUMS / 2 * eps * np.maximum(np.abs(want), 1.0))
        near |= np.isnan(want) & np.isnan(got)
        if near.all():
            return near
        free = np.isnan(want) & ~np.isnan(got) & ~comes_from_nan(before, arrays, want, got)
        truth = true_array(before, arrays) if want.dtype.kind == "f" else None
        if truth is None:
            rounding = np.abs(want - got) <= 64 * eps * np.maximum(np.abs(want), max(scale, 1))
            finite = all(np.isfinite(a).all() for a in arrays)
            return near | rounding | free | (np.isinf(want) & ~np.isnan(got) & finite)
        error, old = (np.abs(v.astype(object) - truth) for v in (got, want))
        # A result that was no number need not be exact: exponentials lose as many digits as their argument has.
        part = np.where(np.isfinite(want), SLACK_OF_SUMS * eps, eps**0.5)
        slack = part * np.maximum(true_summands(before, arrays), 1.0)
        better = np.isfinite(want) & np.array(error <= old, dtype=bool)
        right = np.array(error <= slack, dtype=bool) | (got == truth.astype("float64"))
        right |= np.isnan(got) & np.isinf(want) & np.array(truth != truth, dtype=bool)  # log(-1e-999) is no number
        whole = any(a.dtype.kind != "f" for a in arrays)  # large integers are rounded before anything else
        return near | better | right | (free & (whole | np.isinf(got) | (truth != truth)))


def comes_from_nan(before, arrays, want, got):
    """Where `want` is NaN, `got` a number, and `want` is NaN also if all other numbers are small."""
    lost = np.isnan(want) & ~np.isnan(got)
    if not lost.any() or not any(np.isnan(a).any() for a in arrays if a.dtype.kind == "f"):
        return np.zeros_like(lost)
    small = [np.where(np.isnan(a), a, a.dtype.type(0.5)) if a.dtype.kind == "f" else a for a in arrays]
    again = outcome(before, small)
    return lost & np.isnan(again) if getattr(again, "shape", None) == want.shape else lost
