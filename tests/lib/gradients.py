"""Derivatives compared with two-sided differences: the judge of every vjp."""

import numpy as np

from arignote import ops as T
from arignote.ops.core.backward import pull_back

TOLERANCE = 1e-6


def assert_gradient(function, *values, static=True, step=1e-4):
    """`function` of variables has the derivatives that differences of its values show, to a relative error of 1e-6.

    The cost is a fixed random combination of the results, real and imaginary parts.  `static`: whether the variables
    are of known lengths, so that broadcasting is decided when the gradient is built, or only when it runs.
    """
    values = [np.asarray(v) for v in values]
    inputs = [T.tensor(f"x{n}", v.dtype, v.shape if static else (None,) * v.ndim) for n, v in enumerate(values)]
    result = function(*inputs)
    weights = _weights(result.eval(dict(zip(inputs, values))))
    cost = _cost(result, weights)
    gradients = pull_back([cost], [T.constant(1.0)], inputs)
    for position, (gradient, value) in enumerate(zip(gradients, values)):
        if value.dtype.kind in "bui":
            assert gradient is None
            continue
        found = np.zeros_like(value) if gradient is None else gradient.eval(dict(zip(inputs, values)))
        assert found.shape == value.shape
        assert found.dtype == value.dtype
        expected = _differences(lambda *vs: cost.eval(dict(zip(inputs, vs))), values, position, step)
        scale = max(np.abs(expected).max(initial=0), 1e-3)
        error = np.abs(found - expected).max(initial=0) / scale
        assert error <= TOLERANCE, f"{function}: operand {position} is off by {error:.2e}: {found} != {expected}"


def _weights(value):
    rng = np.random.default_rng(11)
    real = rng.uniform(0.5, 1.5, value.shape)
    return real, rng.uniform(0.5, 1.5, value.shape)


def _cost(result, weights):
    if result.type.kind == "c":
        return T.sum(T.real(result) * weights[0]) + T.sum(T.imag(result) * weights[1])
    return T.sum(result * weights[0])


def _differences(cost, values, position, step):
    """dL/da + i dL/db for each element a + ib of one operand, by differences of fourth order."""
    value = values[position]
    found = np.zeros_like(value)
    for index in np.ndindex(value.shape):
        for unit in (1, 1j) if value.dtype.kind == "c" else (1,):

            def shifted(h, unit=unit, index=index):
                moved = value.copy()
                moved[index] += h * unit
                return float(cost(*values[:position], moved, *values[position + 1 :]))

            slope = (8 * (shifted(step) - shifted(-step)) - (shifted(2 * step) - shifted(-2 * step))) / (12 * step)
            found[index] += slope * unit
    return found
