"""Names as text of another language: one function for each.

A name (of a function, a variable, a model, a folder) is any text, perhaps a stranger's.  Where it is written into a
file of another language it goes through the function of that language, which leaves it no way out of its place:

    C comments      c_comment        C strings, #line    c_string         C identifiers   cbackend/bundle/names.py
    Makefiles       make_word        JSON in a page      page_json        HTML, SVG       pages/markup.py
    lines of text   one_line         shell               shlex.quote      LaTeX           ops/writing/latex.py
"""

from __future__ import annotations

import json
import re
from typing import Any

_SHELL_WORD = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def one_line(text: str) -> str:
    """The text on one line: characters that steer a terminal or a reader's eye are escaped as Python escapes them.

    These are all that are not printable: line ends, control sequences, marks of writing direction, lone surrogates.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def lines_of_text(text: str) -> str:
    """The text with its line ends and tabs; else as of `one_line`."""
    return re.sub(r"[^\n\t]+", lambda part: one_line(part[0]), text)


def c_comment(text: str) -> str:
    """The text on one line inside a comment of C, which it neither ends nor continues on the next line."""
    separate = re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", one_line(text))
    return f"{separate[:-1]}\\x5c" if separate.endswith("\\") else separate


def c_string(text: str) -> str:
    """The text as a string of C, in ASCII: the bytes of UTF-8, of which others are written in octal."""
    encoded = text.encode("utf-8", "surrogatepass")
    return f'"{"".join(_PLAIN.get(byte) or f"{chr(92)}{byte:03o}" for byte in encoded)}"'


_PLAIN = {byte: chr(byte) for byte in range(32, 127) if chr(byte) not in '"\\?'} | {34: r"\"", 92: r"\\", 63: r"\?"}


def make_word(text: str) -> str:
    """The text as one word of a command in a Makefile; it has no line ends, which no Makefile can write.

    Raises:
        ValueError: it has a line end or a NUL.
    """
    if re.search(r"[\n\r\0]", text):
        raise ValueError(f"{text!r} cannot be written to a Makefile, because it holds a line end or a NUL")
    if _SHELL_WORD.fullmatch(text):
        return text
    word = "'" + text.replace("'", "'\\''") + "'"
    return word.replace("$", "$$").replace("#", r"\#")


def page_json(value: Any) -> str:
    """The value as JSON in ASCII that may also stand inside an element of HTML: it holds none of its marks."""
    dumped = json.dumps(value, separators=(",", ":"))
    return dumped.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
