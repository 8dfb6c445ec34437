"""Draws under `mode="ARIGNOTE"`: bits of NumPy's and SciPy's, errors of theirs, arguments by keyword."""


import numpy as np
import pytest

pytest.importorskip("pytensor")

import pytensor
import pytensor.tensor as pt
import pytensor.tensor.random.basic as basic
from pytensor.compile.mode import Mode

import arignote.frontends.pytensor  # noqa: F401
from arignote.frontends.pytensor.scipy_draws import LAYOUTS, drawn

pytestmark = pytest.mark.filterwarnings("ignore")
PYTHON = Mode("py", "fast_compile")
PARAMETERS = {
    basic.HalfCauchyRV: (1.5, 2.5), basic.CauchyRV: (1.5, 2.5), basic.HalfNormalRV: (1.5, 2.5),
    basic.GumbelRV: (1.5, 2.5), basic.ParetoRV: (1.5, 2.5), basic.StudentTRV: (3.5, 1.5, 2.5),
    basic.TruncExponentialRV: (3.5, 1.5, 2.5), basic.GenGammaRV: (1.5, 2.5, 3.5), basic.NegBinomialRV: (5, 0.3),
    basic.BetaBinomialRV: (9, 1.5, 2.5),
}  # fmt: skip
ROW = np.array([1.0, 1.25, 1.5])


def generator():
    return np.random.default_rng(7)


@pytest.mark.parametrize("kind", LAYOUTS, ids=lambda kind: kind.__name__)
def test_samples_and_streams_are_those_of_rvs(kind):
    """For every distribution: scalars, rows, one row among scalars, with a size and without."""
    op, numbers = kind(), [np.asarray(p) for p in PARAMETERS[kind]]
    rows = [(p * ROW).astype(p.dtype) if p > 1 else p / ROW for p in numbers]
    cases = [(numbers, None), (numbers, (4,)), (numbers, ()), (rows, None), (rows, (2, 3))]
    cases += [([*numbers[:-1], rows[-1]], None), ([rows[0][:, None], *rows[1:]], (2, 3, 3)), (rows, (0, 3))]
    for parameters, size in cases:
        ours, theirs = generator(), generator()
        found, expected = drawn(op, ours, parameters, size), op.rng_fn(theirs, *parameters, size)
        np.testing.assert_array_equal(found, expected, strict=True)
        assert ours.bit_generator.state == theirs.bit_generator.state


def test_parameters_that_need_care_are_left_to_scipy():
    op = basic.HalfCauchyRV()
    for scale in (0.0, -1.0, np.nan, np.array([1.0, -1.0])):
        assert drawn(op, generator(), (0.0, scale), None) is None
    assert drawn(op, generator(), (0.0, ROW), (2,)) is None
    assert drawn(basic.StudentTRV(), generator(), (-1.0, 0.0, 1.0), None) is None
    assert drawn(basic.NormalRV(), generator(), (0.0, 1.0), None) is None
    assert drawn(type("OwnRV", (basic.HalfCauchyRV,), {})(), generator(), (0.0, 1.0), None) is None


def test_a_compiled_function_draws_them_and_raises_scipys_error():
    rng, scale = pytensor.shared(generator()), pt.vector("scale")
    used, sample = basic.halfcauchy(0.0, scale, rng=rng).owner.outputs
    ours = pytensor.function([scale], sample, updates={rng: used}, mode="ARIGNOTE")
    first = [ours(ROW) for _ in range(20)]
    rng.set_value(generator())
    theirs = pytensor.function([scale], sample, updates={rng: used}, mode=PYTHON)
    np.testing.assert_array_equal(first, [theirs(ROW) for _ in range(20)], strict=True)
    with pytest.raises(ValueError, match="Domain error in arguments"):
        ours(-ROW)


def test_arguments_by_keyword():
    """They are those by position, also after the native entry; wrong names have PyTensor's errors."""
    rng, x, y = pytensor.shared(generator()), pt.vector("x"), pt.scalar("y")
    used, sample = pt.random.normal(x, y, rng=rng).owner.outputs
    drawing = pytensor.function([x, y], sample, updates={rng: used}, mode="ARIGNOTE")
    two, expected = np.array(2.0), generator()
    for _ in range(20):
        np.testing.assert_array_equal(drawing(y=two, x=ROW), expected.normal(ROW, 2.0))
    named = pytensor.function([x, y], [x * y, x + y], mode="ARIGNOTE")
    for _ in range(20):
        for found in (named(x=ROW, y=two), named(y=two, x=ROW), named(ROW, y=two), named(y=2, x=ROW)):
            np.testing.assert_array_equal(found, [ROW * 2, ROW + 2])
    for args, wrong, message in (
        ((), {"x": ROW, "z": two}, "Unknown input"), ((ROW,), {"x": ROW}, "Multiple values|Missing"),
        ((), {"x": ROW}, "Missing (required )?input"), ((ROW, two), {"y": two}, "Too many|Multiple"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=message):
            named(*args, **wrong)


OTHERS = {
    basic.BernoulliRV: (0.3,), basic.BetaRV: (1.5, 2.5), basic.BinomialRV: (9, 0.3), basic.ExponentialRV: (1.5,),
    basic.GammaRV: (1.5, 2.5), basic.GeometricRV: (0.3,), basic.HyperGeometricRV: (9, 7, 5), basic.IntegersRV: (0, 9),
    basic.InvGammaRV: (1.5, 2.5), basic.LaplaceRV: (1.5, 2.5), basic.LogNormalRV: (1.5, 2.5),
    basic.LogisticRV: (1.5, 2.5), basic.NormalRV: (1.5, 2.5), basic.PoissonRV: (2.5,), basic.TriangularRV: (0, 1, 2),
    basic.UniformRV: (1.5, 2.5), basic.VonMisesRV: (1.5, 2.5), basic.WaldRV: (1.5, 2.5), basic.WeibullRV: (1.5,),
    basic.CategoricalRV: (ROW / ROW.sum(),), basic.DirichletRV: (ROW,), basic.MultinomialRV: (9, ROW / ROW.sum()),
    basic.MvNormalRV: (ROW, np.eye(3) + 0.2), basic.PermutationRV: (np.arange(9),),
}  # fmt: skip
"""Parameters of the distributions that `LAYOUTS` has not."""


READY = {basic.PermutationRV: basic.permutation, basic.MvNormalRV: basic.multivariate_normal}
"""Ops of the classes that take options."""


def test_every_distribution_draws_what_pytensors_default_mode_draws():
    """One stream through all of them, twice: alone and eight at a time."""
    found = []
    for mode in ("ARIGNOTE", PYTHON):
        shared = pytensor.shared(generator())
        state, draws = shared, []
        for kind, parameters in {**PARAMETERS, **OTHERS}.items():
            for size in (None,) if kind is basic.PermutationRV else (None, (8,)):
                op = READY.get(kind) or kind()
                state, draw = op(*parameters, size=size, rng=state).owner.outputs
                draws.append(draw)
        state, draw = pt.random.choice(np.arange(9), size=4, replace=False, rng=state).owner.outputs
        draws.append(draw)
        drawing = pytensor.function([], draws, updates={shared: state}, mode=mode)
        found.append([*drawing(), *drawing()])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)
    classes = {c for c in vars(basic).values() if isinstance(c, type) and issubclass(c, basic.RandomVariable)}
    tested = {*PARAMETERS, *OTHERS, basic.ChoiceWithoutReplacement, basic.RandomVariable, basic.ScipyRandomVariable}
    assert not {c for c in classes if c.__module__ == basic.__name__} - tested
