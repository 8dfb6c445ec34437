"""Forty mistakes that users make, each as a small program: the first six lines that they read show the guilty line.

Users read the traceback without the frames of this library, then the message.
"""

import traceback

import pytest

from arignote.record.frames import OWN

HEAD = """\
import numpy as np
import arignote as ag
from arignote import ops as T
x, y, z, i, k = T.vector("x"), T.vector("y"), T.vector("z"), T.lscalar("i"), T.lvector("k")
m, n, w = T.matrix("m"), T.matrix("n"), T.matrix("w")
three, four, ones = np.ones(3), np.ones(4), np.ones((2, 3))
state = ag.shared(np.zeros(3), name="state")
"""

CALLED = {
    "product": "h = T.exp(x) * y  #!\nag.function([x, y], h + 1)(three, four)",
    "sum": "h = x + y  #!\nag.function([x, y], h.sum())(three, four)",
    "chain": "a = T.tanh(x)\nb = a - y  #!\nag.function([x, y], T.exp(b).mean())(three, four)",
    "rows": "h = m * x  #!\nag.function([m, x], h)(ones, four)",
    "bias": "h = m @ w\no = h + x  #!\nag.function([m, w, x], T.nn.relu(o))(ones, np.ones((3, 5)), four)",
    "inner lengths": "h = m @ w  #!\nag.function([m, w], T.tanh(h))(ones, ones)",
    "vector product": "h = m @ x  #!\nag.function([m, x], h)(ones, four)",
    "dot": "h = T.dot(x, y)  #!\nag.function([x, y], h)(three, four)",
    "where": "h = T.where(x > 0, x, y)  #!\nag.function([x, y], h)(three, four)",
    "comparison": "h = x < y  #!\nag.function([x, y], h)(three, four)",
    "power": "h = x ** y  #!\nag.function([x, y], h)(three, four)",
    "concatenate": "h = T.concatenate([m, n])  #!\nag.function([m, n], h)(ones, np.ones((2, 4)))",
    "stack": "h = T.stack([x, y])  #!\nag.function([x, y], h)(three, four)",
    "reshape": "h = x.reshape((2, 2))  #!\nag.function([x], h)(three)",
    "index": "h = x[i]  #!\nag.function([x, i], h)(three, 7)",
    "indices": "h = x[k]  #!\nag.function([x, k], h)(three, [0, 9])",
    "labels": "p = T.nn.softmax(m)\nl = T.nn.categorical_crossentropy(p, k)  #!\nag.function([m, k], l)(ones, [0, 9])",
    "set_subtensor": "h = T.set_subtensor(x[:2], y)  #!\nag.function([x, y], h)(three, three)",
    "inc_subtensor": "h = T.inc_subtensor(x[1:], y)  #!\nag.function([x, y], h)(three, three)",
    "step of a slice": "h = x[::i]  #!\nag.function([x, i], h)(three, 0)",
    "arange": "h = T.arange(0, 10, i)  #!\nag.function([i], h)(0)",
    "negative length": "h = T.zeros((i,))  #!\nag.function([i], h)(-3)",
    "maximum of nothing": "h = x.max()  #!\nag.function([x], h)(three[:0])",
    "negative power": "h = k ** i  #!\nag.function([k, i], h)([2], -1)",
    "an update": "new = state + x  #!\nag.function([x], None, updates=[(state, new)])(four)",
    "a gradient": "c = (x * y).sum()  #!\nag.function([x, y], ag.grad(c, x))(three, four)",
    "no compiler": "h = T.exp(x) * y  #!\nag.function([x, y], h, mode='NUMPY')(three, four)",
    "too large": "h = T.ones((i, i, i))  #!\nag.function([i], h)(10**6)",
}  # fmt: skip
BUILT = {
    "truth of a value": "if x.sum() > 0:  #!\n    pass",
    "iteration": "for row in m:  #!\n    pass",
    "length": "n_rows = len(x)  #!",
    "float": "f = float(x.sum())  #!",
    "assignment": "x[0] = 1  #!",
    "axis": "s = x.sum(axis=1)  #!",
    "too many indices": "e = x[0, 1]  #!",
    "known lengths": "a, b = T.tensor('a', shape=(3,)), T.tensor('b', shape=(4,))\nc = a + b  #!",
    "dtype": "c = x.astype('flaot32')  #!",
    "text": "c = x + 'a'  #!",
    "gradient of a vector": "c = x * 2  #!\nag.grad(c, x)",
    "disconnected": "c = x.sum()\nag.grad(c, y)  #!",
    "missing input": "ag.function([x], x + y)  #!",
    "unknown tag": "ag.function([x], x, mode='fast_run -inplce')  #!",
    "another dtype": "ag.function([x], x)(three + 1j)  #!",
    "another rank": "ag.function([x], x)(ones)  #!",
}
GALLERY = {**CALLED, **BUILT}


def seen(error):
    """Traceback as the user reads it: frames of user code, then the message."""
    parts = traceback.TracebackException.from_exception(error)
    parts.__cause__ = parts.__context__ = None
    others = ("<entry", __file__)
    own = [f for f in parts.stack if not OWN[f.filename] and not f.filename.startswith(others)]
    lines = [f"{f.filename}:{f.lineno}: {f.line}" for f in own]
    return [*lines, *"".join(parts.format_exception_only()).splitlines()]


def shows_the_line(name, folder):
    program = f"{HEAD}{GALLERY[name]}\n"
    path = folder / "program.py"
    path.write_text(program)
    guilty = next(n for n, text in enumerate(program.splitlines(), 1) if "#!" in text)
    with pytest.raises((ValueError, TypeError, IndexError, MemoryError, LookupError)) as caught:
        exec(compile(program, str(path), "exec"), {})
    first = "\n".join(seen(caught.value)[:6])
    return f"program.py:{guilty}" in first, "\n".join(seen(caught.value))


def test_the_first_lines_show_the_guilty_one(tmp_path):
    assert len(GALLERY) >= 40
    failed = {}
    for number, name in enumerate(GALLERY):
        folder = tmp_path / str(number)  # a file of its own, for Python remembers the lines of files
        folder.mkdir()
        good, text = shows_the_line(name, folder)
        if not good:
            failed[name] = text
    assert len(failed) <= 0.05 * len(GALLERY), "\n\n".join(f"{name}:\n{text}" for name, text in failed.items())


@pytest.mark.parametrize("name", ["product", "bias", "inner lengths", "index", "chain"])
def test_operands_at_fault_are_underlined(name, tmp_path, golden):
    _, text = shows_the_line(name, tmp_path)
    message = text[text.index("Error: ") :].replace(str(tmp_path), "...")
    golden(f"error_{name.replace(' ', '_')}.txt", message + "\n")
    assert "^" in message and "  > " in message


def test_code_that_cannot_be_read_is_left_out():
    scope = {}
    exec(compile(f"{HEAD}h = x * y\nf = ag.function([x, y], h)", "<nowhere>", "exec"), scope)
    with pytest.raises(ValueError, match="built at <nowhere>:8") as caught:
        scope["f"](scope["three"], scope["four"])
    assert "  > " not in str(caught.value)
