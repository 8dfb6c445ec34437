"""Results of NumPy's functions that are views or copies: writes under `ag.jit` reach the arrays that NumPy's reach."""

import importlib.util

import numpy as np
import pytest

import arignote as ag

LOOPS = """
    for i in range(n):
        y = x.T.reshape(-1)
        y[0] -= x[0, 0] + 1
        t += x[0, -1]
---
    y = x.T.reshape(-1)
    for i in range(n):
        y[i] = x[0, 0] + i
        t += x[-1, 0]
---
    y = x[::-1].T[1:]
    for i in range(n):
        z = y.reshape(-1)
        z[i] *= 2
        y[0] += 1
        t += x[0, -1]
""".split("---")
"""Bodies of functions of x and n that write to a reshaped array."""
LAYOUTS = {
    "C": lambda v: v.copy(), "F": lambda v: np.array(v, order="F"), "strided": lambda v: np.repeat(v, 2, 1)[:, ::2],
    "reversed": lambda v: v[::-1].copy()[::-1],
}  # fmt: skip
"""Memory of equal arrays."""


def function_of(body, folder):
    """The function of x and n with this body, from a file, since a trace reads its source."""
    path = folder / "of_body.py"
    path.write_text(f"import numpy as np\n\n\ndef f(x, n):\n    t = 0.0\n{body}\n    return t + x.sum()\n")
    spec = importlib.util.spec_from_file_location("of_body", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def compare(body, folder, shapes=((4, 6), (2, 3), (1, 5), (4, 1))):
    """Compare results and arguments with NumPy's for each memory, in two orders of the calls."""
    f = function_of(body, folder)
    for layouts in (tuple(LAYOUTS), tuple(LAYOUTS)[::-1]):
        jitted = ag.jit(f, mode="NUMPY")
        for shape in shapes:
            for layout in layouts:
                value = np.random.default_rng(3).uniform(-1, 2, shape)
                ours, numpys = LAYOUTS[layout](value), LAYOUTS[layout](value)
                assert np.isclose(jitted(ours, shape[0]), f(numpys, shape[0])), (body, layout, shape)
                np.testing.assert_allclose(ours, numpys, err_msg=f"{body}, {layout}, {shape}")


@pytest.mark.parametrize("body", LOOPS)
def test_loops_write_to_reshaped_arrays_as_numpy_does(body, tmp_path):
    compare(body, tmp_path, ((4, 6), (2, 3)))
