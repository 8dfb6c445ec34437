"""`%load_ext arignote` in IPython: completion of names and tags of the database inside strings, short errors.

    mode.excluding("inpl<Tab>      ag.optdb.query("fast_run -local_m<Tab>      ag.function(..., mode="fast_run -f<Tab>

Keys (`ag.optdb["local_m<Tab>`) are completed without it.
"""

from __future__ import annotations

import re
from typing import Any

from ..database import optdb
from ..optdb.contract import CONTRACT_TAGS
from .tracebacks import tell_all

_CALL = r"""(?x)
        (?:\b(?:including|excluding|requiring|query|table|rewrite|Query|Mode|parse)\([^()]*|\bmode\s*=\s*)
        (?P<quote>["'])(?:[^"']*[\s,(+&-])?(?P<word>[\w.:]*)$"""


def names_like(line: str) -> list[str]:
    """Return the names and tags that complete the word at the end of `line`, if it is inside a query."""
    found = re.search(_CALL, line)
    if found is None:
        return []
    tags = CONTRACT_TAGS.union(*(entry.tags for entry in optdb.entries()))
    return sorted(tag for tag in tags if tag.startswith(found["word"]))


def load_ipython_extension(shell: Any) -> None:
    """Called by IPython for `%load_ext arignote`."""

    tell_all(shell)
    shell.Completer.custom_matchers.append(lambda word: names_like(shell.Completer.text_until_cursor))
