"""Exports of functions with unfortunate names: files, symbols and macros of a bundle clash with nothing."""

import functools
import hashlib
import keyword
import os
import random
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.bundle import bundle
from arignote.cbackend.bundle.names import c_name
from arignote.function.function import find_toolchain

needs = [
    pytest.mark.skipif(find_toolchain() is None, reason="needs a C compiler"),
    pytest.mark.skipif(shutil.which("gcc") is None or shutil.which("g++") is None, reason="needs gcc and g++"),
    pytest.mark.skipif(shutil.which("make") is None, reason="needs make"),
]
pytestmark = needs
STRICT = ["-Wall", "-Wextra", "-Werror"]
x = T.vector("x")


def run(*command, folder, **options):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}: {done.stderr or done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def function():
    """A function with a shared variable, exported under the name that it is given last."""
    w = ag.shared(np.array([1.0, 2.0]), name="w")
    return ag.function([x], {"scores": T.exp(x) * w}, updates=[(w, w * 2)], name="draft")


@pytest.fixture(scope="module")
def runtime(function, tmp_path_factory):
    """The object of the runtime, the same for all names."""
    folder = tmp_path_factory.mktemp("runtime")
    function.export(folder)
    run("gcc", "-std=gnu11", "-O0", "-c", "ag_runtime.c", folder=folder)
    return folder / "ag_runtime.o"


def exported(function, name, folder):
    function.name = name
    return function.export(folder)


# Each of these failed: a table of ours has its name, a function of the C library, a header, a macro, a file of make.
UNFORTUNATE = ["result", "_", "shm", "map", "math", "time", "clean", "Makefile", "rename", "file_name", "a" * 300]


@pytest.mark.few(3)
@pytest.mark.parametrize("name", UNFORTUNATE)
def test_an_unfortunate_name(name, function, runtime, tmp_path):
    found = c_name(name)
    folder = exported(function, name, tmp_path / "made")
    shutil.copyfile(runtime, folder / "ag_runtime.o")
    os.utime(folder / "ag_runtime.o", (2e9, 2e9))
    run("make", "-s", "CC=gcc", f"CFLAGS=-O0 {' '.join(STRICT)}", folder=folder)
    np.zeros(2).tofile(folder / "in.bin")
    assert "[2]" in run(f"./{found}", f"{found}.weights", "in.bin:2", folder=folder)
    assert list(np.fromfile(folder / f"{found}.out0")) == [1.0, 2.0]
    run("make", "clean", folder=folder)
    assert not (folder / found).exists()
    headers = "".join(f"#include <{h}.h>\n" for h in ("math", "time", "sys/mman", "semaphore", "signal", "stdio"))
    user = f'{headers}#include "{found}.h"\nint main(void) {{ return {found}_open("", 0) != NULL; }}\n'
    (folder / "user.c").write_text(user)
    run("gcc", "-D_GNU_SOURCE", "-I.", *STRICT, "-fsyntax-only", "user.c", folder=folder)


KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t class compl concept const
    consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double
    dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace
    new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
    restrict return short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor
    xor_eq _Bool _Complex _Imaginary _Atomic linux unix std main NULL errno assert I
"""
STANDARD = """
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
    stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype unistd fcntl
    pthread semaphore sys/mman sys/stat sys/types sys/time sys/socket netdb dirent dlfcn iconv poll regex sched
    search strings termios utime mqueue glob grp pwd resolv obstack argp fts envz aio printf
"""
ODD = [
    *("", " ", "2nd", "a-b", "a.b", "größe", "名", "*/", '"', "\\", "\n", "\0", "\ud800", "ag_x", "AG_x", "Ag", "_H"),
    *("__", "con", "NUL", "lib", "-o", "../up", "/abs", "a/b", "a b", "$(x)", "`x`", "%s", "{name}", "@NAME@", "NAME"),
]  # fmt: skip


ONLY_C = ("iso646", "tgmath", "stdatomic", "complex")
"""Headers that C++ has in another form."""


def standard(left_out=()):
    """Text that includes the standard headers, as far as they are there."""
    names = [f"<{name}.h>" for name in STANDARD.split() if name not in left_out]
    return "".join(f"#if __has_include({name})\n#include {name}\n#endif\n" for name in names)


def macros():
    """The macros of the standard headers."""
    text = standard()
    command = ["gcc", "-D_GNU_SOURCE", "-dM", "-E", "-x", "c", "-"]
    return re.findall(r"(?m)^#define (\w+)", run(*command, folder=".", input=text))


def symbols():
    """The functions and variables of the C library and the mathematical one."""
    for library in ("libc.so.6", "libm.so.6"):
        path = run("gcc", f"-print-file-name={library}", folder=".").strip()
        yield from defined("-D", path, folder=".")


def defined(*arguments, folder):
    """The symbols that files define."""
    lines = run("nm", "--defined-only", *arguments, folder=folder).splitlines()
    return {line.split()[-1].partition("@")[0] for line in lines if " " in line}


def words():
    """The words of our templates, and of what the generated C declares."""
    folder = Path(bundle.__file__).parent
    for file in ("bundle.c", "example.c", "header.h", "header.hpp", "web.js", "makefile.py", "bundle.py"):
        yield from re.findall(r"\b[A-Za-z_]\w*\b", (folder / file).read_text())


def drawn():
    """Names: all keywords, headers and odd ones, and a drawn part of the others."""
    chance = random.Random(17)
    every = [sorted(set(some)) for some in (words(), symbols(), macros())]
    parts = [name for some in every for name in chance.sample(some, min(len(some), 160))]
    parts += [stem for some in every for n in some for stem in stems(n)]
    return list(dict.fromkeys([*KEYWORDS.split(), *keyword.kwlist, *STANDARD.split(), *ODD, *UNFORTUNATE, *parts]))


LOWER = "inputs outputs shared array type function open open_memory close run free message value entry model input"
ENDINGS = f"{LOWER} result error INPUTS OUTPUTS SHARED".split()
"""With which a name becomes a symbol, a type or a constant of ours."""


def stems(word):
    """Names that would make this word with an ending of ours."""
    return [stem for ending in ENDINGS if (stem := word.removesuffix(f"_{ending}")) not in (word, "")]


def test_no_name_makes_a_word_of_the_c_library():
    taken = {*symbols(), *macros()}
    for word in sorted(taken):
        for stem in stems(word):
            name = c_name(stem)
            assert not {f"{name}_{e}" for e in ENDINGS[:-3]} & taken, (word, name)
            assert not {f"{name.upper()}_{e}" for e in ENDINGS[-3:]} & taken, (word, name)


@pytest.mark.long
def test_five_hundred_names_in_c_and_cpp(function, runtime, tmp_path):
    names = drawn()
    assert len(names) > 500
    folders = {}
    for name in names:
        folder = tmp_path / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        folders[name] = exported(function, name, folder)
    taken = {*symbols(), *macros()}
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(functools.partial(built, runtime, taken), names, folders.values()))
    batches = {}
    for name in names:  # in one text no two of them may differ in case alone
        found = c_name(name)
        batch = next((b for b in batches.values() if len(b) < 24 and found.upper() not in b), None)
        batch = batches.setdefault(len(batches), {}) if batch is None else batch
        batch[found.upper()] = (folders[name], found)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(functools.partial(included, tmp_path), batches, batches.values()))


def built(runtime, taken, name, folder):
    """Build a bundle as C; its symbols are none of the C library's."""
    found = c_name(name)
    sources = [f"{found}{ending}.c" for ending in ("", "_main", "_program")]
    run("gcc", "-std=gnu11", "-O0", *STRICT, "-c", *sources, folder=folder)
    objects = [source.replace(".c", ".o") for source in sources]
    assert not defined("-g", objects[0], objects[2], folder=folder) & taken, name
    run("gcc", "-o", found, *objects, runtime, "-lm", "-ldl", "-lpthread", folder=folder)
    with (folder / "Makefile").open() as makefile:
        assert f"\n{found}: {found}_main.o lib{found}.a\n" in makefile.read()
    for file in folder.iterdir():
        if file.suffix == ".o" or file.name == found:
            file.unlink()


def included(tmp_path, number, batch):
    """Include headers of many bundles behind the standard ones, with their folders on the path, as C and as C++."""
    text = standard(ONLY_C)
    text += "".join(f'#include "{folder}/{name}.h"\n' for folder, name in batch.values())
    folders = [f"-I{folder}" for folder, _ in batch.values()]
    (tmp_path / f"all{number}.c").write_text(f"#define _GNU_SOURCE\n{text}")
    run("gcc", *STRICT, "-std=c11", *folders, "-fsyntax-only", f"all{number}.c", folder=tmp_path)
    text = text.replace('.h"', '.hpp"')
    (tmp_path / f"all{number}.cpp").write_text(text)
    run("g++", *STRICT, "-std=c++17", *folders, "-fsyntax-only", f"all{number}.cpp", folder=tmp_path)
