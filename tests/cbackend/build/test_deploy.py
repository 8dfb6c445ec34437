"""`f.export(folder, target=)`: functions built for other machines give there what they give here."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from machines import built, called, compiler, make, missing, run

import arignote as ag
from arignote import ops as T
from arignote.function.function import find_toolchain
from arignote.targets.target import TargetError

pytestmark = [pytest.mark.long, pytest.mark.skipif(find_toolchain() is None, reason="needs a C compiler")]
TARGETS = ("aarch64-linux", "riscv64-linux", "x86_64-linux-v2", "wasm32-wasi")
rng = np.random.default_rng(3)
x, y, v, n = T.matrix("x"), T.matrix("y"), T.vector("v"), T.lscalar("n")
fx, image, bits = T.matrix("fx", "float32"), T.tensor("image", "float32", (None, 3, 9, 9)), T.ivector("bits")
X, Y, V = rng.standard_normal((37, 37)) + 6 * np.eye(37), rng.standard_normal((37, 37)), 3 * rng.standard_normal(37)
ARRAYS = [
    X, Y, V, np.int64(-7), rng.standard_normal((70, 33)).astype("float32"),
    rng.standard_normal((2, 3, 9, 9)).astype("float32"), rng.integers(-(2**31), 2**31, 41).astype("int32"),
]  # fmt: skip
KERNELS = rng.standard_normal((8, 3, 3, 3)).astype("float32")
GROUPS = {
    # Integers, positions and copies: the same values.  A sum of a row is added in as many lanes as vectors have.
    "exact": {
        "integers": n // 3, "wrapped": bits * bits + 1, "shifted": bits >> 3, "argmax": T.argmax(x, axis=1),
        "where": T.where(x > 0, x, 0.5)[::2, ::-1], "joined": T.concatenate([v, v[::-1]]), "extremum": fx.max(1),
        "with NaN": T.where(fx > 1, np.float32(np.nan), fx).max(1), "least": x.min(), "nanmax": T.nanmax(T.log(x)),
        "position of NaN": T.argmin(T.where(fx > 1, np.float32(np.nan), fx), axis=1),
        "rows with NaN": T.isnan(T.nn.softmax(T.where(fx > 2, np.float32(np.nan), fx))),
        "casts": T.cast(v, "int8"), "pool": T.nn.max_pool2d(image, 2), "bins": T.bincount(abs(bits) % 7, minlength=7),
    },
    "elementwise": {
        "fused": T.exp(x) * v * T.tanh(x.T), "transcendental": T.log1p(T.exp(-abs(v))) * T.sin(v) * T.arctan(v),
        "single": T.sqrt(abs(fx)) * T.tanh(fx), "powers": abs(v) ** 1.3, "special": T.gammaln(abs(v) + 3) * T.erf(v),
        "complex": T.cast(v, "complex128") * (1 + 2j) / (3 + T.cast(v, "complex128")),
    },
    "sums": {
        "sums": x.sum(0), "mean": x.mean(), "rows": fx.sum(1), "soft": T.nn.softmax(fx), "cumulative": T.cumsum(x, 1),
        "product": x @ y, "with bias": T.nn.relu(x @ y + v), "single product": fx @ fx.T, "vector": x @ v,
        "convolution": T.nn.conv2d(image, KERNELS, padding=1), "solved": T.linalg.solve(x, v),
        "strided": T.nn.conv2d(image, KERNELS, stride=2),
        "scan": ag.scan(lambda e, s: s * 0.5 + e, v, T.constant(0.0))[0],
        "while": ag.while_loop(lambda s: s < 100.0, lambda s: s * 3.0, T.constant(1.5)),
        "branch": ag.cond(v.sum() > 0, T.exp(v), v),
    },
}  # fmt: skip
ULPS = {"elementwise": 16, "sums": 64}
"""Units in the last place of the largest number of a result.  An op is within 4 ulp on each machine."""


@pytest.fixture(scope="module")
def everything():
    """A function of every kind of step, with its results here and the group of each."""
    outputs = {name: value for group in GROUPS.values() for name, value in group.items()}
    function = ag.function([x, y, v, n, fx, image, bits], outputs, name="everything")
    return function, function(*ARRAYS), [group for group, members in GROUPS.items() for _ in members]


@pytest.mark.parametrize("target", TARGETS)
def test_results_on_other_machines(target, everything, tmp_path):
    reason = missing(target)
    if reason:
        pytest.skip(reason)
    function, expected, groups = everything
    folder = built(function, tmp_path / "made", target)
    found = called(function, ARRAYS, folder, target)
    for (name, here), there, group in zip(expected.items(), found, groups, strict=True):
        assert there.dtype == here.dtype and there.shape == here.shape, name
        if group == "exact":
            assert np.array_equal(here, there, equal_nan=here.dtype.kind == "f"), name
        else:
            scale = np.abs(here) if group == "elementwise" else np.abs(here).max()
            eps = np.finfo(here.dtype).eps
            assert (np.abs(there - here) <= ULPS[group] * eps * scale).all(), name


def test_targets_and_compilers_that_there_are_not(tmp_path, monkeypatch):
    f = ag.function([v], v + 1)
    for name, message in (("aarch-linux", "did you mean 'aarch64-linux'"), ("zzz", "of host, .*, wasm32-wasi")):
        with pytest.raises(TargetError, match=message):
            f.export(tmp_path / "made", target=name)
    for program, message in (
        ("no-such-gcc", r"'no-such-gcc': no such program; pip install 'arignote\[deploy\]'.*install gcc-aarch64-linux"),
        ("gcc", "compiler='gcc' makes code for 'x86_64-linux-gnu', not for aarch64-linux; pip install"),
    ):  # fmt: skip
        with pytest.raises(TargetError, match=message):
            f.export(tmp_path / "made", target="aarch64-linux", compiler=program)
    with pytest.raises(TypeError, match=r"compiler='gcc'\) expects a target beside it"):
        f.export(tmp_path / "made", compiler="gcc")
    with pytest.raises(ValueError, match="is run by NumPy"):
        ag.function([v], v + 1, mode="NUMPY").export(tmp_path / "made", target="wasm32-wasi")
    monkeypatch.setattr("arignote.cbackend.build.cross.ziglang", lambda: None)
    with pytest.raises(TargetError, match=r"no C compiler for riscv64-linux: pip install 'arignote\[deploy\]'"):
        f.export(tmp_path / "made", target="riscv64-linux")
    assert not list(tmp_path.iterdir())


def test_text_for_a_target_has_its_vectors_and_no_others(tmp_path):
    """The unit of a kernel is that of the target; extensions of this machine are named nowhere."""
    K = ag.function([image], T.nn.conv2d(image, KERNELS, padding=1), name="net")
    K.export(tmp_path / "narrow", target="x86_64-linux-v2")
    K.export(tmp_path / "wide", target="x86_64-linux-v4")
    narrow, wide = ((tmp_path / n / "net_program.c").read_text() for n in ("narrow", "wide"))
    assert narrow != wide and "march=native" not in (tmp_path / "narrow" / "Makefile").read_text()
    assert "-march=x86-64-v2" in (tmp_path / "narrow" / "Makefile").read_text()


PAGE = Path(__file__).parents[3] / "docs" / "howto" / "deploy-anywhere.md"


@pytest.mark.parametrize("target", ["x86_64-linux-v2", "aarch64-linux"])
def test_the_programs_of_the_documentation(target, tmp_path, monkeypatch):
    """Its Python exports, its Makefile builds its C and, where a C++ library is at hand, its C++."""
    if missing(target):
        pytest.skip(missing(target))
    texts = dict(re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.S | re.M))
    monkeypatch.chdir(tmp_path)
    named = f'"{target}", compiler="{compiler(target)}"' if compiler(target) else f'"{target}"'
    exec(texts["python"].replace('"aarch64-linux"', named), {})
    for file, language in (("app.c", "c"), ("app.cpp", "cpp"), ("Makefile", "make")):
        (tmp_path / file).write_text(texts[language])
    here = target.startswith("x86_64")
    with_cpp = here and shutil.which("g++") is not None
    cross = ["CC=gcc", "CXX=g++", "LDFLAGS="] if here else [f"CC={compiler(target)}"] if compiler(target) else []
    make(tmp_path, *cross, "all" if with_cpp else "app")
    for program in ("app", "app_cpp") if with_cpp else ("app",):
        assert run(tmp_path, target, program) == "0.7311 0.2689\n"
