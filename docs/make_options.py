"""Writes docs/options.md, the list of all options, from their table: `python docs/make_options.py`."""

from dataclasses import fields
from pathlib import Path

from arignote.options import DEBUG_LEVELS, OTHERS, Options, variable_of

PAGE = Path(__file__).with_name("options.md")
HEAD = """# Environment options

Written by `python docs/make_options.py`. A process reads each variable once, when it compiles its first function.
Arguments of `ag.function` (`mode`, `profile`, `threads`, ...) override them. An unknown variable that begins with
`ARIGNOTE_` gives a warning; a value that cannot be parsed raises an error.

| variable | value | default | effect |
|---|---|---|---|
"""
DEBUG = """
## ARIGNOTE_DEBUG

The messages go to standard error. Each level includes the levels below it. From level 2 on, functions are compiled with
a run profile, so their C reads clocks. The graph is then optimized even if its C is in the cache. Calls of bound
functions (`f.bind`) are not shown.

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
