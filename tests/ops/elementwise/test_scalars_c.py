"""Every elementwise op in C against its NumPy meaning: all dtypes, special values, integer extremes.

Integers and bools must be equal bit for bit, floats within a few ulp with the same NaN, infinities and signs of zero.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from ckernel import Library

import arignote as ag
from arignote.cbackend.ir.kernel import Kernel, Status
from arignote.cbackend.lowering.lower import lower
from arignote.graph import DTYPES, Apply, TensorType
from arignote.ops.core.tensor import TensorVariable
from arignote.ops.elementwise.records import ELEMENTWISE, Cast

MIXED = [("int64", "uint64"), ("uint64", "int64"), ("int8", "uint64"), ("int8", "float32"), ("bool", "int16")]
FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.7, 7.0, 0.1, 1e-3, -1e-3, 20.3, -20.3, 88.0, -88.0,
    100.0, 710.0,
    -745.0, 1e10, -1e10, 1e300, -1e300, 5e-324, 1e-310, 1e-40, 65504.0, 6e-8, np.nan, np.inf, -np.inf, 2.0**31, 2.0**63,
    -(2.0**31) - 0.5, -(2.0**63), 2.0**64, 3e9, 1.0000001, 0.9999999,
]  # fmt: skip
PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.nan, np.inf, -np.inf, 3.3, -20.0]
ULP = 4
"""libmvec promises 4 ulp."""


def values(dtype: str) -> np.ndarray:
    """Special and ordinary values of a dtype."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        i = np.iinfo(dtype)
        numbers = [0, 1, 2, 3, 5, 7, 8, 31, 63, 64, i.max, i.max - 1, i.min, i.min + 1, i.max // 2]
        return np.array(numbers + [-1, -2, -3, -7, -64] * (kind == "i"), dtype=dtype)
    if kind == "f":
        with np.errstate(over="ignore"):
            return np.concatenate([FLOATS, np.random.default_rng(0).normal(size=21) * 3]).astype(dtype)
    z = np.empty((len(PARTS), len(PARTS)), dtype)
    z.real, z.imag = np.reshape(PARTS, (-1, 1)), PARTS
    return z.ravel()


def operands(dtypes: tuple[str, ...]) -> list[np.ndarray]:
    """All combinations of the values of each operand (of fewer values where there are many operands)."""
    single = [values(d)[:: 1 if len(dtypes) < 3 else 3] for d in dtypes]
    return [np.ascontiguousarray(v.ravel()) for v in np.meshgrid(*single, indexing="ij")]


def combinations(arity: int, name: str) -> list[tuple[str, ...]]:
    same = [(d,) * arity for d in DTYPES]
    if name == "switch":
        return [("bool", d, d) for d in DTYPES]
    return same + (MIXED if arity == 2 else [])


def nodes() -> dict[tuple[str, tuple[str, ...]], Apply]:
    """Each op on each combination of dtypes that it takes."""
    found = {}
    for name, op in ELEMENTWISE.items():
        for dtypes in combinations(op.arity or 2, name):
            try:
                found[name, dtypes] = op(*(TensorVariable(TensorType(d, (None,))) for d in dtypes)).owner
            except TypeError:
                continue
    for a, b in itertools.product(DTYPES, DTYPES):
        if a.startswith("complex") <= b.startswith("complex") or b == "bool":
            found["cast", (a, b)] = Cast(b)(TensorVariable(TensorType(a, (None,)))).owner
    return found


@pytest.fixture(scope="module")
def compiled() -> tuple[dict[tuple[str, tuple[str, ...]], tuple[Apply, Kernel]], Library]:
    kernels = {key: (node, lower(node)) for key, node in nodes().items()}
    return kernels, Library([k for _, k in kernels.values()], ["-Og"])


def ordered(x: np.ndarray) -> np.ndarray:
    """Integers in the order of the floats, so that differences count ulps; exact, as Python integers."""
    bits = x.view(f"int{8 * x.itemsize}").astype(object)
    return np.where(x.view(f"int{8 * x.itemsize}") < 0, -(2 ** (8 * x.itemsize - 1)) - bits, bits)


def assert_close(got: np.ndarray, expected: np.ndarray, slack: np.ndarray | float = 0.0, signs: bool = True) -> None:
    """Within ULP units in the last place, or `slack` epsilons; the same specials, and `signs` of zeros."""
    nan = np.isnan(expected)
    assert np.array_equal(np.isnan(got), nan)
    assert np.array_equal(np.isinf(got), np.isinf(expected))
    assert np.array_equal(got[np.isinf(got)], expected[np.isinf(expected)])
    zero = (got == 0) & (expected == 0)
    assert not signs or np.array_equal(np.signbit(got[zero]), np.signbit(expected[zero]))
    finite = np.isfinite(expected)
    slack = np.broadcast_to(slack, got.shape)[finite]
    got, expected = got[finite], expected[finite]
    near = np.abs(got.astype("float64") - expected.astype("float64")) <= slack * np.finfo(got.dtype).eps
    far = np.abs(ordered(got) - ordered(expected)) > ULP
    assert not (far & ~near).any(), list(zip(got[far & ~near], expected[far & ~near], strict=True))[:5]


def slack_of(name: str, args: list[np.ndarray], expected: np.ndarray) -> np.ndarray | float:
    """Where the result is a difference of larger terms, the size of these in epsilons counts."""
    with np.errstate(all="ignore"):
        if name == "logaddexp":
            return 4 * np.maximum(1, np.abs(np.maximum(*args)).astype("float64"))
        if name == "gammaln":
            # NumPy's meaning takes Python's own lgamma, which is less exact near 1 and 2 than the C library
            return 4 * np.maximum(1, np.abs(args[0].astype("float64")))
        if name == "coarse_erfc":
            return 2.0**-15 * np.abs(expected.astype("float64")) / np.finfo(expected.dtype).eps
        if name == "normal_tails":  # NumPy's meaning rounds x / sqrt(2)
            return (5 + args[0].astype("float64") ** 2) * np.abs(expected.astype("float64"))
        if name == "polygamma":  # from order 171 on by way of a logarithm
            return np.where(args[0] > 170, 1e5 * np.abs(expected.astype("float64")), 0.0)
        if expected.dtype.kind == "c":
            return ULP * np.nan_to_num(np.abs(expected.astype("complex128")), posinf=0.0)
    return 0.0


def is_settled(name: str, z: np.ndarray) -> np.ndarray:
    """Where C17 (annex G) says which infinity or angle comes out; elsewhere NumPy's own code and libm may differ.

    The sign is open for casinh(NaN + inf i), hence for casin(inf + NaN i), and for cacosh(0 + NaN i), which earlier
    standards gave as NaN + NaN i.
    """
    open_ = {
        "arcsin": np.isinf(z.real) & np.isnan(z.imag),
        "arcsinh": np.isnan(z.real) & np.isinf(z.imag),
        "arccosh": (z.real == 0) & np.isnan(z.imag),
    }
    return ~open_.get(name, np.zeros(z.shape, bool))


@pytest.mark.few(25)
@pytest.mark.parametrize("name", [*ELEMENTWISE, "cast"])
def test_op_in_c_is_its_numpy_meaning(name, compiled):
    kernels, library = compiled
    mine = {dtypes: pair for (n, dtypes), pair in kernels.items() if n == name}
    assert mine, "the op takes no dtype at all"
    for dtypes, (node, kernel) in mine.items():
        args = operands(dtypes[:1] if name == "cast" else dtypes)
        if name == "pow" and all(np.dtype(d).kind in "biu" for d in dtypes):
            args[1] = np.where(args[1].astype(object) < 0, 3, args[1]).astype(dtypes[1])
        (expected,) = node.op.evaluate(*args)
        (got,) = library.run(kernel, args)
        assert got.dtype == expected.dtype
        if name == "cast" and dtypes[1] == "uint32" and dtypes[0].startswith("float"):
            # NumPy's own answer for floats out of range depends on the length of the array.
            wide = args[0].astype("float64")
            inside = (wide > -1) & (wide < 2**32)
            got, expected = got[inside], expected[inside]
        if got.dtype.kind in "biu":
            assert np.array_equal(got, expected), (dtypes, np.flatnonzero(got != expected)[:5])
            continue
        if args[0].dtype.kind == "c":
            settled = is_settled(name, args[0])
            args, got, expected = [a[settled] for a in args], got[settled], expected[settled]
        slack = slack_of(name, args, expected)
        if got.dtype.kind == "c":  # signs of zeros depend on whether NumPy takes its vector code
            assert_close(got.real.copy(), expected.real.copy(), slack, signs=False)
            assert_close(got.imag.copy(), expected.imag.copy(), slack, signs=False)
        else:
            # which zero is the larger is not said by IEEE 754, and NumPy's vector code decides otherwise than its
            # scalar code
            assert_close(got, expected, slack, signs=name not in ("maximum", "minimum", "clip"))


@pytest.mark.parametrize("name", ["lt", "logical_and", "isnan", "switch", "cast"])
def test_bools_are_stored_as_0_and_1_and_read_as_any_byte(name, compiled):
    kernels, library = compiled
    dtypes = {"switch": ("bool", "bool", "bool"), "cast": ("float64", "bool"), "isnan": ("float64",)}.get(
        name, ("bool", "bool")
    )
    node, kernel = kernels[name, dtypes]
    bytes_ = np.array([0, 1, 2, 128, 255], np.uint8)
    args = [bytes_.view(bool) if d == "bool" else values(d)[:5] for d in dtypes[: len(node.inputs)]]
    (got,) = library.run(kernel, args)
    assert set(got.view(np.uint8)) <= {0, 1}
    assert np.array_equal(
        got, node.op.evaluate(*(a.astype(bool) if a.dtype == bool else a for a in map(clean, args)))[0]
    )


def clean(x: np.ndarray) -> np.ndarray:
    """A bool array whose bytes are 0 and 1."""
    return x.view(np.uint8) != 0 if x.dtype == bool else x


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_a_negative_integer_power_is_refused_unless_there_is_nothing_to_compute(dtype, compiled):
    kernels, library = compiled
    _, kernel = kernels["pow", (dtype, dtype)]
    assert kernel.fallible
    base = np.array([2, 3, 4], dtype)
    with pytest.raises(ValueError, match=str(Status.NEGATIVE_POWER)):
        library.run(kernel, [base, np.array([1, -1, 2], dtype)])
    assert library.run(kernel, [base[:0], np.array([-1], dtype)])[0].shape == (0,)
    assert list(library.run(kernel, [base, np.array([2, 0, 1], dtype)])[0]) == [4, 1, 4]


def test_every_float16_converts_exactly(compiled):
    kernels, library = compiled
    everything = np.arange(2**16, dtype=np.uint16).view(np.float16)
    for wide in ("float32", "float64"):
        (got,) = library.run(kernels["cast", ("float16", wide)][1], [everything])
        assert np.array_equal(got, everything.astype(wide), equal_nan=True)
        (back,) = library.run(kernels["cast", (wide, "float16")][1], [got])
        assert np.array_equal(back.view(np.uint16)[~np.isnan(back)], everything.view(np.uint16)[~np.isnan(everything)])


def test_float16_is_rounded_after_each_operation():
    everything = np.arange(2**16, dtype=np.uint16).view(np.float16)

    def several(x):
        return x * x + x - x / 3 * x

    with np.errstate(all="ignore"):
        expected = several(everything)
    compiled = ag.jit(several)
    found = compiled(everything)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(compiled(everything[::-1])[::-1].view(np.uint16), found.view(np.uint16))
    np.testing.assert_array_equal(compiled(everything[5:18]).view(np.uint16), found[5:18].view(np.uint16))


@pytest.mark.parametrize("wide", ["float32", "float64"])
def test_rounding_to_float16_is_to_nearest_even(wide, compiled):
    kernels, library = compiled
    halves = np.arange(2**15, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)].astype(wide)
    between = (halves[:-1] + halves[1:]) / 2
    x = np.concatenate(
        [between, np.nextafter(between, np.inf), np.nextafter(between, -np.inf), [65519.9, 65520, 1e5, 3e-8]]
    ).astype(wide)
    with np.errstate(over="ignore"):
        expected = x.astype(np.float16)
    (got,) = library.run(kernels["cast", (wide, "float16")][1], [x])
    assert np.array_equal(got.view(np.uint16), expected.view(np.uint16))


@pytest.mark.parametrize("name", ["floor_div", "mod", "fmod"])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_division_of_every_pair_of_bytes(name, dtype, compiled):
    kernels, library = compiled
    node, kernel = kernels[name, (dtype, dtype)]
    every = np.arange(256).astype(np.uint8).view(dtype)
    args = [np.repeat(every, 256), np.tile(every, 256)]
    assert np.array_equal(library.run(kernel, args)[0], node.op.evaluate(*args)[0])


@pytest.mark.parametrize("name", ["floor_div", "mod"])
@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32"])
def test_division_of_multiples_and_their_neighbours(name, dtype, compiled):
    """Where a quotient that is computed from a reciprocal may fall to the wrong side of a whole number."""
    kernels, library = compiled
    node, kernel = kernels[name, (dtype, dtype)]
    info, rng = np.iinfo(dtype), np.random.default_rng(0)
    ends = np.array([info.min, info.min + 1, -7, -3, -2, -1, 1, 2, 3, 7, 641, info.max // 2, info.max - 1, info.max])
    divisors = np.unique(np.concatenate([ends, rng.integers(info.min, info.max, 400), rng.integers(-200, 200, 100)]))
    divisors = divisors[(divisors >= info.min) & (divisors != 0)]
    multiples = divisors[:, None] * (rng.integers(info.min, info.max, (divisors.size, 60)) // divisors[:, None])
    a = np.concatenate([multiples + k for k in (-1, 0, 1)] + [np.tile(ends, (divisors.size, 1))], 1)
    args = [a.clip(info.min, info.max).astype(dtype).ravel(), np.repeat(divisors, a.shape[1]).astype(dtype)]
    with np.errstate(all="ignore"):
        assert np.array_equal(library.run(kernel, args)[0], node.op.evaluate(*args)[0])


SPECIAL = pytest.importorskip("scipy.special")


@pytest.mark.parametrize(
    ("name", "exact"), [("digamma", SPECIAL.digamma), ("gammaln", SPECIAL.gammaln), ("erfc", SPECIAL.erfc)]
)
def test_special_functions_against_scipy(name, exact, compiled):
    kernels, library = compiled
    x = np.concatenate([np.linspace(-9.97, 30, 4001), [1e-10, 1e5, 1e15, 1.4616321449683622]])
    (got,) = library.run(kernels[name, ("float64",)][1], [x])
    np.testing.assert_allclose(got, exact(x), rtol=4e-14, atol=2e-15)


def test_gammaln_keeps_its_digits_about_its_zeros(compiled):
    """At 1 and 2, and where its formulas meet."""
    mp = pytest.importorskip("mpmath")
    kernels, library = compiled
    steps = np.outer([1.0, -1.0], np.logspace(-16, -0.4, 40)).ravel()
    x = np.concatenate(
        [1 + steps, 2 + steps, [-0.5, 0.5, 1.5, 2.5, 3.5, 7.5, 8.0, np.nextafter(8, 0), -7.75, -8.25, 1e-310]]
    )
    (got,) = library.run(kernels["gammaln", ("float64",)][1], [x])
    with mp.workdps(60):
        exact = [mp.log(abs(mp.gamma(mp.mpf(v)))) for v in x.tolist()]
        errors = [
            float(abs(mp.mpf(y) - e)) / np.spacing(abs(float(e))) for y, e in zip(got.tolist(), exact, strict=True)
        ]
    assert max(errors) < 6
    (whole,) = library.run(
        kernels["gammaln", ("float64",)][1], [np.array([1.0, 2.0, 0.0, -0.0, -1.0, -9.0, np.inf, -np.inf])]
    )
    np.testing.assert_array_equal(whole, [0, 0, np.inf, np.inf, np.inf, np.inf, np.inf, -np.inf])
    assert not np.signbit(whole[:2]).any()
