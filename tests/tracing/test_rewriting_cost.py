"""Cost of rewriting the source of a traced function, in calls of Python, which no other process disturbs."""

import sys

from arignote.tracing.rewriting.source import rewritten

PART = """
    for i{k} in range(1, n):
        for j in range(m - 1):
            a[i{k}, j] = a[i{k} - 1, j] * 0.5 + b[j] * c[i{k}]
            if a[i{k}, j] > 1.0 and b[j] < 2.0:
                a[i{k}, j] -= np.sqrt(abs(b[j]))
            else:
                s = s + a[i{k}, j] / (1.0 + c[i{k}])
        t{k} = s * 2"""


def test_a_hundred_dense_lines(tmp_path):
    text = "import numpy as np\ndef f(a, b, c, n, m):\n    s = 0.0"
    text += "".join(PART.format(k=k) for k in range(12)) + "\n    return s, a\n"
    assert text.count("\n") == 100
    file = tmp_path / "dense.py"
    file.write_text(text)
    space = {}
    exec(compile(text, str(file), "exec"), space)
    calls = [0]

    def called(frame, event, value):
        calls[0] += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        found = rewritten(space["f"].__code__)
    finally:
        sys.setprofile(None)
    assert found is not None
    assert calls[0] < 70_000  # 253,000 before, which took twice the time
