"""The Makefile of a bundle.

Variables that a command line or the environment replaces (CFLAGS, LDFLAGS, LDLIBS) hold nothing that results depend on:
what does is in variables of its own, behind them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...record.quoting import make_word
from ..build.cross import ZIG_COMMAND, Builder

_TEXT = """\
{commands}
ARCH ?= {arch}
CFLAGS ?= {flags}
LDFLAGS ?= {link_flags}

# Results depend on these, so they stand behind the others.  Another build system has to pass them, too.
AG_CFLAGS = {required}
AG_LDFLAGS = {required_links}
AG_LDLIBS = {libraries}

{program}: {parts}
	$(CC) $(ARCH) $(LDFLAGS) $(AG_LDFLAGS) -o $@ {parts} $(LDLIBS) $(AG_LDLIBS)

ag_runtime.o: CFLAGS += -Os

lib{name}.a: {objects}
	$(AR) rcs $@ {objects}

%.o: %.c {name}.h
	$(CC) $(ARCH) $(CFLAGS) $(AG_CFLAGS) -fvisibility=hidden -c -o $@ $<

clean:
	rm -f {program} {parts} {objects}

.PHONY: clean
"""


def makefile(name: str, sources: Sequence[str], builder: Builder) -> str:
    """Return the text of the Makefile that builds the C files `sources` and an example."""
    library = f"lib{name}.a"
    exported = [f"-Wl,--export={function}" for function in _exports(name)] if builder.web else []
    return _TEXT.format(
        name=name, parts=library if builder.web else f"{name}_main.o {library}",
        program=name + (".wasm" if builder.alone else ""), commands="\n".join(_commands(builder)),
        arch=_words(builder.arch), flags=_words(builder.flags), required=_words(builder.required),
        link_flags=_words(builder.link_flags), required_links=_words((*builder.required_links, *exported)),
        libraries=_words(builder.libraries), objects=" ".join(s.removesuffix(".c") + ".o" for s in sources),
    ).replace("= \n", "=\n")  # fmt: skip


def _exports(name: str) -> list[str]:
    """Return the C functions that a page calls."""
    return ["malloc", "free", *(f"{name}_{call}" for call in ("open_memory", "run", "free", "message", "close"))]


def _commands(builder: Builder) -> list[str]:
    """Return the lines that name the compiler and archiver, which a command line or the environment may override.

    `?=` does not: make has values of its own for CC and AR.
    """
    lines = ["ZIG ?= python3 -m ziglang"] if ZIG_COMMAND in builder.compiler else []
    for variable, words in (("CC", builder.compiler), ("AR", builder.archiver)):
        if words:
            lines += [f"ifeq ($(origin {variable}),default)", f"{variable} = {_words(words)}", "endif"]
    return lines


def _words(words: Sequence[str]) -> str:
    return " ".join(w if w == ZIG_COMMAND else make_word(w) for w in words)
