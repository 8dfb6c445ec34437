"""Ranges of quantization: each scheme on values of known shape, scales, and errors."""

import numpy as np
import pytest

from arignote.networks import calibration
from arignote.networks.calibration import SCHEMES, Observer, affine, range_of

RNG = np.random.default_rng(0)
NORMAL = RNG.standard_normal(50000)


def observed(*batches):
    observer = Observer()
    for batch in batches:
        observer.see_range(batch)
    for batch in batches:
        observer.see_values(batch)
    return observer.histogram


def square_error(values, low, high):
    scale, zero = affine(low, high)
    return np.square((np.clip(np.round(values / scale) + zero, 0, 255) - zero) * scale - values).sum()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_ranges_hold_zero_and_stay_within_the_values(scheme):
    for values in (NORMAL, np.maximum(NORMAL, 0), -np.abs(NORMAL) - 1, NORMAL + 10, np.zeros(5), np.zeros(0)):
        low, high = range_of(observed(values[:100], values[100:]), scheme)
        assert min(values.min(initial=0), 0) <= low <= 0 <= high <= max(values.max(initial=0), 0)
        scale, zero = affine(low, high)
        assert scale > 0
        assert 0 <= zero <= 255


def test_minmax_is_the_range_over_all_batches():
    assert range_of(observed(np.array([1.0, 2.0]), np.array([-3.0])), "minmax") == (-3.0, 2.0)


def test_an_outlier_is_clipped_where_many_values_gain():
    values = np.append(NORMAL, 200.0)
    for scheme in ("percentile", "entropy"):
        assert range_of(observed(values), scheme)[1] < 10
    many = np.append(np.tile(NORMAL, 20), 200.0)
    low, high = range_of(observed(many), "mse")
    assert square_error(many, low, high) < 0.5 * square_error(many, many.min(), many.max())


def test_the_mse_range_is_the_best_of_many():
    values = RNG.laplace(size=20000)
    low, high = range_of(observed(values), "mse")
    tried = [square_error(values, max(values.min(), -t), min(values.max(), t)) for t in np.linspace(1, 12, 60)]
    assert square_error(values, low, high) <= 1.05 * min(tried)


def test_scales_of_weights_and_their_rounding():
    w = RNG.standard_normal((6, 5)).astype("float32")
    w[2] = 0
    scales = calibration.weight_scales(w, 0, "minmax")
    narrow = calibration.quantized_weights(w, scales, 0)
    assert (np.abs(narrow).max(axis=1) == [127, 127, 0, 127, 127, 127]).all()
    assert (np.abs(narrow * scales[:, None] - w) <= scales[:, None] * 0.5001).all()
    smaller = calibration.weight_scales(w, 1, "mse")
    assert smaller.shape == (5,)
    assert (smaller <= calibration.weight_scales(w, 1, "minmax")).all()


def test_relative_errors():
    exact = [np.array([3.0, 4.0]), np.zeros((0, 2))]
    assert calibration.relative_error(exact, exact) == 0
    assert calibration.relative_error([np.array([3.0, 3.0]), exact[1]], exact) == pytest.approx(0.2)
    assert calibration.relative_error([np.ones(1)], [np.zeros(1)]) == 1
