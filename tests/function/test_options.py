"""Options from the environment: what is read, what is refused, what is unknown; the page that lists them; CC."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import warnings
from dataclasses import fields
from pathlib import Path

import pytest
from small_programs import fake

from arignote.cbackend.build.headstart import HeadStart
from arignote.cbackend.build.toolchain import search
from arignote.cli import doctor
from arignote.options import Options, variable_of, warn_of_unknown

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import numpy as np, arignote as ag
from arignote import ops as T
x = T.vector("x")
for k in range(2):
    f = ag.function([x], T.exp(x) + k)
assert f.backend == "c" and f(np.zeros(2)).tolist() == [2.0, 2.0]
"""


def test_each_option_reads_its_variable():
    texts = {
        "mode": "FAST_COMPILE", "cache": "/c", "cache_key": "/k", "cc": "gcc -g", "compile_budget": "0.5", "debug": "3",
        "debug_info": "yes", "prebuilt": "0", "profile": "on", "progress": "off", "strict": "TRUE", "threads": " 2 ",
        "tiered": "1", "trace": "~/t",
    }  # fmt: skip
    read = Options.from_environment({variable_of(name): text for name, text in texts.items()})
    assert read == Options(
        mode="FAST_COMPILE", cache=Path("/c"), cache_key=Path("/k"), cc="gcc -g", compile_budget=0.5, debug=3,
        debug_info=True, prebuilt=False, profile=True, progress=False, strict=True, threads=2, tiered=True,
        trace=Path("~/t").expanduser(),
    )  # fmt: skip
    assert set(texts) == {f.name for f in fields(Options)}
    assert Options.from_environment({variable_of(name): "" for name in texts}) == Options(
        prebuilt=False, progress=False
    )


@pytest.mark.parametrize("name, text", [
    ("debug", "-1"), ("debug", "many"), ("threads", "0"), ("threads", "two"), ("strict", "maybe"),
    ("compile_budget", "-1"), ("compile_budget", "soon"), ("cache", "~nobody-at-all/x"),
])  # fmt: skip
def test_a_value_that_cannot_be_read_is_refused_by_name(name, text):
    with pytest.raises((ValueError, TypeError), match=variable_of(name)):
        Options.from_environment({variable_of(name): text})


def test_unknown_variables_are_reported_once_with_what_was_meant():
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        warn_of_unknown(["ARIGNOTE_THREAD", "ARIGNOTE_XYZZY", "ARIGNOTE_THREADS", "ARIG", "HOME"])
    assert [str(one.message) for one in reported] == [
        "arignote: ARIGNOTE_THREAD is no option and has no effect; did you mean ARIGNOTE_THREADS?",
        "arignote: ARIGNOTE_XYZZY is no option and has no effect",
    ]


def test_the_page_of_options_is_up_to_date():
    made = runpy.run_path(str(ROOT / "docs" / "make_options.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run `python docs/make_options.py`"


def test_every_variable_that_is_spoken_of_is_an_option():
    known = {variable_of(f.name) for f in fields(Options)}
    spoken = set()
    package = [path for path in (ROOT / "src" / "arignote").iterdir() if path.is_dir()]
    for folder in (*package, ROOT / "arignote", ROOT / "docs"):
        for file in folder.resolve().rglob("*"):
            if file.suffix in (".py", ".md", ".c"):
                spoken |= set(re.findall(r"ARIGNOTE_[A-Z_]*[A-Z]", file.read_text(encoding="utf-8")))
    assert spoken - {"ARIGNOTE_FIELD"} == known


# ---- CC


def test_a_cc_that_does_not_exist_is_reported(cache, monkeypatch):
    found = search(cache)
    for name in ("/nope", "no-such-compiler -O9", "gcc 'unclosed"):
        monkeypatch.setenv("CC", name)
        refused = search(cache).refused_cc
        assert (refused.variable, refused.problem) == ("CC", "no such program")
        assert HeadStart(cache, None, None).refused_cc == (refused if found.toolchain else None)
        assert search(cache, "/usr/bin/no").refused_cc is None  # ARIGNOTE_CC overrules it
    monkeypatch.setenv("CC", "")
    assert search(cache).refused_cc is None


def test_a_cc_that_does_not_work_is_reported_by_the_doctor(cache, tmp_path, monkeypatch):
    broken = fake(tmp_path, "echo I am ill; exit 3")
    monkeypatch.setenv("CC", broken)
    first = next(doctor.compiler(search(cache)))
    assert (first.state, first.fix) == ("warn", "unset CC")
    assert first.found.startswith(f"CC names {broken}, which does not work: ") and "I am ill" in first.found
    monkeypatch.setenv("CC", "/nope")
    assert next(doctor.compiler(search(cache))).found == "CC names /nope, which does not work: no such program"


def test_a_program_is_warned_once_of_cc_and_of_unknown_variables(tmp_path):
    settings = {"CC": "/nope", "ARIGNOTE_CACHE": str(tmp_path / "cache"), "ARIGNOTE_TREADS": "1"}
    for _ in range(2):  # the second process finds its functions in the cache
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env={**os.environ, **settings}, capture_output=True, text=True, check=True
        )
        assert run.stderr.count("arignote: ") == 2, run.stderr
        assert run.stderr.count("CC names /nope: no such program. ") == 1
        assert run.stderr.count("compiles instead. Unset CC, or correct it.") == 1
        assert run.stderr.count("ARIGNOTE_TREADS is no option and has no effect; did you mean ARIGNOTE_THREADS?") == 1
