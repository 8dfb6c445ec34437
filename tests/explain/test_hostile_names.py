"""Names are data: whatever text they are, they get out of no place where they are written (record/quoting.py)."""

import contextlib
import html.parser
import importlib.util
import io
import json
import pickle
import random
import re
import shutil
import subprocess

import numpy as np
import pytest

import arignote as ag
from arignote import notices
from arignote import ops as T
from arignote.cbackend.bundle.names import c_name
from arignote.cbackend.cache.store import Cache, CacheWarning
from arignote.function import narration
from arignote.function.function import find_toolchain
from arignote.graph.provenance import SourceLine
from arignote.record.quoting import c_comment, c_string, lines_of_text, make_word, one_line, page_json

HOSTILE = [
    "x */ int PWNED(void); /*", '"; PWNED(); "', "\n#define PWNED 1\n", "x\\", "*\\\n/ PWNED /*", "*??/\n/ PWNED",
    "</script><script>PWNED()</script>", '"><img src=x onerror=PWNED()>', "'><b title=PWNED>", "]]>PWNED", "<!--PWNED",
    "$(shell PWNED)", "`PWNED`", "'; PWNED; '", "$$PWNED#", "%s%n", "\x1b[31mPWNED", "\u202ePWNED", "a\0PWNED",
    "{name}", "@NAME@", "@PWNED@", "${PWNED}", "\\input{PWNED}", "x}PWNED{", "../../PWNED", "\r\nPWNED", "\u2028PWNED",
    "\tPWNED", "&PWNED;", '\\"PWNED', "é", "名前", "a b", "%0APWNED", "??/", "R\"(PWNED", "u8'PWNED", "\x7f",
    "\x85PWNED", "\ud800", "/*/ PWNED",
]  # fmt: skip
PIECES = [*HOSTILE, "*/", "/*", "PWNED", *"\\\n\r\"'<>&?$`#%{}@\0"]
X = np.zeros((3, 2))


def drawn(count, seed):
    """Texts joined of pieces."""
    chance = random.Random(seed)
    return ["x" + "".join(chance.choices(PIECES, k=chance.randint(2, 6))) for _ in range(count)]


class Reader(html.parser.HTMLParser):
    """Elements and attributes of a page that a name brought along."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag in ("img", "b") and any("PWNED" in str(value) for _, value in attributes):
            self.found.append(tag)
        self.found += [name for name, _ in attributes if "pwned" in name or name == "onerror"]


def code(text):
    """C, C++ or JavaScript without its comments and strings, after lines were spliced as compilers splice them."""
    spliced = text.replace("??/", "\\").replace("\\\n", "")
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|//[^\n]*', " ", spliced, flags=re.S)


def in_c(where, text):
    assert not re.search(r"\bPWNED\b", code(text)), where
    in_text(where, text)


def in_text(where, text):
    """Nothing steers a terminal, and no line begins where a name lets it."""
    assert all(c.isprintable() or c in "\n\t" for c in text), where
    assert not re.search(r"(?m)^(PWNED|#define PWNED|/ PWNED)", text), where


def in_page(where, text):
    assert not Reader(text).found, where
    assert "<script>PWNED" not in text, where
    in_text(where, text)


def program(name):
    """A function all of whose names are `name`, built in a file of that name, too."""
    w = ag.shared(np.array([1.0, 2.0]), name=name)
    x, y = T.matrix(name), T.vector(f"{name}2")
    made = compile("def build(T, x, w):\n    return T.tanh(T.exp(x) @ w)\n", name.replace("\0", "") or "f", "exec")
    space = {}
    exec(made, space)
    first, second = T.exp(x) * w + y, space["build"](T, x, w)
    first.name = second.name = name
    updates = [(w, w * 2)]
    return first, ag.function([x, y], {name: first, "b": second}, updates, name=name, profile=True)


def printed(work, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        work(*arguments)
    return out.getvalue()


def refusal(f, *arguments, **named):
    with pytest.raises((TypeError, ValueError)) as told:
        f(*arguments, **named)
    return str(told.value)


def check(name, folder):
    """Write a name to every place there is."""
    e, f = program(name)
    y = np.zeros(2)
    f(X, y)
    in_c("C", f.c_source())
    in_c("C with lines", f.c_source(lines=True))
    for where, text in {
        "repr": repr(f), "graph": str(f.graph), "program": str(f.program), "profile": str(f.profile),
        "passes": str(f.optimizer_profile), "trace": str(f.trace), "remarks": str(f.remarks),
        "explain": str(f.explain()), "why": str(f.why(f.graph.outputs[0])), "debug": str(f.debug(X, y)),
        "dprint": printed(ag.dprint, f),
        "expression": f"{e!r} {e}", "pprint": ag.pprint(e), "lengths": refusal(f, X, np.zeros(3)),
        "keyword": refusal(f, X, z=y), "rank": refusal(f, X, X), "LaTeX": e._repr_latex_(),
        "line": str(SourceLine(name.replace("/", "_"), 1)),
    }.items():  # fmt: skip
        in_text(where, text)
    for where, thing in {
        "function": f, "expression": e, "profile": f.profile, "graph": f.graph, "trace": f.trace, "remarks": f.remarks,
        "debug": f.debug(X, y),
    }.items():  # fmt: skip
        if (shown := getattr(thing, "_repr_html_", None)) is not None:
            in_page(where, shown() or "")
    f.report(folder / "report.html")
    in_page("report", (folder / "report.html").read_text("utf-8"))
    assert json.loads(f.profile.to_json())["calls"] == 1
    assert pickle.loads(pickle.dumps(f)).name == f.name
    exported(f, folder / "made")


def exported(f, folder):
    """Export a function and have gcc read its files."""
    f.export(folder)
    name = c_name(f.name)
    for path in folder.iterdir():
        if path.suffix in (".c", ".h", ".hpp"):
            in_c(path.name, path.read_text("utf-8"))
    in_text("Makefile", (folder / "Makefile").read_text("utf-8"))
    words = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    for command in (["gcc", "-std=c11", "-D_GNU_SOURCE", f"{name}.c"], ["g++", "-std=c++17", "-x", "c++", f"{name}.h"]):
        if shutil.which(command[0]):
            done = subprocess.run([*command, *words], cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr


needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="needs a C compiler")


@needs_compiler
@pytest.mark.parametrize("number", range(0, len(HOSTILE), 8))
def test_a_name_stays_in_its_place(number, tmp_path):
    check(HOSTILE[number], tmp_path)


@needs_compiler
@pytest.mark.long
def test_no_drawn_name_gets_out_of_its_place(tmp_path):
    for number, name in enumerate([*HOSTILE, *drawn(80, 28)]):
        (tmp_path / str(number)).mkdir()
        check(name, tmp_path / str(number))


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs zig")
def test_a_name_in_javascript(tmp_path):
    for number, name in enumerate(HOSTILE):
        folder = tmp_path / str(number)
        x = T.vector(name)
        ag.function([x], {name: T.exp(x)}, name=name).export(folder, target="wasm32-web")
        script = (folder / f"{c_name(one_line(name))}.js").read_text("ascii")
        in_c(name, script)
        assert "<" not in re.search(r"TABLES = (.*), BYTES", script)[1]
        assert json.loads(re.search(r"TABLES = (.*), BYTES", script)[1])["inputs"][0]["name"] == one_line(name)
        if number % 8 == 0 and shutil.which("node"):
            subprocess.run(["node", "--check", folder / f"{c_name(one_line(name))}.js"], check=True, timeout=60)


@pytest.mark.skipif(importlib.util.find_spec("dask") is None, reason="needs dask")
@pytest.mark.parametrize("name", HOSTILE[:3])
def test_a_name_in_keys_of_dask(name):
    import dask.array as da

    x = T.matrix(name)
    lazy = ag.on_dask(ag.function([x], x * 2 + 1, name=name))(da.from_array(X, chunks=(2, 2)))
    for key in lazy.__dask_graph__().layers:
        in_text("key", key)
    in_page("array", lazy._repr_html_())


@pytest.mark.parametrize("name", ["\x1b]0;PWNED\x07", "\r\nPWNED", "\u202ePWNED"])
def test_a_name_in_logs_warnings_and_progress(name, monkeypatch, tmp_path, capsys):
    f = ag.function([], T.exp(T.constant(1.0)), mode="NUMPY", name=name)
    narration.narrate(f, narration.C)
    in_text("narration", capsys.readouterr().err)
    bar = ag.progress([1], name)
    bar.note(**{name: name})
    in_text("progress", bar.line())
    with pytest.warns(UserWarning, match="what") as told:
        notices.notice(f"what {f.name} says")
    in_text("notice", str(told[0].message))
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.warns(CacheWarning, match="cache folder refused") as told:
        Cache.open(tmp_path / "file" / name)
    in_text("cache", str(told[0].message))


# --- the functions, one for each language


def test_lines_of_text():
    assert one_line("a\n\x1b[31m\u202eé") == r"a\n\x1b[31m\u202eé"
    assert lines_of_text("a\nb\t\r") == "a\nb\t\\r"
    assert all(one_line(text).isprintable() for text in (*HOSTILE, *drawn(500, 1)))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("standard", ["gnu17", "c99"])
def test_comments_and_strings_of_c(standard, tmp_path):
    """With trigraphs as well, which `-std=c99` enables; each text is read back by a program."""
    texts = [text.replace("\0", "") for text in (*HOSTILE, *drawn(500, 2))]
    lines = [f"/* {c_comment(text)}\n*/ /*{c_comment(text)}*/ puts({c_string(text)}); puts(\"\\1\");" for text in texts]
    body = "\n".join(lines)
    (tmp_path / "read.c").write_text(f"#include <stdio.h>\nint main(void)\n{{\n{body}\nreturn 0;\n}}\n", "utf-8")
    command = ["gcc", f"-std={standard}", "-Wall", "-Wextra", "-Wno-trigraphs", "-Werror", "read.c", "-o", "read"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = subprocess.run([tmp_path / "read"], capture_output=True, check=True).stdout
    assert told.split(b"\n\1\n")[:-1] == [text.encode("utf-8", "surrogatepass") for text in texts]
    assert not [line for line in (tmp_path / "read.c").read_text("utf-8").split("\n") if line.startswith("#define")]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_words_of_makefiles(tmp_path):
    texts = [text for text in (*HOSTILE, *drawn(300, 3)) if not re.search(r"[\n\r\0\ud800]", text)]
    words = "".join(f"W{n} = {make_word(text)}\nw{n}:\n\t@printf '%s\\n' $(W{n})\n" for n, text in enumerate(texts))
    (tmp_path / "Makefile").write_text(words, "utf-8")
    targets = [f"w{n}" for n in range(len(texts))]
    told = subprocess.run(["make", "-s", *targets], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert told.split("\n")[:-1] == texts
    with pytest.raises(ValueError, match="cannot be written to a Makefile"):
        make_word("a\nb")


def test_json_in_pages():
    for text in (*HOSTILE, *drawn(300, 4)):
        told = page_json({text: [text, 1.5]})
        assert json.loads(told) == {text: [text, 1.5]}
        assert told.isascii() and not re.search("[<>&]", told)
