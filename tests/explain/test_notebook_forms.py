"""Output of notebooks: formulas, forms without scripts, completion, progress; the examples run."""

import importlib.util
import io
import json
import os
import re
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from isolation import same_recursion_limit
from test_report import tags_of

import arignote as ag
from arignote import ops as T
from arignote.explain import simplifying
from arignote.explain.completion import load_ipython_extension, names_like
from arignote.explain.recording import recorded
from arignote.explain.tracebacks import ErrorReport
from arignote.function import compile_progress
from arignote.function.compile_progress import Progress, Silence, progress, shower
from arignote.pages.mathml import mathml
from arignote.pages.page import page
from arignote.profiling.difference import difference

ROOT = Path(__file__).resolve().parents[2]
X, Y, A = T.vector("x"), T.vector("y_1"), T.matrix("weights")


@pytest.mark.parametrize(
    ("expression", "formula"),
    [
        (T.exp(X) * Y + T.sin(X), r"e^{@x} \odot @y_{1} + \sin\left(@x\right)"),
        ((X + Y) * 2, r"2 \, \left(@x + @y_{1}\right)"),
        (2 * X * 3, r"6 \, @x"),
        (X * -3.0, r"-3 \, @x"),
        (X - (Y + 1 - Y), r"@x - 1"),
        (X - (Y * Y), r"@x - @y_{1}^{2}"),
        (-((X + Y) ** 2), r"-\left(@x + @y_{1}\right)^{2}"),
        ((-X) ** 3, r"\left(-@x\right)^{3}"),
        ((X / Y) ** 2, r"\left(\frac{@x}{@y_{1}}\right)^{2}"),
        (X / (1 + Y), r"\frac{@x}{1 + @y_{1}}"),
        (T.exp(-(X**2) / 2), r"e^{-@x^{2} / 2}"),
        (A.T @ X, r"\mathbf{weights}^{\top} \, @x"),
        (T.sqrt(abs(X)), r"\sqrt{\left|@x\right|}"),
        (A.sum(axis=1), r"\sum_{i} \mathbf{weights}_{:, i}"),
        (A.sum(axis=0) * X, r"\left(\sum_{i} \mathbf{weights}_{i, :}\right) \odot @x"),
        ((X + Y).sum(), r"\sum_{i} \left(@x + @y_{1}\right)_{i}"),
        (T.where(X > 0, X, 0), r"\begin{cases}@x & @x > 0 \\ 0 & \text{otherwise}\end{cases}"),
        (T.where(X > 0, X, 0) + 1, r"\left(\begin{cases}@x & @x > 0 \\ 0 & \text{otherwise}\end{cases}\right) + 1"),
        (A[1:, 0], r"\mathbf{weights}_{1:, 0}"),
        (X[:, None], r"@x_{:, \mathrm{None}}"),
        (A[T.lvector("k")], r"\mathbf{weights}_{\boldsymbol{k}, :}"),
        (T.softmax(A), r"\operatorname{softmax}_{\mathrm{axis}\,1}\left(\mathbf{weights}\right)"),
        (T.argmax(A, axis=0), r"\operatorname{argmax}_{\mathrm{axis}\,0}\left(\mathbf{weights}\right)"),
        (T.constant([1.0, 2.5, 3.0]) + X, r"\left[1, 2.5, 3\right] + @x"),
        (X * 1e-7, r"10^{-7} \, @x"),
        (X + np.inf, r"@x + \infty"),
        (X + 0.9999999, "@x + 0.9999999"),
        (X + 12345678.0, "@x + 12345678"),
        (X + 1 / 3, "@x + 0.333333"),
    ],
)
def test_small_expressions_are_formulas(expression, formula):
    formula = re.sub(r"@(\w)", r"\\boldsymbol{\1}", formula)
    assert expression._repr_latex_() == rf"$\displaystyle {formula}$"
    shown = ET.fromstring(expression._repr_html_())  # without a network; LaTeX is for those who print
    (drawn,) = (e for e in shown.iter() if e.tag.endswith("math"))
    assert "\\" not in "".join(drawn.itertext())
    assert formula in [e.text for e in shown.iter("pre")]


def test_a_cell_simplifies_an_expression_once(monkeypatch):
    asked = []
    simplified = simplifying.simplified
    monkeypatch.setattr(simplifying, "simplified", lambda outputs: asked.append(1) or simplified(outputs))
    inner = X + 1
    y = T.exp(inner) * T.exp(inner)
    for _ in range(2):
        y._repr_latex_(), y._repr_html_(), y._repr_pretty_(SimpleNamespace(text=str), False)
    assert len(asked) == 1
    inner.name = "shifted"
    y._repr_latex_(), y._repr_html_()
    assert len(asked) == 2


def test_formulas_become_mathml():
    x, w = T.vector("x"), T.matrix("w_max1")
    drawn = mathml((T.exp(-x) / T.sqrt(w)).sum(axis=1)._repr_latex_().strip("$").removeprefix("\\displaystyle "))
    for part in ("<mo>∑</mo>", "<msup><mi>e</mi><mrow><mo>−</mo><mi style=", "<mfrac>", "<msqrt>"):
        assert part in drawn
    assert '<msub><mi style="font-weight:bold;font-style:normal">w_max</mi><mrow><mn>1</mn></mrow></msub>' in drawn
    choice = ET.fromstring(T.switch(x > 0, x, 0)._repr_html_())
    assert [cell.tag.rpartition("}")[2] for cell in choice.iter() if cell.tag.endswith("mtd")] == ["mtd"] * 4
    for wrong in (r"\frac{1}", "{", "}", r"\nothing{x}", r"\left( x"):
        with pytest.raises(ValueError, match="formula"):
            mathml(wrong)


def test_generated_text_shows_its_lines():
    f = ag.function([X], T.exp(X) < 1)
    for text in (f.c_source(), f.explain()):
        shown = []
        text._repr_pretty_(SimpleNamespace(text=shown.append), False)
        assert shown == [text] and isinstance(text, str)
        assert "".join(ET.fromstring(text._repr_html_()).itertext()) == text


def test_braces_of_formulas_match_whatever_names_are():
    for name in ("a_b", "x{", "5%", "$", "w\\", "", "_", "x1_2", "<b>"):
        v = T.vector(name)
        formula = (T.exp(v) / v)._repr_latex_()
        plain = formula.replace(r"\{", "").replace(r"\}", "").replace("\\$", "")
        assert plain.count("{") == plain.count("}") and plain.count("$") == 2 and "<" not in plain
        message = "".join(ET.fromstring((T.exp(v) / v)._repr_html_()).itertext())
        assert all(c in message for c in name if c.isalnum() or c in "{$<>%")


def test_leaves_have_a_card_and_large_expressions_a_picture():
    assert X._repr_latex_() is None and T.constant(1.0)._repr_latex_() is None
    for shown, parts in (
        (X, ("input x", "float64", "(?,)", "test_notebook_forms.py")),
        (T.constant([[1.5, 2.5]], name="<c>"), ("constant <c>", "(1, 2)", "16 B", "1.5", "min 1.5")),
        (ag.shared(np.arange(5000), name="w"), ("shared variable w", "(5000,) now", "40 kB", "4997, 4998, 4999")),
    ):
        text = "".join(ET.fromstring(shown._repr_html_()).itertext())
        assert all(part in text for part in parts), text
        printed = []
        shown._repr_pretty_(SimpleNamespace(text=printed.append), False)
        assert all(part in printed[0] for part in parts)
    y = X
    for _ in range(60):
        y = T.tanh(y) + 1
    assert y._repr_latex_() is None
    assert "<svg" in y._repr_html_()
    doubling = X
    for _ in range(39):
        doubling = T.exp(doubling) + doubling
    assert r"\text{where }" in doubling._repr_latex_() and len(doubling._repr_latex_()) < 5_000


def forms():
    f = ag.function([X, Y], T.log(1 + X) * Y, name="<q>f", profile=True)
    never = ag.function([X], X + 1, profile=True)
    f(np.ones(3), np.ones(3))
    with ag.profile() as empty:
        pass
    with ag.profile() as collection:
        plain = ag.function([X, Y], T.log(1 + X) * Y, name="<q>f", mode="fast_run -fusion")
        plain(np.ones(3), np.ones(3))
    return {
        "function": f, "numpy function": ag.function([X], X, mode="NUMPY"), "graph": f.graph,
        "optimizer profile": f.optimizer_profile, "no optimizer": ag.function([X], X, mode="NUMPY").optimizer_profile,
        "run profile": f.profile, "never called": never.profile, "trace": f.trace, "mode": ag.Mode(),
        "no query": ag.Mode(None), "query": ag.Query.parse("fast_run &x -inplace <3 canonicalize(a)"),
        "table": ag.optdb.table("fast_run -inplace"), "database": ag.optdb, "formula": T.exp(X) / 2,
        "collection": collection, "empty collection": empty,
        "why": f.why("x"), "debug": f.debug(-np.ones(3), np.ones(3)), "remarks": plain.remarks,
        "no remarks": never.remarks, "difference": difference(f.optimizer_profile, plain.optimizer_profile),
    }  # fmt: skip


@pytest.mark.few(5)
@pytest.mark.parametrize("name", forms())
def test_forms_are_sound_html_without_scripts(name):
    thing = forms()[name]
    text = thing._repr_html_()
    counts = tags_of(text)
    plain = re.sub("http://www.w3.org/(2000/svg|1998/Math/MathML)|http-equiv", "", text)
    assert "script" not in counts and "http" not in plain  # that of a database runs in a frame of its own
    assert "<q>f" not in text
    cells = [ET.fromstring(cell) for cell in re.findall("<td[ >].*?</td>", text)]
    long = [cell for cell in cells if len("".join(cell.itertext())) > 24]  # narrow pages cut none
    fit = all("overflow-wrap:anywhere" in cell.get("style", "") for cell in long)
    assert fit or name == "table"  # which has a style sheet of its own
    for drawing in text.split("<svg")[1:]:
        ET.fromstring("<svg" + drawing.split("</svg>")[0] + "</svg>")
    assert repr(thing) and "object at 0x" not in repr(thing)


def messages_about(name):
    """The HTML of what carries a user's name: functions, pictures, errors, reports."""
    x, y = T.vector(name), T.vector("y")
    f = ag.function([x, y], T.exp(x) * y, name=name, mode="NUMPY")
    with pytest.raises(ValueError, match="broadcast") as caught:
        f(np.ones(3), np.ones(4))
    error = ErrorReport("ValueError", str(caught.value), (), caught.value.pointed)
    return [f._repr_html_(), f.graph._repr_html_(), error.html(), page([recorded(f)])]


@pytest.mark.long
@given(st.text(min_size=1, max_size=20).filter(lambda name: name.isprintable() or "<" in name))
@settings(max_examples=25)
@example("<\r\n")
def test_names_are_text_whatever_is_in_them(name):
    for form, plain in zip(messages_about(f"<b a='{name}\">&"), messages_about("name"), strict=True):
        assert form.count("<b") == plain.count("<b") and form.count("<script") == plain.count("<script")
        assert "<b a=" not in form


def test_a_thousand_nodes_weigh_little():
    y = X
    for k in range(500):
        y = T.sin(y) * (X if k % 3 else y)
    assert len(ag.FunctionGraph([X], [y])._repr_html_()) < 200_000


# --- completion
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('mode.excluding("local_mul_z', ["local_mul_zero"]),
        (
            "m.including('fusion', 'local_log1p_o",
            ["local_log1p_of_expm1", "local_log1p_of_minus", "local_log1p_of_scaled_exp"],
        ),
        ('ag.optdb.query("fast_run -inplace_elemwise_o', ["inplace_elemwise_opt", "inplace_elemwise_optimizer"]),
        ('ag.function([x], y, mode="fast_run -add_destroy', ["add_destroy_handler"]),
        ('print("inpl', []),
        ("mode.excluding(inpl", []),
    ],
)
def test_names_and_tags_are_completed_in_queries(line, found):
    assert names_like(line) == found


def test_the_extension_gives_ipython_the_names():
    completer = SimpleNamespace(custom_matchers=[], text_until_cursor='mode.excluding("local_mul_z')
    ag.load_ipython_extension(SimpleNamespace(Completer=completer, set_custom_exc=lambda *_: None))
    assert ag.load_ipython_extension is load_ipython_extension
    assert completer.custom_matchers[0]("local_mul_z") == ["local_mul_zero"]
    assert "local_mul_zero" in ag.optdb._ipython_key_completions_()


# --- progress
class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_after_half_a_second_and_wiped(monkeypatch):
    monkeypatch.setattr(compile_progress, "PATIENCE", 0.02)
    terminal = Terminal()
    shown = Progress("step", shower(terminal))
    deadline = time.monotonic() + 60
    while "optimizing" not in terminal.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    shown.stage = "making C"
    shown.end()
    lines = terminal.getvalue().split("\r")
    assert re.match(r"arignote: compiling step: optimizing \d+\.", lines[0]) and lines[-1] == ""
    assert lines[-2] == " " * len(lines[-2]) and len(lines[-2]) >= len(lines[0])


def test_a_short_compilation_says_nothing(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(compile_progress, "PATIENCE", 3600)
    with progress("step") as shown:
        shown.stage = "making C"
        assert isinstance(shown, Progress)
    assert terminal.getvalue() == ""


def test_where_nobody_looks_no_thread_is_started(monkeypatch):
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress("step") as shown:
            assert isinstance(shown, Silence)


def test_a_terminal_that_is_closed_meanwhile_is_no_error():
    terminal = Terminal()
    show = shower(terminal)
    terminal.close()
    show("line")
    assert shower(terminal) is None


# --- the examples
EXAMPLES = sorted((ROOT / "examples").glob("*.ipynb"))


def runner():
    spec = importlib.util.spec_from_file_location("examples_run", ROOT / "examples" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", EXAMPLES, ids=[p.stem for p in EXAMPLES])
def test_examples_are_kept_with_outputs_and_without_paths(path):
    cells = [c for c in json.loads(path.read_text("utf-8"))["cells"] if c["cell_type"] == "code"]
    assert cells and all(c["execution_count"] for c in cells)
    pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    module = runner()
    assert module.problems(module.nbformat.read(path, as_version=4)) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=[p.stem for p in EXAMPLES])
@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_examples_run(path):
    pytest.importorskip("ipykernel")
    pytest.importorskip("nbclient")
    module = runner()
    with same_recursion_limit(), mock.patch.dict(os.environ):
        assert module.problems(module.executed(path)) == []
