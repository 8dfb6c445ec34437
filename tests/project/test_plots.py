"""The plots of the benchmark page: a mark for each figure of a table."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_plots_have_a_mark_for_each_figure_of_their_tables(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from plots import plot, with_plots

    drawn = with_plots((ROOT / "docs/benchmarks.md").read_text())
    assert drawn.count("<svg") == 2 and "\n\n" not in "".join(re.findall(r"<svg.*?</svg>", drawn, re.DOTALL))
    head = "| case | Arignote | NumPy | ours / best |\n|---|---|---|---|\n"
    marks = re.findall(r"<title>(.*?)</title>", plot(f"{head}| a & b | 2 us | 3.5 | 0.3 |\n| c | 1 ms | - | 1 |\n", ""))
    assert marks == ["a &amp; b, NumPy: 3.5", "NumPy"]
    times = "| case | Arignote | JAX |\n| --- | --- | --- |\n| a | 2 ms / 1 ms | 3 s / 1 s |\n"
    at = re.findall(r'translate\(([\d.]+) \d+\.\d\)"[^>]*><title>a,', plot(times, "times"))
    assert len(at) == 2 and float(at[0]) < float(at[1])
