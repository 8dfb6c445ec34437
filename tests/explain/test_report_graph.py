"""The graph of a report in a headless Chromium: readable at first sight, moved by mouse and keys, coloured by time."""

import numpy as np
import pytest
from chromium import Browser, chromium

import arignote as ag
from arignote import ops as T

pytestmark = pytest.mark.skipif(chromium() is None, reason="no Chromium is installed (apt-get install chromium)")
LAYERS, LEAST_PIXELS, MOST_SECONDS = 12, 9, 0.3
VIEW = "articles[0].views.before"


def layer(h, w):
    gate = T.sigmoid(h)
    return T.tanh(h @ w) * gate + h.sum(axis=1, keepdims=True)


def step():
    """A training step of 374 nodes or a few more."""
    x, h = T.matrix("x"), T.matrix("x")
    weights = [ag.shared(np.eye(8) + k, name=f"w{k}") for k in range(LAYERS)]
    h = x
    for w in weights:
        h = layer(h, w)
    cost = (h**2).mean()
    updates = [(w, w - 0.1 * g) for w, g in zip(weights, ag.grad(cost, weights), strict=True)]
    return ag.function([x], cost, updates=updates, name="step", profile=True)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    f = step()
    assert len(f.unoptimized_graph) >= 374
    f(np.full((5, 8), 0.01))
    return f.report(tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def started():
    with Browser(1400, 1000) as started:
        started.call("Performance.enable", timeDomain="threadTicks")
        yield started


@pytest.fixture
def browser(started, report):
    started.events.clear()
    started.resize(*started.size)
    started.open(report)
    started.frames()
    return started


def centre(browser, selector):
    return browser.evaluate(
        f"(() => {{ const r = document.querySelector({selector!r}).getBoundingClientRect();"
        " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
    )


def test_a_large_step_is_interactive_at_once(report):
    """In all processor seconds of a fresh page, of which other programs take none; the best of three."""
    found = []
    for _ in range(3):
        with Browser(1400, 1000) as fresh:
            fresh.call("Performance.enable", timeDomain="threadTicks")
            fresh.open(report)
            found.append(fresh.busy())
            assert fresh.complaints() == []
        if found[-1] <= MOST_SECONDS:
            return
    raise AssertionError(found)


@pytest.mark.parametrize("width", [1400, 400])
def test_every_label_can_be_read_at_first_sight(browser, report, width):
    browser.resize(width, 1000)
    browser.open(report)
    browser.frames()
    sizes = browser.evaluate(
        """[...document.querySelectorAll(".view text, .figure text")].map((text) => {
        const style = getComputedStyle(text), matrix = text.getScreenCTM();
        const seen = style.display !== "none" && text.textContent && matrix;
        return seen ? parseFloat(style.fontSize) * matrix.d : 99; })"""
    )
    assert len(sizes) > 10 and min(sizes) >= LEAST_PIXELS - 0.01
    for side in ("before", "after"):
        view = f"articles[0].views.{side}"
        assert browser.evaluate(f"{view}.drawn.root.width * {view}.scale <= {view}.size.width + 1")
        assert browser.evaluate(f"{view}.drawn.root.height * {view}.scale <= {view}.size.height + 1")


def test_boxes_do_not_overlap_and_edges_go_down(browser):
    browser.evaluate(f"{VIEW}.reveal(100)")
    overlaps = browser.evaluate(
        f"""(() => {{ const boxes = {VIEW}.drawn.boxes, apart = (a, b) => a.left + a.width <= b.left + 0.1 ||
        b.left + b.width <= a.left + 0.1 || a.top + a.height <= b.top + 0.1 || b.top + b.height <= a.top + 0.1;
        return boxes.flatMap((a, n) => boxes.slice(n + 1).filter((b) => !apart(a, b))).length; }})()"""
    )
    upward = browser.evaluate(
        f"wires({VIEW}.drawn, {VIEW}.nodes).filter(({{from, box}}) => from.top + from.height > box.top + 0.1).length"
    )
    assert (overlaps, upward) == (0, 0)


def test_groups_are_functions_and_lines_of_the_user_and_open_by_a_click(browser):
    titles = f"{VIEW}.drawn.boxes.concat({VIEW}.drawn.frames).map((box) => box.item.title || '')"
    assert "layer()" in browser.evaluate(titles)
    browser.evaluate(f"{VIEW}.openFor(new Set({VIEW}.nodes.keys())); {VIEW}.draw()")
    assert "gate = T.sigmoid(h)" in browser.evaluate(titles)
    frames = browser.evaluate(f"{VIEW}.drawn.frames.length")
    browser.evaluate(f"{VIEW}.bringIntoView([{VIEW}.drawn.frames[0]])")
    browser.click(".pane[data-side=before] .frame .title")
    assert browser.evaluate(f"{VIEW}.drawn.frames.length") < frames


def test_the_wheel_zooms_at_the_mouse_and_dragging_moves(browser):
    at = centre(browser, ".pane[data-side=before] .view")
    state = f"[{VIEW}.scale, {VIEW}.x, {VIEW}.y]"
    left, top = browser.evaluate(
        f"(() => {{ const r = {VIEW}.svg.getBoundingClientRect(); return [r.x, r.y]; }})()"
    )
    scale, x, y = browser.evaluate(state)
    browser.mouse("Wheel", at[0] + 50, at[1] - 20, deltaX=0, deltaY=-240)
    browser.frames()
    larger, x1, y1 = browser.evaluate(state)
    assert larger > 1.2 * scale
    for pointer, before, after in ((at[0] + 50 - left, x, x1), (at[1] - 20 - top, y, y1)):
        assert (pointer - before) / scale == pytest.approx((pointer - after) / larger, abs=0.5)
    browser.mouse("Pressed", at[0], at[1], button="left", buttons=1, clickCount=1)
    for n in range(1, 5):
        browser.mouse("Moved", at[0] + 10 * n, at[1] + 5 * n, button="left", buttons=1)
    browser.mouse("Released", at[0] + 40, at[1] + 20, button="left", clickCount=1)
    scale, x, y = browser.evaluate(state)
    assert (scale, x - x1) == (larger, pytest.approx(40, abs=11)) and y - y1 == pytest.approx(20, abs=6)


def test_the_minimap_shows_when_the_drawing_is_larger_and_moves_it(browser):
    minimap = ".pane[data-side=before] .minimap"
    hidden = f"document.querySelector('{minimap}').classList.contains('unneeded')"
    assert browser.evaluate(hidden)
    browser.evaluate(f"{VIEW}.zoom(3)")
    assert not browser.evaluate(hidden)
    x, y = centre(browser, minimap)
    browser.mouse("Pressed", x, y - 10, button="left", buttons=1, clickCount=1)
    browser.mouse("Released", x, y - 10, button="left", clickCount=1)
    middle = browser.evaluate(f"({VIEW}.size.width / 2 - {VIEW}.x) / {VIEW}.scale / {VIEW}.drawn.root.width")
    assert middle == pytest.approx(0.5, abs=0.02)


def test_keys_move_zoom_choose_and_open(browser):
    view, state = ".pane[data-side=before] .view", f"[{VIEW}.scale, {VIEW}.x, {VIEW}.y]"
    scale, x, y = browser.evaluate(state)
    browser.key(view, "ArrowRight")
    assert browser.evaluate(state) == [scale, x - 60, y]
    browser.key(view, "+")
    assert browser.evaluate(f"{VIEW}.scale") == pytest.approx(1.25 * scale)
    browser.key(view, "0")
    assert browser.evaluate(state) == [scale, x, y]
    browser.key(view, "n")
    assert browser.evaluate(f"document.querySelectorAll('{view} .chosen').length") >= 1
    assert "your lines" in browser.evaluate("document.querySelector('.panel').textContent")
    group = f"{VIEW}.current = {VIEW}.drawn.boxes.find((box) => box.item.children).item.id"
    browser.evaluate(group)
    frames = browser.evaluate(f"{VIEW}.drawn.frames.length")
    browser.key(view, "Enter")
    assert browser.evaluate(f"{VIEW}.drawn.frames.length") > frames


def test_colours_are_the_measured_time_or_the_kind(browser):
    if not browser.evaluate("data[0].graphs.after.some((node) => node.share)"):
        pytest.skip("NumPy runs the function: nodes are not timed")
    assert browser.evaluate("data[0].graphs.after.reduce((sum, node) => sum + (node.share || 0), 0)") == pytest.approx(
        1, abs=0.05
    )
    classes = "[...document.querySelectorAll('.pane[data-side=after] .box rect')].map((rect) => rect.className.baseVal)"
    assert all(name.startswith("heat") for name in browser.evaluate(classes))
    assert len(set(browser.evaluate(classes))) > 1
    browser.evaluate("(() => { const by = document.querySelector('select.by'); by.value = 'kind'; by.onchange(); })()")
    assert not any(name.startswith("heat") for name in browser.evaluate(classes))


def test_a_search_leads_to_what_it_found(browser):
    browser.type("#search", "tanh")
    browser.key("#search", "Enter")
    assert "tanh" in browser.evaluate(
        "[...document.querySelectorAll('.pane[data-side=before] .leaf.found .label')].map((l) => l.textContent).join()"
    )
