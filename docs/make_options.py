"""Writes docs/options.md, the list of all options, from their table: `python docs/make_options.py`."""

from dataclasses import fields
from pathlib import Path

from arignote.options import DEBUG_LEVELS, OTHERS, Options, variable_of

PAGE = Path(__file__).with_name("options.md")
HEAD = """# Options

Written by `python docs/make_options.py`.  Each variable is read once a process, when the first function is compiled.
Arguments of `ag.function` (`mode`, `profile`, `threads`, ...) overrule them.  A variable that begins with `ARIGNOTE_`
and is not in this table gives a warning, and a value that cannot be read an error.

| variable | value | default | effect |
|---|---|---|---|
"""
DEBUG = """
## ARIGNOTE_DEBUG

Lines on standard error.  Each level shows what the one before shows, and more.  From level 2 on functions are compiled
with a run profile, so that their C holds clocks, and the graph is optimized even if its C lies in the cache.  Calls of
bound functions (`f.bind`) are not shown.

| level | shows |
|---|---|
"""
OTHER = """
## Other variables

| variable | effect |
|---|---|
"""


def page() -> str:
    """The text of the page."""
    rows = []
    for option in fields(Options):
        value = option.metadata["read"].__doc__.splitlines()[0].rstrip(".")
        rows.append(f"| `{variable_of(option.name)}` | {value} | {_shown(option.default)} | {option.metadata['doc']} |")
    levels = [f"| {level} | {shows} |" for level, shows in enumerate(DEBUG_LEVELS)]
    others = [f"| `{name}` | {effect} |" for name, effect in OTHERS.items()]
    return HEAD + "\n".join(rows) + "\n" + DEBUG + "\n".join(levels) + "\n" + OTHER + "\n".join(others) + "\n"


def _shown(default: object) -> str:
    """The default as a value of the variable; nothing where there is none."""
    return "" if default is None else str(int(default)) if isinstance(default, bool) else f"{default}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
