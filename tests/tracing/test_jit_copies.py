"""Results of NumPy's functions that are views or copies: writes under `ag.jit` reach the arrays that NumPy's reach."""

import contextlib
import importlib.util

import numpy as np
import pytest

import arignote as ag

LOOPS = (
    ["for i in range(n):", "    y = x.T.reshape(-1)", "    y[0] -= x[0, 0] + 1", "    t += x[0, -1]"],
    ["y = x.T.reshape(-1)", "for i in range(n):", "    y[i] = x[0, 0] + i", "    t += x[-1, 0]"],
    ["y = x[::-1].T[1:]", "for i in range(n):", "    z = y.reshape(-1)", "    z[i] *= 2", "    y[0] += 1"],
    ["for i in range(n):", "    y = x[i].ravel()", "    y[0] = i", "    t += x[i].reshape(1, -1)[0, 0]"],
)
"""Bodies of functions of x and n that write to a reshaped array."""
LAYOUTS = {
    "C": lambda v: v.copy(), "F": lambda v: np.array(v, order="F"), "strided": lambda v: np.repeat(v, 2, 1)[:, ::2],
    "reversed": lambda v: v[::-1].copy()[::-1],
}  # fmt: skip
"""Memory of equal arrays."""


def function_of(lines, folder):
    """The function of x and n with these lines, from a file, since a trace reads its source."""
    path = folder / "of_lines.py"
    body = "".join(f"    {line}\n" for line in ["t = 0.0", *lines, "return t + x.sum()"])
    path.write_text(f"import numpy as np\n\n\ndef f(x, n):\n{body}")
    spec = importlib.util.spec_from_file_location("of_lines", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def compare(lines, folder, shapes=((4, 6), (2, 3), (1, 5), (4, 1)), memories=tuple(LAYOUTS)):
    """Compare results and arguments with NumPy's for each memory, in two orders of the calls."""
    f = function_of(lines, folder)
    for layouts in (memories, memories[::-1]):
        jitted = ag.jit(f, mode="NUMPY")
        for shape in shapes:
            for layout in layouts:
                value = np.random.default_rng(3).uniform(-1, 2, shape)
                ours, numpys = LAYOUTS[layout](value), LAYOUTS[layout](value)
                assert np.isclose(jitted(ours, shape[0]), f(numpys, shape[0])), (lines, layout, shape)
                np.testing.assert_allclose(ours, numpys, err_msg=f"{lines}, {layout}, {shape}")


@pytest.mark.parametrize("lines", LOOPS)
def test_loops_write_to_reshaped_arrays_as_numpy_does(lines, tmp_path):
    compare(lines, tmp_path, ((4, 6), (2, 3)))


VIEWS_AND_COPIES = """
    x.ravel() x[::2].ravel() x[0].ravel() x[:,0].ravel() x[:,::2].ravel() x[::-1,::-1].ravel() x.T.ravel()
    np.ravel(x) np.ravel(x.T) np.ravel(x[:,0]) x[0][::2].ravel() x[0][1:].ravel() x.ravel("F") x.T.ravel("F")
    x.ravel("A") x.reshape(-1) x[::2].reshape(-1) x[:,0].reshape(-1) x[::-1,::-1].reshape(-1)
    x.T.reshape(2,-1) np.reshape(x.T,(-1,)) x.reshape(-1,order="F") x.T.reshape(-1,order="F") x.flatten()
    x.T.flatten() x.swapaxes(0,1) np.moveaxis(x,0,1) np.ascontiguousarray(x) np.ascontiguousarray(x.T)
    np.ascontiguousarray(x[:,0]) np.asfortranarray(x) np.asfortranarray(x.T) np.require(x,None,["C"])
    np.require(x,None,"F") np.asarray(x) np.array(x) np.copy(x) x.copy() x.astype("f8")
    x.astype("f8",copy=False) np.real(x) x.real x.conj() np.conj(x) x.clip() x.clip(-9) np.clip(x,-9,9)
    np.round(x) np.positive(x) np.flipud(x) np.rot90(x) np.atleast_3d(x) np.squeeze(x[None])
    np.expand_dims(x,0) np.diagonal(x) np.diag(x) np.tile(x,1) np.roll(x,0) np.take(x,[0],0) x[[0]] x[...]
    x[()] x[None] x[-1:] x.view() np.concatenate([x]) np.stack([x]) np.where(True,x,x) np.triu(x) +x x+0
    np.broadcast_to(x,(2,)+x.shape) x.mT np.lib.stride_tricks.sliding_window_view(x,2,0) np.imag(x) x.imag
    np.nan_to_num(x) np.nan_to_num(x,copy=False)
"""


@pytest.mark.parametrize("view", VIEWS_AND_COPIES.split())
def test_a_write_reaches_the_array_where_numpys_result_is_a_view(view, tmp_path):
    shapes = ((4, 6), (2, 3), (6, 4)) if "sliding" in view or "2,-1" in view else ((4, 6), (2, 3), (1, 5), (4, 1))
    try:
        function_of([f"y = {view}", "y[...] = 7.0"], tmp_path)(np.ones((4, 6)), 1)
    except ValueError:  # read-only
        with pytest.raises((ValueError, TypeError), match="read-only"):
            ag.jit(function_of([f"y = {view}", "y[...] = 7.0"], tmp_path), mode="NUMPY")(np.ones((4, 6)), 1)
        return
    compare([f"y = {view}", "y[...] = 7.0"], tmp_path, shapes)


@pytest.mark.parametrize("view", [
    "x[0]", "x[1:]", "x[:, None]", "x[:, :2]", "x[0, 1:]", "np.ascontiguousarray(x)", "np.ascontiguousarray(x.T * 2)",
    "np.asfortranarray(x)", "x.copy()", "x.T.copy()", "x.reshape(-1)",
])  # fmt: skip
def test_strides_are_numpys_in_either_order_of_the_calls(view, tmp_path):
    f = function_of([f"t = np.array(({view}).strides).sum() * 1.0"], tmp_path)
    jitted = ag.jit(f, mode="NUMPY")
    for memory in ("C", "F", "C", "strided"):
        value = LAYOUTS[memory](np.ones((4, 6)))
        assert jitted(value, 1) == f(value, 1), memory


def test_parts_of_complex_arrays_are_read_until_the_array_is_written():
    z = np.array([1 + 2j, 3 - 1j])

    def stale(z):
        r = z.real
        z[0] = 5
        return r + z.imag

    def fresh(z):
        r = z.real + 0
        z[0] = 5
        return r + z.real

    def written(z):
        z.real[0] = 5
        return z

    np.testing.assert_array_equal(ag.jit(fresh)(z.copy()), fresh(z.copy()))
    with pytest.raises(TypeError, match="was written since"):
        ag.jit(stale)(z.copy())
    with pytest.raises(TypeError, match=r"x\.real shares its elements with a complex array"):
        ag.jit(written)(z.copy())


@pytest.mark.parametrize("lines", [
    ["y = x + 1", "z = y.reshape(-1)", "z[0] = 50", "t = y.sum()"],
    ["y = x.T * 2", "z = y.reshape(-1)", "z[0] = 50", "t = z.sum()"],
    ["y = np.asfortranarray(x)", "z = y.reshape(-1)", "z[0] = 50", "t = y.sum()"],
    ["y = x.T.copy()", "z = y.reshape(-1)", "z[0] = 50", "t = y.sum()"],
    ["y = np.copy(x)", "z = y.ravel()", "z[0] = 50", "t = y.sum()"],
    ["y = np.cumsum(x, 1)", "z = y.reshape(-1)", "z[0] = 50", "t = y.sum()"],
])  # fmt: skip
def test_results_keep_the_order_of_their_operands(lines, tmp_path):
    for memory in LAYOUTS:
        unknown = contextlib.suppress(TypeError) if memory != "C" else contextlib.nullcontext()
        with unknown:  # what NumPy does depends on strides that a trace does not know
            compare(lines, tmp_path, ((4, 6), (2, 3)), (memory,))


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "made",
    [
        lambda x: np.array(x, order="F"), lambda x: np.zeros((2, 3), order="F"), lambda x: x.copy("F"),
        lambda x: np.copy(x, order="F"), lambda x: np.asarray(x, order="F"), lambda x: x.astype("f4", order="F"),
        lambda x: np.full((2, 3), x[0, 0], order="F"), lambda x: np.zeros_like(x, order="F"),
        lambda x: np.empty_like(x.T), lambda x: np.ones_like(x.T, order="C"), lambda x: np.array(x.T, order="C"),
        lambda x: np.zeros_like(np.zeros_like(x.T)), lambda x: np.eye(2, 3, order="F"),
    ],
)  # fmt: skip
def test_new_arrays_have_the_order_that_is_asked_for(made):
    def read(x):
        y = made(x)
        y[...] = x if y.shape == x.shape else x.T
        flat = y.ravel("F")
        flat[1] = 9.0
        return y.strides, y.flags.f_contiguous, y.ravel("K"), y, flat

    f = ag.jit(read)
    for shape in ((2, 3), (1, 3), (2, 3)):
        x = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
        if shape == (1, 3) and np.shape(made(x)) not in ((1, 3), (3, 1)):
            continue
        got, expected = f(x.copy()), read(x.copy())
        assert got[:2] == expected[:2]
        for a, b in zip(got[2:], expected[2:], strict=True):
            np.testing.assert_array_equal(a, b)
