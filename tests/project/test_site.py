"""The documentation site: built without a warning, complete, and usable without a network."""

import re
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from chromium import Browser, chromium

import arignote as ag
from arignote import ops as T
from arignote.optdb import Rule

pytest.importorskip("furo", reason="the extra [docs] is not installed")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "docs/build.py", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr + done.stdout
    return folder


def test_every_page_is_built(site):
    for path in (ROOT / "docs").rglob("*.md"):
        assert (site / path.relative_to(ROOT / "docs").with_suffix(".html")).is_file()


def test_every_public_name_has_an_entry(site):
    pages = "".join(path.read_text() for path in site.glob("reference/*.html"))
    anchors = set(re.findall(r'id="([\w.]+)"', pages))
    text = (site / "reference/ops-creation.html").read_text()
    modules = {"linalg", "nn", "random", "fft", "special", "distributions", "sparse", "array_api", "typed"}
    modules |= {"CUMULATIVE", "ELEMENTWISE", "REDUCTIONS"}
    missing = [f"ag.{name}" for name in set(ag.__all__) - {"optdb", "optim", "tree"} if f"ag.{name}" not in anchors]
    missing += [f"T.{n}" for n in set(T.__all__) - modules if f"T.{n}" not in anchors and f"T.{n}<" not in text]
    assert not missing


def test_every_rule_has_a_card(site):
    names = {e.name for e in ag.optdb.entries() if isinstance(e.object, Rule)}
    cards = set(re.findall(r'<details class="rule" id="([^"]+)"', (site / "rules.html").read_text()))
    assert names and names == cards


def test_bad_links_are_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from links import complaints

    (tmp_path / "a.html").write_text('<a href="b.html#no">b</a><a href="c.html">c</a><script src="https://x.org/y.js">')
    (tmp_path / "b.html").write_text('<p id="yes"><a href="a.html">a</a><a href="#yes">y</a></p>')
    assert [text.split(": ")[1] for text in complaints(tmp_path)] == [
        "loads https://x.org/y.js",
        "links to b.html#no, which has no such anchor",
        "links to c.html, which does not exist",
    ]


@pytest.mark.skipif(chromium() is None, reason="no Chromium")
def test_the_filter_and_the_search_work_from_the_file_system(site):
    with Browser(400, 900) as browser:
        browser.open(site / "rules.html")
        assert wait(browser, "document.querySelector('#rule-count').textContent.includes('rules')")
        browser.click(".rule-tag[data-tag=stabilizes]")
        browser.type("#rule-text", "log1p softplus")
        browser.evaluate("document.querySelector('#rule-text').dispatchEvent(new Event('input'))")
        shown = "[...document.querySelectorAll('.rule:not([hidden])')].map(e => e.id)"
        assert "log1pexp_to_softplus" in browser.evaluate(shown) and len(browser.evaluate(shown)) < 10
        assert browser.evaluate("document.documentElement.scrollWidth") <= 400

        browser.open(site / "rules.html", "#log1pexp_to_softplus")
        assert wait(browser, "document.querySelector('#log1pexp_to_softplus').open")

        results = "[...document.querySelectorAll('.search li a')].map(e => e.textContent)"
        for words, first in (("bisect", "ag.bisect"), ("export C", "Deploy"), ("filter tag", "Filter by tag")):
            browser.open(site / "search.html", f"?q={quote(words)}")
            assert wait(browser, f"document.querySelector('.search-summary') && {results}.length > 3"), words
            assert first in browser.evaluate(results)[0], words
        assert not browser.complaints()


@pytest.mark.skipif(chromium() is None, reason="no Chromium")
def test_no_page_is_taller_than_ten_thousand_pixels_or_wider_than_the_screen(site):
    with Browser(1400, 900) as browser:
        for width, side, most in ((1400, "Height", 10_000), (400, "Width", 400)):
            browser.resize(width, 900)
            found = {}
            for path in sorted(site.rglob("*.html")):
                browser.open(path)
                found[str(path.relative_to(site))] = browser.evaluate(f"document.documentElement.scroll{side}")
            assert not {name: pixels for name, pixels in found.items() if pixels > most}


def test_menus_hold_no_marks_of_markdown(site):
    menu = (site / "index.html").read_text().split('class="sidebar-tree"')[1].split("</aside>")[0]
    assert menu.count("<li") > 40 and "`" not in menu and "**" not in menu


def wait(browser, condition):
    """The value of a condition as soon as it holds, or after 20 s."""
    for _ in range(200):
        found = browser.evaluate(condition)
        if found:
            break
        time.sleep(0.1)
    return found
