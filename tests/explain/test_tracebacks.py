"""Errors in a real IPython kernel: the first six lines that are shown hold the guilty one, and no frame is ours."""

import gc
import re
import sys
import weakref

import numpy as np
import pytest
from isolation import same_recursion_limit
from test_gallery import GALLERY, HEAD

import arignote as ag
from arignote import ops as T

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
OURS = re.compile(r"\b(ops|graph|optdb|cbackend|arignote|profiling)/\w+.*\.py")
TWICE = "def inner(a):\n    return f(a, four)\ndef outer(a):\n    return inner(a)\nouter(three)"


@pytest.fixture(scope="module")
def shown():
    """Runs cells in one kernel: text of what each shows of its error; "" where there was none."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")

    def run(*cells):
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        with same_recursion_limit():
            nbclient.NotebookClient(book, timeout=120, kernel_name="python3", allow_errors=True).execute()
        return [reported_by(cell.outputs) for cell in book.cells]

    return run


def reported_by(outputs):
    """The text of the form if there is one, else the traceback."""
    (error,) = [o for o in outputs if o.output_type == "error"] or [None]
    if error is None:
        return ""
    forms = [o.data for o in outputs if o.output_type == "display_data" and "<b" in o.data.get("text/html", "")]
    if not forms:
        return "\n".join(error.traceback)
    assert len(forms) == 1 and error.traceback == forms[0]["text/plain"].splitlines()[:1]
    return forms[0]["text/plain"]


@pytest.mark.long
def test_the_gallery_in_a_notebook(shown):
    cells = [cell for program in GALLERY.values() for cell in (HEAD, program)]
    texts = [COLOURS.sub("", text) for text in shown("%load_ext arignote", *cells)[1:]]
    assert not any(texts[::2])
    bad = {}
    for name, text in zip(GALLERY, texts[1::2], strict=True):
        guilty = next(line for line in GALLERY[name].splitlines() if "#!" in line).strip()
        if guilty not in "\n".join(text.splitlines()[:6]) or OURS.search(text):
            bad[name] = text
    assert len(bad) <= 0.05 * len(GALLERY), "\n\n".join(f"{name}:\n{text}" for name, text in bad.items())


def test_calls_need_no_extension(shown, golden):
    _, text, foreign = shown(f"{HEAD}h = T.exp(x) * y\nf = ag.function([x, y], h)", TWICE, "1 / 0")
    assert text.count("\x1b[31m") == 2  # the kind of the error and the underlines
    golden("error_in_a_notebook.txt", COLOURS.sub("", text) + "\n")
    assert "ZeroDivisionError" in foreign and "Traceback (most recent call last)" in foreign


def test_the_form_underlines_the_guilty_and_lists_shapes(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", ag)
    x, y = T.vector("<x>"), T.matrix("y")
    f = ag.function([x, y], T.exp(x) * y, mode="NUMPY")
    with pytest.raises(ValueError, match="could not be broadcast") as caught:
        f(np.ones(3), np.ones((2, 4)))
    form = caught.value._repr_html_()
    assert form.count("underline wavy") == 2 and "exp(&lt;x&gt;)" in form and "<x>" not in form
    assert "<code>(2, 4)</code>" in form and "test_tracebacks.py" in form and "np.ones((2, 4))" in form
    assert caught.value.pointed.guilty == (0, 1)


def test_errors_of_others_keep_their_traceback(shown):
    foreign = "class A:\n    def __array__(self, *_, **__): 1 / 0"
    cells = ["%load_ext arignote", "{}['a']", foreign, f"{HEAD}f = ag.function([x], x)", "f(A())"]
    _, key, _, _, array = shown(*cells)
    assert "Traceback (most recent call last)" in key and "KeyError" in key
    assert "1 / 0" in COLOURS.sub("", array)


def test_what_is_kept_for_the_notebook_holds_no_array(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", ag)
    x, y = T.vector("x"), T.vector("y")
    f = ag.function([x, y], x + y)
    value = np.ones(3)
    alive = weakref.ref(value)
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(ValueError, match="do not agree") as caught:
            f(value, np.ones(4))
        assert "  > f(value, np.ones(4))" in caught.value._render_traceback_()
        del caught, value
        assert alive() is None
    finally:
        gc.enable()
