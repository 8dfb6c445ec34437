"""Our C as files that tools read: each unit compiles alone without a warning, and is one self-contained text."""

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest
from product_files import ROOT

from arignote.cbackend.abi.amalgamation import self_contained
from arignote.cbackend.abi.pieces import named
from arignote.cbackend.compile_commands import PART_OF_A_UNIT, entries, main
from arignote.cbackend.lowering.splitting import ELEMENTS_OF_PART, ROWS_OF_PART
from arignote.cbackend.program.outcome import Outcome
from arignote.cbackend.runtime.sources import units
from arignote.targets.costs import Costs

CBACKEND = ROOT / "cbackend"
ZIG = find_spec("ziglang")


def _clang():
    """The command of clang: the system's, or zig's without the cache of `zig cc`, which needs objects."""
    if which("clang") or ZIG is None:
        return ["clang"] if which("clang") else None
    folder = Path(ZIG.origin).parent
    return [str(folder / "zig"), "clang", "-isystem", str(folder / "lib" / "include")]


COMPILERS = {"gcc": ["gcc"] if which("gcc") else None, "clang": _clang()}


def complaints(command, files):
    """The messages of a compiler for the files that it refuses or warns of."""

    def message(entry):
        command_line = [*command, "-fsyntax-only", *entry]
        run = subprocess.run(command_line, check=False, capture_output=True, text=True, timeout=100)
        return f"{entry[-1]}: {run.stderr}" if run.returncode or run.stderr.strip() else None

    with ThreadPoolExecutor(2) as pool:
        return [text for text in pool.map(message, files) if text]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_each_unit_compiles_alone_without_a_warning(compiler):
    command = COMPILERS[compiler]
    if command is None:
        pytest.skip(f"needs {compiler}")
    assert not complaints(command, [("-Werror", *e.flags, str(e.file)) for e in entries() if e.unit])


@pytest.mark.long
def test_each_file_includes_what_it_needs():
    if COMPILERS["gcc"] is None:
        pytest.skip("needs gcc")
    parts = [entry for entry in entries() if not entry.unit]
    assert len(parts) > 40
    flags = [f for f in parts[0].flags if f not in PART_OF_A_UNIT]
    assert not complaints(
        COMPILERS["gcc"],
        [(*flags, *(f for f in e.flags if f.startswith("-D")), "-w", "-Werror=implicit-function-declaration",
          "-include", str(e.file), "-xc", "/dev/null") for e in parts],
    )  # fmt: skip


def test_every_file_has_an_entry():
    listed = {entry.file for entry in entries()}
    found = {path for path in CBACKEND.rglob("*.[ch]") if "prebuilt" not in path.parts}
    assert found == {path for path in listed if CBACKEND in path.parents}


def test_units_are_self_contained_and_deterministic():
    for unit in units():
        text = unit.text()
        assert not re.search(r'(?m)^#(include "|pragma once)', text), unit.path
        assert unit.text() == text


def test_the_database_has_an_entry_for_each_unit_and_each_file_of_it(tmp_path):
    main([str(tmp_path)])
    rows = json.loads((tmp_path / "compile_commands.json").read_text())
    assert [Path(row["file"]) for row in rows] == [entry.file for entry in entries()]
    assert all(row["arguments"][-1] == row["file"] for row in rows)


def test_costs_in_c_are_those_of_the_cost_model():
    costs = Costs()
    numbers = f"TASK_NS = {costs.task // 1000}, ALONE_NS = {costs.shared // 1000}, MOVED_PS = {costs.moved_byte} "
    text = (CBACKEND / "runtime" / "costs.h").read_text()
    assert numbers in text
    assert f"ELEMENTS_OF_PART = {ELEMENTS_OF_PART}, ROWS_OF_PART = {ROWS_OF_PART} " in text


def test_outcomes_in_c_are_those_of_python():
    found = re.findall(r"OUTCOME_(\w+) = (\d+)", (CBACKEND / "driver" / "outcomes.h").read_text())
    assert {name: int(number) for name, number in found} == {outcome.name: int(outcome) for outcome in Outcome}


# ---- The two readers of C --------------------------------------------------------------------------------------------


def test_an_include_becomes_the_text_of_its_file_once(tmp_path):
    for name, text in {
        "a.h": "#pragma once\nint a;\n",
        "b.h": '#pragma once\n#include "a.h"\n\nint b;\n',
        "each.h": "int N;\n",
        "left.h": "int left;\n",
        "right.h": "int right;\n",
        "unit.c": '#include <stdint.h>\n#include "b.h"\n#include "a.h"\n\n#define N x\n#include "each.h"\n#undef N\n'
        '#define N y\n#include "each.h"\n#ifdef LEFT\n#include "left.h"\n#else\n#include "right.h"\n#endif\n',
    }.items():
        (tmp_path / name).write_text(text)
    text = self_contained(tmp_path / "unit.c", macros=["LEFT"])
    assert re.findall(r"int (\w+);", text) == ["a", "b", "N", "N", "left"]
    assert text.startswith("#include <stdint.h>\n")
    assert re.findall(r"int (\w+);", self_contained(tmp_path / "unit.c", without=[tmp_path / "b.h"])) == [
        "a", "N", "N", "right",
    ]  # fmt: skip


def test_a_piece_has_all_names_that_it_defines():
    text = "/* One. */\nstruct one;\ntypedef struct one {\n    int x;\n} one;\nstatic int f(one *o)\n"
    text += "{\n    g(1);\n\n    return 0;\n}\n"
    more = '__attribute__((noinline, optimize("O2"))) static void h(void)\n{\n}\n'
    found = named(f'#include "x.h"\n\n{text}\n{more}')
    assert list(found) == ["one", "f", "h"]
    assert found["one"] is found["f"]
    assert (found["f"].text, found["h"].text) == (text, more)
