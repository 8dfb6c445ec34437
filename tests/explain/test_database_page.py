"""The page of a database in a real Chromium: queries, completion, chips, rows that open, narrow screens."""

import numpy as np
import pytest
from chromium import Browser, chromium

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.records import log
from arignote.optdb import SequenceDB, node_rule

QUERIES = (
    "fast_compile -inplace -useless", "fast_run &exact <2", "local_mul_zero +stabilize -relaxes_nan",
    "fast_run canonicalize(canonicalize -local_add_canonizer)",
)  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    if chromium() is None:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    x = T.vector("x")
    ag.function([x], T.log(1 + x) * 1, mode="FAST_RUN", engine="numpy", name="one")(np.ones(3))
    path = ag.optdb.save(tmp_path_factory.mktemp("database") / "optdb.html")
    with Browser() as browser:
        browser.open(path)
        yield browser


SHOWN = "[...document.querySelectorAll('.rows details')].filter((row) => !row.hidden)"


def typed(page, query, number=0):
    page.evaluate(f"(() => {{ const f = document.querySelectorAll('input')[{number}]; f.value = {query!r};"
                  " f.selectionStart = f.selectionEnd = f.value.length; f.oninput(); })()")  # fmt: skip


def press(page, selector):
    page.evaluate(f"document.querySelector({selector!r}).click()")


@pytest.mark.long
def test_queries_get_the_answers_of_the_table(page):
    for query in QUERIES:
        typed(page, query)
        found = page.evaluate(f"{SHOWN}.map((row) => row.querySelector('.answer').textContent)")
        assert found == [row[-1] for row in ag.optdb.table(query).cells()], query
    typed(page, "")


def test_counts_agree_and_plain_words_search(page):
    count = len(ag.optdb.table())
    foot = "document.querySelector('.foot').textContent"
    assert f"{count:,} rules and passes" in page.evaluate("document.querySelector('h1').textContent")
    assert page.evaluate(foot) == f"{count:,} of {count:,} rules and passes shown"
    typed(page, "softplus")
    shown = page.evaluate(f"{SHOWN}.length")
    assert 0 < shown < 40 and page.evaluate(foot).startswith(f"{shown} of {count:,} ")
    typed(page, "-no_such_tag")
    assert "no rule or tag is named no_such_tag" in page.evaluate("document.querySelector('.said').textContent")
    typed(page, "")


def test_words_are_completed(page):
    typed(page, "fast_run -inpl")
    choices = "[...document.querySelectorAll('.choices')[0].children].map((c) => c.firstChild.textContent)"
    assert page.evaluate(choices)[0] == "inplace"
    page.evaluate("document.querySelector('input').onkeydown(new KeyboardEvent('keydown', { key: 'Tab' }))")
    assert page.evaluate("document.querySelector('input').value") == "fast_run -inplace"
    typed(page, "")


def test_chips_filter_and_two_queries_stand_side_by_side(page):
    names = f"{SHOWN}.map((row) => row.querySelector('.name').textContent)"
    press(page, ".chips [data-tag=stabilize]")
    found = page.evaluate(names)
    assert found == [r.name for r in ag.optdb.table() if "stabilize" in {*r.tags, *r.around}]
    press(page, ".chips [data-tag=stabilize]")
    assert len(page.evaluate(names)) == len(ag.optdb.table()) - len(found)
    press(page, ".chips [data-tag=stabilize]")
    typed(page, "fast_run")
    typed(page, "fast_run -fusion", 1)
    press(page, "[data-show=different]")
    a, b = ag.optdb.table("fast_run"), ag.optdb.table("fast_run -fusion")
    assert page.evaluate(names) == [r.name for r, s in zip(a, b, strict=True) if r.taken != s.taken]
    press(page, "[data-show=all]")
    typed(page, ""), typed(page, "", 1)


def test_a_row_opens_to_rule_example_and_work(page):
    typed(page, "local_log1p log(add")
    row = f"{SHOWN}.find((row) => row.querySelector('.name').textContent === 'local_log1p')"
    page.evaluate(f"{row}.open = true")
    page.frames()
    text = page.evaluate(f"{row}.querySelector('dl').textContent")
    assert "log(add(1, x))" in text and "log1p(x)" in text and "log(1 + x)" in text
    assert "applied" in text and "position" in text and "stabilize" in text
    typed(page, "")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_has_three_lines_a_rule_and_no_sideways_scrolling(page, scheme):
    size = page.size
    page.resize(400, 800)
    page.scheme(scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    tops = page.evaluate(f"[...{SHOWN}[3].querySelector('summary').children].slice(0, 3)"
                         ".map((cell) => [cell.offsetLeft, cell.offsetTop])")  # fmt: skip
    assert len({left for left, _ in tops}) == 1 and len({top for _, top in tops}) == 3
    page.scheme("light")
    page.resize(*size)


@pytest.mark.long
def test_a_database_of_ones_own_has_a_page(tmp_path):
    nasty = "log(x) -> </pre><script>window.broken = 1</script>"
    never = node_rule("log_exp", log, lambda node: None, formula=nasty)
    own = SequenceDB("mine").register("log_exp", never, "fast_run")
    text = own.page("fast_run")
    assert "SequenceDB mine: 1 rule or pass" in text and text.count("<script>") == 1
    assert own.save(tmp_path / "own.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(KeyError, match="fast_rum"):
        ag.optdb.page("fast_rum")
    with pytest.raises(ValueError, match="at most two"):
        ag.optdb.page("fast_run", "fast_run", "fast_run")
