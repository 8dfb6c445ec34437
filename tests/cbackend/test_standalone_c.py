"""The C of a function stands alone: a strict compiler is content with it, and a main of 20 lines can call it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ctext.emit import helpers
from arignote.cbackend.ctext.preamble import preamble
from arignote.cbackend.driver.driver import c_text
from arignote.cbackend.driver.page import Page
from arignote.cbackend.driver.units import in_units
from arignote.cbackend.lowering.lower import lower
from arignote.cbackend.program.plan import plan
from arignote.function.mode import as_mode
from arignote.function.optimization import Optimization
from arignote.function.signature import make_signature
from arignote.targets.costs import Costs
from arignote.targets.current import using
from arignote.targets.named import host

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic")
v, x, fx, t3 = T.vector("v"), T.matrix("x"), T.fmatrix("fx"), T.tensor3("t3")
i, n, b = T.ivector("i"), T.lscalar("n"), T.tensor("b", dtype="bool", shape=(None,))
z, h, u = (T.tensor(name, dtype=name, shape=(None,)) for name in ("complex128", "float16", "uint8"))
w = ag.shared(np.ones((20, 5)), name="w")
LOSS = -T.log(T.nn.softmax(T.tanh(x @ w))).sum()


def chain(value):
    for k in range(60):
        value = T.exp(value).sum() + T.sin(v) * k + value
    return value


FUNCTIONS = {
    "elementwise": ([v], T.exp(v) * T.sin(v) + T.tanh(v) / 3 + T.erf(v) - v**2.5),
    "stable": ([v], T.where(v > 0, T.log1p(v), T.nn.softplus(v)) + T.nn.sigmoid(v)),
    "rounding": ([v], (T.round(v) + T.floor(v)).astype("int32")),
    "integers": ([i], i // 3 + i % 2 + (i << 2) - (i >> 1)),
    "bytes": ([u], u**2 // (u + 1)),
    "truths": ([b], ~b & b | b),
    "complex": ([z], T.exp(z) / z + z * z),
    "half": ([h], h * 2 + T.exp(h)),
    "sums": ([x], [x.sum(0), x.mean(axis=1), x.var()]),
    "extrema": ([x], [x.max(axis=0), T.argmax(x, axis=1), T.argmin(x)]),
    "other reductions": ([i, b], [T.prod(i), T.min(i), T.any(b), T.all(b)]),
    "softmax": ([x], [T.nn.softmax(x), T.nn.log_softmax(x), T.logsumexp(x, axis=0)]),
    "products": ([x, v], [x @ x.T, x @ v, T.dot(v, v), T.outer(v, v)]),
    "a product and what follows": ([fx], T.nn.relu(fx @ fx.T + 1)),
    "a batch": ([t3], t3 @ t3),
    "slices": ([x, n], [x[1:, ::2] + 1, x[n], x[::-1]]),
    "gathers": ([x, i], [x[i], x[i, i], T.take(x, i, axis=1)]),
    "scatters": ([x, i], [T.inc_subtensor(x[i], 1.0), T.set_subtensor(x[1:], 2.0)]),
    "joins": ([v], T.concatenate([v, v * 2, v[::2]])),
    "made": ([v, n], [T.zeros((3,)) + v, T.arange(n), T.eye(n)]),
    "matrices": ([x], [T.diag(x), T.tril(x), x.T.reshape((-1,))]),
    "linear algebra": ([x, v], [T.linalg.solve(x, v), T.linalg.cholesky(x), T.linalg.det(x)]),
    "a loop": ([v], ag.scan(lambda e, s: (s * e, ag.until(s > 9)), v, T.constant(1.0))[0]),
    "a loop of rows": ([x, v], ag.scan(lambda r, s: [T.tanh(s @ x) + r, r[:2]], x, [v, None])[0]),
    "a loop until": ([v], ag.while_loop(lambda s: s.sum() < 9, lambda s: T.sort(s) * 2, v)),
    "a choice": ([v, n], ag.cond(n > 0, lambda: T.exp(v), lambda: v[1:])),
    "on the host": ([v, x], [T.cumsum(v), T.linalg.svdvals(x)]),
    "a training step": ([x], LOSS, [(w, w - 0.1 * ag.grad(LOSS, w))]),
    "a long chain": ([v], chain(v)),
}

PROFILED = ("products", "a loop", "a choice", "a training step", "on the host")

MAIN = """
#include <stdio.h>
#include <stdlib.h>
static void *take(i64 bytes) { return malloc((size_t)bytes + 1); }
static void nothing(void) {}
int main(void)
{
    static ag_runtime runtime = {.alloc = take, .release = free, .end = nothing};
    static char room[4096];
    double x[] = {0.5, 1.0, 2.0}, y[3];
    void *data[] = {x, y};
    i64 lengths[] = {3, 3}, declared[] = {-1};
    ag_call *call = (ag_call *)room;
    call->rt = &runtime, call->data = data, call->lengths = lengths, call->declared = declared;
    if (ag_entry(call)) return 1;
    for (i64 k = 0; k < lengths[1]; k++) printf("%.17g\\n", ((double *)call->data[1])[k]);
    return 0;
}
"""


@pytest.fixture(scope="module")
def gcc():
    found = shutil.which("gcc")
    if found is None:
        pytest.skip("needs gcc")
    return found


def program_of(inputs, outputs, updates=None):
    signature = make_signature(inputs, outputs, updates, None, "raise")
    return plan(Optimization(signature.graph, as_mode("FAST_RUN")).graph)


def c_of(inputs, outputs, updates=None, profile=False):
    return c_text(program_of(inputs, outputs, updates), profile)


@pytest.mark.long
def test_a_strict_compiler_is_content(gcc, tmp_path):
    files = []
    for name, function in FUNCTIONS.items():
        for profile in (False, True)[: 1 + (name in PROFILED)]:
            files.append(tmp_path / f"{name.replace(' ', '_')}{'_profiled' * profile}.c")
            files[-1].write_text(c_of(*function, profile=profile))
    for flags in (["-c"], ["-fsyntax-only", "-DAG_PREBUILT"]):
        done = subprocess.run([gcc, *STRICT, *flags, *files], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]


def in_units_alone(gcc, folder, text):
    """Compile either unit of a long file alone and link them; return the symbols of both and of the library."""
    (folder / "long.c").write_text(text)
    for unit in (1, 2):
        command = [gcc, *STRICT, "-fPIC", "-c", f"-DAG_UNIT={unit}", "-o", f"unit{unit}.o", "long.c"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
    link = [gcc, "-shared", "-nostdlib", "-o", "long.so", "unit1.o", "unit2.o", "-lm", "-lgcc"]
    subprocess.run(link, cwd=folder, check=True)
    return [
        subprocess.run(["nm", "--defined-only", *what], cwd=folder, capture_output=True, text=True, check=True).stdout
        for what in (["unit1.o"], ["unit2.o"], ["-D", "long.so"])
    ]


def test_either_unit_of_a_long_file_compiles_alone(gcc, tmp_path):
    """Kernels and the entry are in one of the two each; what they share is hidden from others."""
    text = c_of([x], [*FUNCTIONS["softmax"][1], x.sum(0), T.tanh(x).sum(1)])
    first, second, library = in_units_alone(gcc, tmp_path, text)
    kernels = [set(re.findall(r" [tT] (k_[0-9a-f]{16}(?:_short)?)$", found, re.M)) for found in (first, second)]
    assert kernels[0] and kernels[1] and not kernels[0] & kernels[1]
    assert re.findall(r" [tT] (ag_entry)$", first, re.M) == [] and " T ag_entry\n" in second
    assert [line.split()[-1] for line in library.splitlines()] == ["ag_entry"]


def long_chain():
    """A product and a sum of rows in turn: a driver of some 800 steps."""
    value = x
    for n in range(120):
        value = T.tanh(T.dot(value, x) / 8.0 + n / 100) + value.sum(0) / 7.0
    return value


def test_the_parts_of_a_long_driver_are_in_both_units(gcc, tmp_path):
    first, second, library = in_units_alone(gcc, tmp_path, c_of([x], [long_chain()]))
    parts = [set(re.findall(r" [tT] (part_\d+)$", found, re.M)) for found in (first, second)]
    assert parts[0] and parts[1] and not parts[0] & parts[1]
    assert [line.split()[-1] for line in library.splitlines()] == ["ag_entry"]


@pytest.mark.usefixtures("in_halves")
def test_a_long_driver_in_two_units_computes_the_same():
    given = np.random.default_rng(3).standard_normal((7, 7)) / 8
    expected = given
    for n in range(120):
        expected = np.tanh(expected @ given / 8.0 + n / 100) + expected.sum(0) / 7.0
    np.testing.assert_allclose(ag.function([x], long_chain())(given), expected, rtol=1e-9)


@pytest.mark.parametrize("first", [0, 1])
def test_a_kernel_and_its_form_for_short_rows_are_in_one_unit_each(gcc, tmp_path, monkeypatch, first):
    monkeypatch.setattr("arignote.cbackend.driver.units._first_unit", lambda work, driver: {first})
    kernel = lower(T.nn.softmax(x).owner)
    driver, page = f"void *caller = {kernel.name};", Page({})
    with using(replace(host(), costs=Costs(compiler=0))):
        layout = in_units([kernel], "", driver)
    for piece in (*layout.before, driver, *layout.behind):
        page.add(piece)
    text = page.file().text
    (tmp_path / "long.c").write_text(preamble(helpers(kernel)) + text)
    symbols = []
    for unit in (1, 2):
        command = [gcc, "-std=gnu11", "-O1", "-fPIC", "-c", f"-DAG_UNIT={unit}", "-o", f"unit{unit}.o", "long.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
        names = subprocess.run(["nm", f"unit{unit}.o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        symbols.append(set(re.findall(r" ([TtU]) k_[0-9a-f]{16}(|_short)$", names, re.M)))
    calling, called = symbols if first else reversed(symbols)
    assert ("U", "_short") in calling and ("T", "_short") in called


def test_a_short_main_calls_it(gcc, tmp_path):
    (tmp_path / "alone.c").write_text(c_of([v], T.exp(v) * v) + MAIN)
    assert len(MAIN.strip().splitlines()) <= 20
    subprocess.run([gcc, *STRICT, "-O2", "-o", "alone", "alone.c", "-lm"], cwd=tmp_path, check=True)
    listing = subprocess.run([tmp_path / "alone"], capture_output=True, text=True, check=True).stdout
    given = np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose([float(word) for word in listing.split()], np.exp(given) * given, rtol=1e-15)


def test_names_and_text_are_stable():
    """Two builds of one expression, with other names and other constants about, are one text."""
    first = c_of([v], T.exp(v) * v)
    T.vector("other") + 1
    assert first == c_of([v], T.exp(v) * v)
