"""The report in a real headless Chromium: choose a node, move the slider, sort, search, enlarge; light and dark."""

import numpy as np
import pytest
from chromium import Browser, chromium

import arignote as ag
from arignote import ops as T

pytestmark = pytest.mark.skipif(chromium() is None, reason="no Chromium is installed (apt-get install chromium)")
NASTY = "w</script><script>window.broken = 1</script>\"'"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a training step of some size, whose inputs have markup in their names."""
    x, w = T.matrix("x"), [ag.shared(np.eye(8) + k, name=f"{NASTY}{k}") for k in range(4)]
    h = x
    for v in w:
        h = T.tanh(h @ v) + T.log(1 + h**2).sum(axis=1, keepdims=True)
    cost = (h**2).mean()
    updates = [(v, v - 0.1 * g) for v, g in zip(w, ag.grad(cost, w), strict=True)]
    f = ag.function([x], cost, updates=updates, name=f"step {NASTY}", profile=True)
    f(np.ones((5, 8)))
    return f.report(tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def started():
    with Browser() as started:
        started.call("Performance.enable", timeDomain="threadTicks")
        yield started


@pytest.fixture
def browser(started, report):
    """The browser with the page just loaded, as nobody has touched it."""
    started.events.clear()
    started.resize(*started.size)
    started.scheme("light")
    before = started.busy()
    started.open(report)
    started.seconds = started.busy() - before
    return started


def text(browser, selector):
    return browser.evaluate(f"document.querySelector({selector!r}).textContent")


def count(browser, selector):
    return browser.evaluate(f"document.querySelectorAll({selector!r}).length")


def test_the_page_is_interactive_soon_and_asks_for_nothing(browser):
    assert browser.evaluate("document.body.dataset.ready") == "yes"
    assert browser.seconds < 1.0
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
    if browser.evaluate("data[0].graphs.after.some((box) => (box.kernel || '').startsWith('k_'))"):
        assert " k_" in browser.evaluate(shown)


def test_a_click_on_a_node_tells_rule_line_and_c(browser):
    boxes = browser.evaluate(
        "data[0].graphs.after.flatMap((box, n) => box.rules && box.rules.length && box.kernel ? [n] : [])"
    )
    if not boxes:
        pytest.skip("NumPy runs the function: there is no kernel")
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


def test_each_state_that_the_page_shows_is_one_of_the_trace(report, browser):
    shown = browser.evaluate("data[0].trace.rewrites.map((_, n) => stateAfter(data[0].trace, n + 1).lines)")
    wanted = browser.evaluate(
        "data[0].trace.rewrites.map((r) => r.changes.added.concat(r.changes.changed.map((c) => c[1])))"
    )
    assert all(set(lines) <= set(state) for lines, state in zip(wanted, shown, strict=True))
    gone = browser.evaluate("data[0].trace.rewrites.map((r) => r.changes.removed)")
    assert not any(set(lines) & set(state) for lines, state in zip(gone, shown, strict=True))


def test_a_table_is_sorted_by_a_click_and_back_by_another(browser):
    column = ".optimizer table td:nth-child(2)"
    values = f"[...document.querySelectorAll({column!r})].map((cell) => Number(cell.dataset.value))"
    browser.click(".optimizer table th:nth-child(2)")
    assert (found := browser.evaluate(values)) == sorted(found, reverse=True) and len(set(found)) > 2
    browser.click(".optimizer table th:nth-child(2)")
    assert browser.evaluate(values) == sorted(found)
    browser.click(".optimizer table th:nth-child(1)")
    names = browser.evaluate(
        "[...document.querySelectorAll('.optimizer table td:nth-child(1)')].map((c) => c.textContent)"
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
    width = "document.querySelector('.pane svg').getBoundingClientRect().width"
    browser.click(".pane button[aria-label=fit]")
    fitting = browser.evaluate(width)
    browser.click(".pane button[aria-label=larger]")
    assert browser.evaluate(width) == pytest.approx(1.25 * fitting, rel=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_schemes(browser, scheme):
    """The contrast of text, by WCAG: at least 4.5 on the page and in every kind of box."""
    browser.scheme(scheme)
    pairs = browser.evaluate(
        """(() => {
        const pairs = [[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]];
        for (const box of document.querySelectorAll(".pane .box")) {
          const [rect, word] = [box.querySelector("rect"), box.querySelector("text")];
          pairs.push([getComputedStyle(word).fill, getComputedStyle(rect).fill]);
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
