"""The doctor and the cache command: every defect is named with its fix, and no machine makes them raise."""

from __future__ import annotations

import json
import re

import pytest

from arignote.cbackend.cache.entry import Kind
from arignote.cbackend.cache.store import Cache
from arignote.cli import cache_command, doctor
from arignote.options import Options


@pytest.fixture
def options(tmp_path, monkeypatch):
    """A way to set the options that the commands see; the cache lies in a folder of the test."""

    def choose(**fields: object) -> Options:
        chosen = Options(**{"cache": tmp_path / "cache", **fields})
        for module in (doctor, cache_command):
            monkeypatch.setattr(module, "process_options", lambda: chosen)
        return chosen

    choose()
    return choose


def test_a_report_names_everything_and_what_fixes_it(options, capsys):
    assert doctor.main() == 0
    report = capsys.readouterr().out
    for subject in ("arignote", "numpy", "cffi", "threadpoolctl", "compiler", "processor", "BLAS", "cache"):
        assert re.search(rf"^(ok  |warn) {subject} ", report, re.M), subject
    for line, following in zip(report.splitlines(), [*report.splitlines()[1:], ""]):
        assert not line.startswith(("warn", "fail")) or following.strip().startswith("fix: "), line
    assert re.search(r"\d+ ok, \d+ to look at, 0 failed", report)


def test_without_a_compiler(options, capsys):
    options(cc="no-such-compiler")
    assert doctor.main() == 0
    report = capsys.readouterr().out
    assert "no-such-compiler does not work: no such program" in report
    assert "functions run on NumPy" in report
    assert "fix: pip install 'arignote[compiler]'" in report


def test_an_unsafe_cache_folder(options, tmp_path, monkeypatch, capsys):
    unsafe = tmp_path / "unsafe"
    unsafe.mkdir()
    unsafe.chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    options(cache=unsafe)
    doctor.main()
    report = capsys.readouterr().out
    assert f"refused: {unsafe}: writable by others (mode 0777)" in report
    assert f"fix: chmod go-w {unsafe}" in report
    assert str(tmp_path / "xdg" / "arignote") in report


def test_a_compiler_that_fails_after_it_was_probed(options, monkeypatch, capsys):
    def broken(*_: object) -> None:
        raise doctor.CompileError("gcc failed with exit code 1:\ncode.c:1: error")

    monkeypatch.setattr(doctor, "compile_text", broken)
    if doctor.main() == 0:
        pytest.skip("needs a C compiler")
    assert "fail compiled code gcc failed with exit code 1:" in capsys.readouterr().out


def test_cache_commands(options, tmp_path, capsys):
    cache = Cache.open(tmp_path / "cache")
    for number in range(3):
        cache.store(Kind.LIBRARY, bytes([number]) * 32, bytes(2048), "int x;")
    for action, expected in [
        ("size", "3 libraries, 0 records, 0 tuned schedules and trials of 0 kernels, 6.4 KiB of at most 2.0 GiB"),
        ("list", "2.1 KiB  02020202...so"),
        ("verify", "3 entries sound"),
        ("trim", "removed 0 entries, 0 B; "),
        ("clear", "; 0 remain, 0 B"),
        ("size", "0 libraries"),
    ]:
        assert cache_command.main(action) == 0
        assert expected in capsys.readouterr().out


def test_the_list_names_the_functions_of_records_and_libraries(options, tmp_path, capsys):
    cache, library = Cache.open(tmp_path / "cache"), bytes([7]) * 32
    cache.store(Kind.LIBRARY, library, bytes(2048), "/* y0 = exp(x0) */")
    for number, name in enumerate(("loss", "a\x1b[31m")):
        head = json.dumps({"name": name, "library": library.hex()}) + "\n"
        cache.store(Kind.RECORD, bytes([number]) * 32, head.encode())
    cache.store(Kind.RECORD, bytes([5]) * 32, b"no JSON")
    assert cache_command.main("list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(re.search(r"07070707...so +(loss, a\\x1b\[31m|a\\x1b\[31m, loss) +y0 = exp", line) for line in lines)
    assert any(re.search(r"00000000...rec +loss +record", line) for line in lines)
    assert any(re.search(r"05050505...rec +record", line) for line in lines)


def test_verify_names_what_is_damaged(options, tmp_path, capsys):
    path = Cache.open(tmp_path / "cache").store(Kind.LIBRARY, bytes(32), bytes(2048))
    path.write_bytes(b"cut")
    assert cache_command.main("verify") == 1
    assert path.name in capsys.readouterr().out
    assert cache_command.main("verify") == 0


def test_every_action_is_offered():
    assert tuple(cache_command.ACTIONS) == ("size", "list", "verify", "trim", "clear", "untune")
