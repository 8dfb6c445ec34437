"""The Makefile of a bundle."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..build.cross import ZIG_COMMAND, Builder

_TEXT = """\
{commands}
ARCH ?= {arch}
CFLAGS ?= {flags}
LDFLAGS ?= {link_flags}
LDLIBS = {libraries}

{program}: {name}_main.o lib{name}.a
	$(CC) $(ARCH) $(LDFLAGS) -o $@ {name}_main.o lib{name}.a $(LDLIBS)

lib{name}.a: {objects}
	$(AR) rcs $@ {objects}

%.o: %.c {name}.h
	$(CC) $(ARCH) $(CFLAGS) -fvisibility=hidden -c -o $@ $<

clean:
	rm -f {program} lib{name}.a {name}_main.o {objects}

.PHONY: clean
"""


def makefile(name: str, sources: Sequence[str], builder: Builder) -> str:
    """The text of the Makefile that builds the C files `sources` and an example."""
    return _TEXT.format(
        name=name, program=name + (".wasm" if builder.alone else ""), commands="\n".join(_commands(builder)),
        arch=_words(builder.arch), flags=_words(builder.flags), link_flags=_words(builder.link_flags),
        libraries=_words(builder.libraries), objects=" ".join(s.removesuffix(".c") + ".o" for s in sources),
    ).replace("= \n", "=\n")  # fmt: skip


def _commands(builder: Builder) -> list[str]:
    """The lines that say which programs compile and archive, unless a command line or the environment does.

    `?=` does not: make has values of its own for CC and AR.
    """
    lines = ["ZIG ?= python3 -m ziglang"] if ZIG_COMMAND in builder.compiler else []
    for variable, words in (("CC", builder.compiler), ("AR", builder.archiver)):
        if words:
            lines += [f"ifeq ($(origin {variable}),default)", f"{variable} = {_words(words)}", "endif"]
    return lines


def _words(words: Sequence[str]) -> str:
    return " ".join(w if w == ZIG_COMMAND else _quoted(w) for w in words)


def _quoted(flag: str) -> str:
    return f"'{flag}'" if re.search(r"[^\w@%+=:,./-]", flag) else flag
