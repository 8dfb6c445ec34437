"""The report in a real headless Chromium: choose a node, move the slider, sort, search, enlarge; light and dark."""

import json
import time

import numpy as np
import pytest
from chromium import Browser, chromium

import arignote as ag
from arignote import ops as T
from arignote.explain.recording import recorded
from arignote.explain.report import write_report
from arignote.optdb.entries import form

pytestmark = pytest.mark.skipif(chromium() is None, reason="no Chromium is installed (apt-get install chromium)")
NASTY = "w</script><script>window.broken = 1</script>\"'"


@pytest.fixture(scope="module")
def function():
    """A training step of some size, whose inputs have markup in their names, with an expression written twice."""
    x, w = T.matrix("x"), [ag.shared(np.eye(8) + k, name=f"{NASTY}{k}") for k in range(4)]
    h = x
    for v in w:
        h = T.tanh(h @ v) + T.log(1 + h**2).sum(axis=1, keepdims=True)
    cost = (h**2).mean() + (T.exp(x) * T.exp(x)).sum()
    updates = [(v, v - 0.1 * g) for v, g in zip(w, ag.grad(cost, w, stable=False), strict=True)]
    f = ag.function([x], cost, updates=updates, name=f"step {NASTY}", profile=True)
    f(np.ones((5, 8)))
    return f


@pytest.fixture(scope="module")
def report(function, tmp_path_factory):
    return function.report(tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def started():
    with Browser() as started:
        yield started


@pytest.fixture
def browser(started, report):
    """The browser with the page just loaded, as nobody has touched it."""
    started.events.clear()
    started.resize(*started.size)
    started.scheme("light")
    started.open(report)
    return started


def text(browser, selector):
    return browser.evaluate(f"document.querySelector({selector!r}).textContent")


def count(browser, selector):
    return browser.evaluate(f"document.querySelectorAll({selector!r}).length")


def test_the_page_is_interactive_and_asks_for_nothing(browser):
    assert browser.evaluate("document.body.dataset.ready") == "yes"
    assert browser.complaints() == []
    assert browser.evaluate("window.broken") is None
    assert NASTY in browser.evaluate("document.querySelector('h1').textContent")


def test_the_c_begins_with_a_kernel(browser):
    shown = """(() => {
      const around = document.querySelector('pre.c').closest('.scroll');
      const top = around.scrollTop + around.offsetTop;
      const below = [...document.querySelectorAll('pre.c span')].filter((line) => line.offsetTop >= top);
      return below.slice(0, 4).map((line) => line.textContent).join('\\n');
    })()"""
    browser.evaluate("document.querySelector('section.c').scrollIntoView()")
    browser.frames()
    if browser.evaluate("data[0].graphs.after.some((box) => (box.kernel || '').startsWith('k_'))"):
        assert " k_" in browser.evaluate(shown)


def test_a_click_on_a_node_tells_rule_line_and_c(browser):
    boxes = browser.evaluate(
        "data[0].graphs.after.flatMap((box, n) => box.rules && box.rules.length && box.kernel ? [n] : [])"
    )
    if not boxes:
        pytest.skip("NumPy runs the function: there is no kernel")
    browser.evaluate(f"articles[0].views.after.reveal({boxes[0]})")
    browser.click(f".pane[data-side=after] .box[data-box='{boxes[0]}']")
    panel = text(browser, ".panel")
    assert "your lines" in panel and "test_report_in_browser.py" in panel and "rules that shaped it" in panel
    assert "kernel" in panel
    assert count(browser, ".pane[data-side=after] .chosen") == 1
    assert count(browser, ".pane[data-side=before] .related") >= 1


def test_the_slider_steps_through_the_rewrites(browser):
    total = browser.evaluate("data[0].trace.rewrites.length")
    assert total > 5
    before = text(browser, ".state")
    browser.click(".steps button[aria-label=forward]")
    assert text(browser, ".steps output").startswith(f"1 of {total}: ")
    browser.evaluate("(() => { const s = document.querySelector('.steps input'); s.value = s.max; s.oninput(); })()")
    assert text(browser, ".steps output").startswith(f"{total} of {total}: ")
    after = text(browser, ".state")
    assert "fused" in after and "fused" not in before
    browser.click(".steps button[aria-label=back]")
    assert text(browser, ".steps output").startswith(f"{total - 1} of {total}: ")
    browser.evaluate("(() => { const s = document.querySelector('.steps input'); s.value = 0; s.oninput(); })()")
    assert text(browser, ".state") == before


def test_each_state_that_the_page_shows_is_one_of_the_trace(function, browser):
    shown = browser.evaluate(
        "(() => { const { trace } = data[0], states = new States(trace), all = [];"
        " for (let n = 0; n <= trace.rewrites.length; n++) { states.at(n);"
        " all.push(states.lines.map((line) => trace.texts[line])); } return all; })()"
    )
    stepper = function.trace.stepper()
    for position, lines in enumerate(shown):
        assert sorted(lines) == sorted(stepper.goto(position).lines), position


def test_a_rewrite_is_marked_in_the_text_and_in_the_graph(function, browser):
    place = next(r.index + 1 for r in function.trace if r.rule == "local_log1p")
    delta = function.trace[place - 1].delta
    browser.evaluate(f"articles[0].rewrites.goto({place})")
    gone, came = (browser.evaluate(f"[...document.querySelectorAll('.state .{mark}')].map((row) => row.textContent)")
                  for mark in ("gone", "came"))  # fmt: skip
    assert sorted(line[2:] for line in gone) == sorted([*delta.removed, *(old for old, _ in delta.changed)])
    assert sorted(line[2:] for line in came) == sorted([*delta.added, *(new for _, new in delta.changed)])
    assert "log1p" in text(browser, ".state .came b")
    boxes = ".rewrites .view .leaf.{}"
    assert count(browser, boxes.format("gone")) == len(gone) and count(browser, boxes.format("came")) == len(came)
    assert count(browser, ".rewrites .edge.gone") >= 1 and count(browser, ".rewrites .edge.came") >= 1
    before = count(browser, ".state span")
    browser.click(".state .more")
    assert count(browser, ".state span") > before
    for key, position in (("]", place + 1), ("[", place)):
        browser.key(".steps input", key)
        assert browser.evaluate("Number(document.querySelector('.steps input').value)") == position


def test_a_merge_says_which_values_became_one(function, browser):
    place = next(r.index for r in function.trace if any(kept != gone for kept, gone, _ in r.delta.equal))
    kept, gone, how = function.trace[place].delta.equal[0]
    browser.evaluate(f"articles[0].rewrites.goto({place + 1})")
    assert f"{kept} and {gone} are equal, both are {how}" in text(browser, ".said")


def test_a_table_is_sorted_by_a_click_and_back_by_another(browser):
    column = ".optimizer h3 ~ .scroll td:nth-child(2)"
    values = f"[...document.querySelectorAll({column!r})].map((cell) => Number(cell.dataset.value))"
    browser.click(".optimizer table th:nth-child(2)")
    assert (found := browser.evaluate(values)) == sorted(found, reverse=True) and len(set(found)) > 2
    browser.click(".optimizer table th:nth-child(2)")
    assert browser.evaluate(values) == sorted(found)
    browser.click(".optimizer table th:nth-child(1)")
    names = browser.evaluate(
        "[...document.querySelectorAll('.optimizer h3 ~ .scroll td:nth-child(1)')].map((c) => c.textContent)"
    )
    assert names == sorted(names)


def test_search_marks_nodes_and_keeps_the_rows_that_fit(browser):
    rows = count(browser, ".optimizer tbody tr:not(.hidden)")
    browser.type("#search", "log1p")
    assert 0 < count(browser, ".optimizer tbody tr:not(.hidden)") < rows
    assert count(browser, ".box.found") >= 1 and text(browser, "#found").endswith(" found")
    browser.type("#search", "no such thing")
    assert count(browser, ".optimizer tbody tr:not(.hidden)") == 0 and text(browser, "#found") == "0 found"
    browser.evaluate("(() => { const s = document.querySelector('#search'); s.value = ''; s.oninput({target: s}); })()")
    assert count(browser, ".optimizer tbody tr:not(.hidden)") == rows and count(browser, ".box.found") == 0


def test_graphs_grow_and_fit(browser):
    scale = "articles[0].views.before.scale"
    browser.click(".pane button[aria-label=fit]")
    fitting = browser.evaluate(scale)
    browser.click(".pane button[aria-label=larger]")
    assert browser.evaluate(scale) == pytest.approx(1.25 * fitting, rel=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_schemes(browser, scheme):
    """The contrast of text, by WCAG: at least 4.5 on the page and in every kind of box."""
    browser.scheme(scheme)
    pairs = browser.evaluate(
        """(() => {
        const pairs = [[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]];
        for (const box of document.querySelectorAll(".pane .box")) {
          const rect = box.querySelector("rect");
          for (const word of box.querySelectorAll("text")) {
            pairs.push([getComputedStyle(word).fill, getComputedStyle(rect).fill]);
          }
        }
        return pairs; })()"""
    )

    def luminance(colour):
        parts = [int(p) / 255 for p in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(f * p for f, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for front, back in pairs:
        low, high = sorted((luminance(front), luminance(back)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (front, back)


def test_no_words_of_a_graph_leave_their_box(browser):
    over = browser.evaluate(
        """[...document.querySelectorAll(".pane .box")].filter((box) => {
        const rect = box.querySelector("rect").getBoundingClientRect();
        const words = [...box.querySelectorAll("text")];
        return words.some((text) => text.getBoundingClientRect().width > rect.width + 1); }).length"""
    )
    assert over == 0


def test_rules_that_never_fired_are_folded_away(browser):
    cells = "[...document.querySelectorAll('.optimizer {} td:nth-child(3)')].map((c) => Number(c.dataset.value))"
    fired = browser.evaluate(cells.format("h3 ~ .scroll"))
    assert fired and all(count > 0 for count in fired)
    assert set(browser.evaluate(cells.format("details"))) == {0}
    assert not browser.evaluate("document.querySelector('.optimizer details').open")
    assert "never fired" in text(browser, ".optimizer details summary")


def test_the_chrome_trace_is_saved_as_a_file(browser, tmp_path):
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.click("#chrome")
    for _ in range(100):
        if files := list(tmp_path.glob("*.trace.json")):
            break
        time.sleep(0.05)
    events = json.loads(files[0].read_text())["traceEvents"]
    assert {"optimizer", "rule"} <= {event["cat"] for event in events}
    assert all({"name", "ph", "ts", "dur", "pid", "tid"} <= set(event) for event in events)


def test_kernels_are_called_by_what_they_compute_and_then_by_their_name(browser):
    rows = browser.evaluate(
        "[...document.querySelector('.run h3 + .scroll').querySelectorAll('tbody tr')]"
        ".map((row) => [row.firstChild.textContent, row.lastChild.textContent])"
    )
    if not browser.evaluate("data[0].graphs.after.some((box) => box.kernel)"):
        pytest.skip("NumPy runs the function: there is no kernel")
    assert any("tanh" in work for work, _ in rows)
    assert any(name.startswith("k_") for _, name in rows) and not any(work.startswith("k_") for work, _ in rows)


def test_the_form_of_a_database_filters_by_tag_and_query_without_a_script(started, tmp_path):
    queries = ["fast_run", "fast_compile", "fast_run -inplace"]
    made = form("optdb", [ag.optdb.table(query) for query in queries], queries)
    (tmp_path / "form.html").write_text("<!DOCTYPE html><meta charset=utf-8>" + made, "utf-8")
    started.open(tmp_path / "form.html")
    rows = "[...document.querySelectorAll('tbody tr')].filter((row) => row.offsetParent)"
    shown = f"{rows}.map((row) => row.cells[1].textContent)"

    def choose(menu, word):
        started.evaluate(
            f"(() => {{ const menu = document.querySelector('select.{menu}');"
            f" menu.value = [...menu.options].find((o) => o.text.split(' (')[0] === {word!r}).value; }})()"
        )

    assert started.evaluate(shown) == [row.path for row in ag.optdb.table()]
    choose("query", "fast_compile")
    choose("show", "taken")
    assert started.evaluate(shown) == [row.path for row in ag.optdb.table("fast_compile") if row.taken]
    choose("query", "fast_run")
    choose("without", "inplace")
    assert started.evaluate(shown) == [row.path for row in ag.optdb.table("fast_run -inplace") if row.taken]
    choose("without", "none")
    choose("with", "stabilize")
    found = started.evaluate(shown)
    assert 5 < len(found) < 200 and "local_log1p" in " ".join(found)
    choose("show", "left out")
    assert not set(found) & set(started.evaluate(shown))


def test_many_kinds_of_functions_are_shown_and_chosen(started, tmp_path):
    x = y = T.vector("x")
    for _ in range(2_100):
        y = T.sin(y)
    functions = [
        ag.function([x], y, mode=ag.Mode("merge1", backend="numpy")), ag.function([], []), ag.function([x], x),
        ag.function([x], [T.exp(x), T.exp(x) + 1], mode="NUMPY"), ag.function([x], T.log(1 + x).sum(), profile=True),
    ]  # fmt: skip
    old = recorded(functions[-1])  # of a version without places and parts of lines
    for field in ("places", "call", "events"):
        del old[field]
    del old["trace"]["nodes"]
    write_report([*map(recorded, functions), old], tmp_path / "many.html")
    started.events.clear()
    started.open(tmp_path / "many.html")
    for n in range(len(functions) + 1):
        started.evaluate(f"choice.value = {n}; choice.onchange()")
        assert started.evaluate("sections.flatMap((section, k) => (section.hidden ? [] : [k]))") == [n]
        started.evaluate(
            f"(({{ rewrites: of }}) => {{ if (of) for (let k = 0; k <= of.trace.rewrites.length; k++) of.goto(k); }})"
            f"(articles[{n}])"
        )
        started.frames()
    assert started.complaints() == []
