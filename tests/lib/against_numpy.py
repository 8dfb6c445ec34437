"""A function of variables held against the same function of arrays: values, dtype, and all that is said of shapes."""

import numpy as np

from arignote import ops as T
from arignote.graph import dims_of

DTYPES = ["bool", "int8", "int64", "uint16", "float16", "float32", "float64", "complex64", "complex128"]


def sample(shape, dtype="float64", seed=5):
    """An array of small numbers of a dtype."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "c":
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=shape).astype(dtype)
    return rng.integers(0, 2 if dtype == "bool" else 9, size=shape).astype(dtype)


def variables(values, static):
    return [T.tensor(f"x{n}", v.dtype, v.shape if static else (None,) * v.ndim) for n, v in enumerate(values)]


def assert_like_numpy(ours, numpys, *values, rtol=0.0):
    """`ours(variables)` has the value and dtype of `numpys(arrays)`, with lengths known when it is built and without.

    Static lengths must be those of the result; the lengths that the shape rules promise must be computable and right.
    """
    values = [np.asarray(v) for v in values]
    with np.errstate(all="ignore"):
        expected = np.asarray(numpys(*values))
    for static in (True, False):
        inputs = variables(values, static)
        result = ours(*inputs)
        assert result.dtype == expected.dtype, f"{result.dtype}, not {expected.dtype}"
        lengths = [T.dim_to_tensor(dim) for dim in dims_of(result)]
        found, *computed = T.evaluate([result, *lengths], dict(zip(inputs, values)))
        assert isinstance(found, np.ndarray)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        if rtol:
            np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)
        else:
            np.testing.assert_array_equal(found, expected)
        assert tuple(int(n) for n in computed) == expected.shape, f"dims {dims_of(result)}"
        for n, m in zip(result.type.shape, expected.shape):
            assert n in (None, m)
        if static:
            assert None not in result.type.shape or not _all_constant(lengths)


def assert_same_call(name, x, *arguments, **options):
    """`T.name(x, ...)` is `np.name(x, ...)`."""
    assert_like_numpy(
        lambda v: getattr(T, name)(v, *arguments, **options), lambda v: getattr(np, name)(v, *arguments, **options), x
    )


def _all_constant(lengths):
    return all(hasattr(n, "data") for n in lengths)
