"""`target="wasm32-web"`: a function in a page, and the page that classifies digits drawn with the mouse."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest
from chromium import Browser, chromium
from digits_cnn import trained
from machines import built, missing

import arignote as ag
from arignote import ops as T
from arignote.demo import web as demo_web
from arignote.function.function import find_toolchain

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_toolchain() is None, reason="needs a C compiler"),
    pytest.mark.skipif(missing("wasm32-web") is not None, reason=str(missing("wasm32-web"))),
]
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
needs_browser = pytest.mark.skipif(chromium() is None, reason="needs a Chromium")

STROKES = {
    0: [[(50, 10), (28, 22), (22, 50), (28, 78), (50, 90), (72, 78), (78, 50), (72, 22), (50, 10)]],
    1: [[(36, 30), (54, 10), (54, 90)]],
    2: [[(24, 30), (34, 14), (54, 10), (72, 22), (70, 42), (46, 66), (24, 90), (78, 90)]],
    3: [[(26, 14), (52, 10), (72, 24), (62, 44), (44, 48), (66, 54), (74, 72), (56, 90), (26, 84)]],
    4: [[(60, 10), (24, 60), (80, 60)], [(62, 36), (58, 92)]],
    7: [[(26, 12), (74, 12), (58, 46), (44, 92)], [(36, 50), (72, 48)]],  # crossed, as in the training images
}
"""Digits as strokes of a mouse, in hundredths of the paper."""

SCRIPT = """
const fs = require("fs");
require("./f.js");
(async () => {
    const f = await arignote.f.open(fs.readFileSync("f.wasm"), fs.readFileSync("f.weights"));
    const x = {data: new Float32Array([1, 2, 3, 4, 5, 6]), shape: [2, 3]}, n = {data: [5], shape: []};
    const found = f.run([x, n]).map((r) => [r.name, r.dtype, Array.from(r.data, Number), r.shape]);
    const long = {data: [2 ** 31 + 1]}, two = {data: [1, 2], shape: []};
    const errors = [[x], [x, two], [{...x, shape: [3, 2]}, n], [x, long]].map((inputs) => {
        try { return f.run(inputs) && "none"; } catch (error) { return error.message; }
    });
    for (let k = 0; k < 2000; k++) f.run([{data: new Float32Array(3e4), shape: [1e4, 3]}, n]);
    console.log(JSON.stringify([found, errors, f.c.memory.buffer.byteLength]));
})();
"""


@needs_node
def test_a_function_is_called_from_javascript(tmp_path):
    """Types of 64 bits, empty shapes, several results, errors in words, and memory that is given back."""
    x, n, w = T.matrix("x", "float32"), T.lscalar("n"), ag.shared(np.array([1.0, 0.0, -1.0], "float32"), "w")
    outputs = {"y": x @ w, "n": n * 2**40, "e": x[:0].sum(0), "c": T.cast(n, "complex128") * 1j, "z": T.zeros(n)}
    f = ag.function([x, n], outputs, name="f")
    folder = built(f, tmp_path / "made", "wasm32-web")
    (folder / "call.js").write_text(SCRIPT)
    done = subprocess.run(["node", "call.js"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found, errors, memory = json.loads(done.stdout)
    assert found == [
        ["y", "float32", [-2, -2], [2]], ["n", "int64", [5 * 2**40], []], ["e", "float32", [0, 0, 0], [3]],
        ["c", "complex128", [0, 5], []], ["z", "float64", [0] * 5, [5]],
    ]  # fmt: skip
    assert errors[0] == "f: expected 2 inputs, got 1" and "n has 2 numbers, not the shape []" in errors[1]
    assert errors[2].startswith("f: lengths that must agree do not, in ")
    assert errors[3].startswith("f: there is no memory for a result"), errors[3]  # of 16 GiB, cut to 32 bits 8 bytes
    assert memory < 32 << 20


def test_an_elementwise_module_is_small(tmp_path):
    x, y = T.matrix("x", "float32"), T.matrix("y", "float32")
    folder = built(ag.function([x, y], T.exp(x) * 2 + T.tanh(y), name="f"), tmp_path / "made", "wasm32-web")
    assert os.path.getsize(folder / "f.wasm") <= 64 * 1024


def test_a_residual_network_is_small(tmp_path):
    """The code does not grow with the weights: narrow layers of all kinds that a ResNet-18 has."""

    def layer(value, channels, inner, kernel=3, stride=1):
        weights = np.ones((channels, inner, kernel, kernel), "float32")
        return T.nn.conv2d(value, weights, stride=stride, padding=kernel // 2) + np.ones((channels, 1, 1), "float32")

    pixels = T.tensor("pixels", "float32", (1, 3, 64, 64))
    value = T.nn.max_pool2d(T.relu(layer(pixels, 16, 3, 7, 2)), 3, 2, 1)
    value = T.relu(layer(T.relu(layer(value, 16, 16)), 16, 16) + value)
    value = T.relu(layer(T.relu(layer(value, 32, 16, stride=2)), 32, 32) + layer(value, 32, 16, 1, 2))
    scores = T.nn.softmax(value.mean((2, 3)) @ np.ones((32, 10), "float32"))
    folder = built(ag.function([pixels], scores, name="net"), tmp_path / "made", "wasm32-web")
    assert os.path.getsize(folder / "net.wasm") <= 300_000


@needs_browser
def test_a_page_classifies_digits_drawn_with_the_mouse(tmp_path):
    page = tmp_path / "digits.html"
    page.write_text(demo_web.web_page(trained().model))
    assert os.path.getsize(page) <= 500_000
    with Browser(1000, 640) as browser:
        browser.open(page)
        for _ in range(100):
            if browser.evaluate("document.body.dataset.ready === 'yes'"):
                break
        box = browser.evaluate("(r => [r.x, r.y, r.width])(document.getElementById('paper').getBoundingClientRect())")
        for digit, strokes in STROKES.items():
            browser.click("#clear")
            assert browser.evaluate("document.getElementById('told').dataset.digit") is None
            for stroke in strokes:
                drag(browser, box, stroke)
            assert browser.evaluate("document.getElementById('told').dataset.digit") == str(digit)
        wraps = "[...document.querySelectorAll('li')].some((row) => row.getBoundingClientRect().height > 30)"
        assert not browser.evaluate(wraps)
        assert not browser.complaints()


def drag(browser, box, stroke):
    """Draw along the corners of a stroke with the left button down."""
    left, top, width = box
    places = [(left + width * x / 100, top + width * y / 100) for x, y in stroke]
    browser.mouse("Pressed", *places[0], button="left", buttons=1, clickCount=1)
    for place in places[1:]:
        browser.mouse("Moved", *place, button="left", buttons=1)
    browser.mouse("Released", *places[-1], button="left", clickCount=1)
