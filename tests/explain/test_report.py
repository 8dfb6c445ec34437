"""Reports and traces: what is recorded, what the page holds, what a broken file is answered with, the commands."""

import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.__main__ import main
from arignote.explain.recording import recorded
from arignote.explain.report import TraceError, records_in, write_report
from arignote.pages.costs import flame_of, rule_rows, spans_of
from arignote.pages.page import MOST_FUNCTIONS, page

ROOT = Path(__file__).resolve().parents[2]
NASTY = "x</script><img src=y onerror=z>\"'&"
VOID = {"meta", "input", "br", "img"}
GRAPH = """fn(x: float64[?]) {
  a: float64[?] = mul(x, float64(0.0))
  b: float64[?] = add(float64(1.0), a)
  c: float64[?] = log(b)
  return c
}
"""


class Tags(HTMLParser):
    """Checks that tags close in order, and counts them."""

    def __init__(self):
        super().__init__()
        self.open, self.counts = [], {}

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags_of(text):
    parser = Tags()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser.counts


def model(profile=True, name="model"):
    x, y = T.matrix("x"), T.matrix("y")
    a = T.exp(x) * y + T.sin(x) - y / 3
    return ag.function([x, y], [T.log(1 + a.sum(axis=1) ** 2), T.tanh(a).T], name=name, profile=profile)


@pytest.fixture(scope="module")
def record():
    f = model()
    for _ in range(3):
        f(np.ones((30, 40)), np.ones((30, 40)))
    return json.loads(json.dumps(recorded(f)))


def test_a_record_is_plain_data_and_says_where_things_come_from(record):
    assert record["graphs"]["before"]["nodes"] > record["graphs"]["after"]["nodes"]
    after = record["graphs"]["after"]["boxes"]
    assert any("local_log1p" in box.get("rules", ()) or "fusion" in " ".join(box.get("rules", ())) for box in after)
    assert all(Path(__file__).name in box["lines"][0] for box in after if box.get("lines"))
    assert record["rules"]["local_log1p"].startswith("local_log1p: log(add(1")
    if record["backend"] == "c":
        kernels = {box["kernel"] for box in after if box.get("kernel")}
        assert kernels and all(f"{kernel}(" in record["c"] for kernel in kernels if kernel.startswith("k_"))
        assert record["program"]["steps"]


def test_the_page_holds_every_part_and_nothing_from_elsewhere(record):
    text = page([record])
    counts = tags_of(text)
    assert counts["svg"] >= 4 and counts["script"] == 2 and counts["table"] >= 2
    for name in ("graph", "rewrites", "optimizer", "run", "c"):
        assert f'<section id="{name}"' in text
    assert "src=" not in text.split("<script")[0] and "@import" not in text and "url(" not in text
    assert text == page([record])


def test_names_with_markup_are_shown_and_never_run():
    x = T.vector(NASTY)
    f = ag.function([x], T.exp(x) + 1, name=NASTY, profile=True)
    text = page([recorded(f)], NASTY)
    counts = tags_of(text)
    assert "img" not in counts and counts["script"] == 2
    assert json.loads(text.split('id="data">')[1].split("</script>")[0])[0]["graphs"]


def test_functions_never_called_numpy_and_empty_ones_have_pages(tmp_path):
    x = T.vector("x")
    for f in (model(), model(profile=False), ag.function([x], x, mode="NUMPY"), ag.function([], [], profile=True)):
        target = f.report(tmp_path / "page.html")
        tags_of(target.read_text("utf-8"))
    assert "never called" in page([recorded(model())])


def test_many_functions_are_one_page_of_bounded_weight(record):
    text = page([record | {"name": f"f{k}", "compile_seconds": k} for k in range(40)])
    assert text.count("<article") == MOST_FUNCTIONS and text.count("</option>") >= MOST_FUNCTIONS
    assert '<article data-function="0"' in text and ">f39</option>" in text and ">f0<" in text


def test_a_function_of_three_hundred_nodes_makes_less_than_a_megabyte(tmp_path):
    x, total = T.matrix("x"), 0
    w = [ag.shared(np.eye(8) + k, name=f"w{k}") for k in range(12)]
    h = x
    for v in w:
        h = T.tanh(h @ v) * T.sigmoid(h) + h.sum(axis=1, keepdims=True)
    total = (h**2).mean()
    f = ag.function([x], total, updates=[(v, v - 0.1 * g) for v, g in zip(w, ag.grad(total, w), strict=True)])
    assert len(f.unoptimized_graph) >= 300
    assert f.report(tmp_path / "report.html").stat().st_size < 1_000_000


def test_a_long_chain_is_summarized(tmp_path):
    x = y = T.vector("x")
    for _ in range(3_000):
        y = T.sin(y)
    target = ag.function([x], y, mode=ag.Mode("merge1", backend="numpy")).report(tmp_path / "r.html")
    assert target.stat().st_size < 300_000


def test_pictures_of_a_profile_agree_with_its_sums(record):
    profile = record["optimizer"]
    assert sum(span.duration for span in spans_of(profile)) == pytest.approx(profile["time"])
    assert flame_of(profile).seconds == profile["time"]
    fired = {name: fired for name, _, fired, _, _ in rule_rows(profile)}
    assert fired["local_log1p"] == 1


# --- trace files
BROKEN = {
    "empty": (b"", "is no JSON"),
    "cut": (b'{"format": "arignote trace", "version": 1, "na', "is no JSON"),
    "bytes": (b"\xff\xfe\x00", "is no text"),
    "list": (b"[]", "is no trace"),
    "other": (b'{"traceEvents": []}', "is no trace"),
    "version": (b'{"format": "arignote trace", "version": 99}', "version 99"),
    "missing": (b'{"format": "arignote trace", "version": 1, "name": "f"}', "it has no 'graphs'"),
    "deep": (b"[" * 200_000, "nested too deeply"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_traces_are_answered_clearly(name, tmp_path, capsys):
    content, said = BROKEN[name]
    file = tmp_path / "trace.json"
    file.write_bytes(content)
    assert main(["report", str(file), "-o", str(tmp_path / "page.html")]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and str(file) in error and said in error
    assert not (tmp_path / "page.html").exists()


FIELDS = ["name", "graphs", "optimizer", "run", "trace", "program", "call", "places", "remarks", "c"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [7, "x", [1], {"a": 1}])
def test_a_field_of_another_kind_never_ends_in_a_traceback(record, field, value, tmp_path):
    damaged = {**record, field: value, "file": "trace.json"}
    said = "trace.json: is damaged"
    try:
        write_report([damaged], tmp_path / "page.html")
    except TraceError as error:
        said = str(error)
    assert said.startswith("trace.json: is damaged")


def test_a_folder_without_traces_and_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TraceError, match="no trace"):
        records_in(tmp_path)
    with pytest.raises(TraceError, match="cannot be read"):
        records_in(tmp_path / "nothing.json")


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


PROGRAM = """
import numpy as np, arignote as ag
from arignote import ops as T
x = T.vector("x")
f = ag.function([x], T.exp(x) + 1, name="grow")
for _ in range(3): f(np.ones(4))
ag.function([x], x * 2, name="double")
print(f.profile.calls)
"""


def test_a_program_is_recorded_as_it_is(tmp_path):
    folder = tmp_path / "traces"
    done = run("-W", "error", "-c", PROGRAM, ARIGNOTE_TRACE=str(folder))
    assert (done.stdout, done.stderr) == ("3\n", "")
    records = records_in(folder)
    assert [(r["name"], r["run"]["calls"]) for r in records] == [("grow", 3), ("double", 0)]
    target = tmp_path / "page.html"
    made = run("-m", "arignote", "report", str(folder), "-o", str(target))
    assert made.returncode == 0 and "2 functions" in made.stdout
    assert "grow" in target.read_text("utf-8")


def test_a_folder_that_takes_no_trace_costs_a_notice(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("-c", PROGRAM, ARIGNOTE_TRACE=str(tmp_path / "file"))
    assert done.stdout == "3\n" and "ARIGNOTE_TRACE" in done.stderr and "Traceback" not in done.stderr


# --- opt
def opt(tmp_path, capsys, *arguments, text=GRAPH):
    file = tmp_path / "graph.txt"
    file.write_text(text)
    code = main(["opt", str(file), *arguments])
    return code, *capsys.readouterr()


def test_opt_prints_a_graph_that_reads_back(tmp_path, capsys):
    code, out, err = opt(tmp_path, capsys, "--passes", "canonicalize stabilize -local_mul_zero")
    assert code == 0 and err == ""
    assert "log1p" in out and "mul(x" in out
    assert ag.parse(out) == ag.rewrite(ag.parse(GRAPH), "canonicalize stabilize -local_mul_zero")


def test_opt_says_what_changed_and_what_it_cost(tmp_path, capsys):
    code, out, err = opt(tmp_path, capsys, "--passes", "stabilize", "--print-changed", "--time")
    assert code == 0 and ag.parse(out)
    lines = err.splitlines()
    assert "*** stabilize: local_log1p" in lines
    assert "- c: float64[?] = log(b)" in lines and "+ c: float64[?] = log1p(a)" in lines
    assert any(line.startswith("Optimizing took") for line in lines)


def test_opt_of_a_graph_that_stays_says_nothing(tmp_path, capsys):
    assert opt(tmp_path, capsys, "--passes", "merge1", "--print-changed")[2] == ""


@pytest.mark.parametrize(
    ("text", "passes", "said"),
    [
        ("fn(x: floot) {", "fast_run", "'floot' is not a dtype"),
        ("", "fast_run", "expected"),
        ("fn(x: float64) { y: float64 = nothing(x) return y }", "fast_run", "'nothing' is not an op"),
        (GRAPH, "canonicalise", "did you mean canonicalize"),
        (GRAPH, "<x", "is no position"),
    ],
)
def test_opt_answers_mistakes_in_one_line(tmp_path, capsys, text, passes, said):
    code, out, err = opt(tmp_path, capsys, "--passes", passes, text=text)
    assert (code, out) == (1, "") and err.startswith("opt: ") and said in err and err.count("\n") == 1


def test_opt_reads_the_standard_input(tmp_path, capsys, monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO(GRAPH))
    assert main(["opt", "-", "--passes", "stabilize"]) == 0
    assert "log1p" in capsys.readouterr().out
    assert main(["opt", str(tmp_path / "none.txt")]) == 1
    assert "cannot be read" in capsys.readouterr().err
