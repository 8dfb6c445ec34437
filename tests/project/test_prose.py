"""The prose of README and docs: short sentences and the glossary's terms; docstrings begin with a noun or a verb."""

import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONGEST = 35
"""Words of a sentence."""
HOME_MADE = {
    r"\bfunctions? apart\b|\bApart\b": "outlined function",
    r"\bin parts\b|\bparallel parts\b|\bparts of (a|the) (kernel|nest|loops?)\b|\bcutting\b": "parallel chunks",
    r"\bin runs\b|\bruns of (\d+|elements)\b": "strips",
    r"\b(two|four|several|in) streams\b": "multiple accumulators",
    r"\bfolded loops?\b|\bloops? (is|are) folded\b": "collapsed loops",
    r"\b(rows|outputs) side by side\b": "unroll-and-jam",
    r"\blike steps\b": "loop rerolling",
    r"\bworst\b(?! case)": "identity element",
    r"\bhoped\b": "speculative fusion",
    r"\bassembled\b|\bassemblies\b": "concatenation or padding fusion",
    r"\brings?\b|\bbands?\b": "line buffers",
    r"\bstretch(ed|es)?\b": "broadcast",
    r"\bpositions? of (an? |the )?(extrem\w+|maxim\w+|minim\w+)\b": "argmax, argmin",
    r"\bturned (a)?round\b": "transposed, or reversed",
    r"\bdoors?\b": "graph editor",
    r"\bneighbourhoods?\b": "match key",
    r"\bsettle[sd]?\b|\bsettling\b": "fixed point reached",
    r"(?<!gradient )\bdescent\b": "top-down traversal",
    r"\b(takes?|taking|in|by|for) turns\b": "update locks",
    r"\bremembered\b": "executable cache",
    r"\bcollector (is )?(at rest|rests)\b": "GC paused",
    r"\b(the|a|each|this|another) room\b|\brooms\b": "subpackage",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bcompilers? ahead\b": "pre-started compiler",
    r"\b(built|builds?|compiled) ahead\b": "prebuilt at install time",
    r"\bwhat (it|that|each \w+|calls?|functions?) costs?\b": "profile, cost",
}
"""Home-made term -> standard term; an everyday word only in its home-made meaning."""
BAD_BEGINNING = re.compile(
    r"(?:\"\"\"|/\*\*? )(What|Whatever|Whoever|Whether what|Of which|Of what|Who|That which)\b.*"
)
CHECKED = [
    *("arignote", "benchmarks", "cbackend", "docs", "engines", "examples", "frontends", "graph", "ops", "optdb"),
    *("pages", "profiling", "record", "scaleout", "setup.py", "targets", "tests"),
]
"""Places whose docstrings and comments of C all begin with a noun or a verb."""


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def prose(text):
    """(line, text) of each paragraph, item and cell of a page, without code."""
    text = re.sub(r"\A---\n.*?\n---\n", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    text = re.sub(r"^( *)```.*?^ *```$", lambda m: "\n" * m.group().count("\n"), text, flags=re.S | re.M)
    text = re.sub(r"`[^`]+`", "code", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    number, found = 1, []
    for block in re.split(r"(\n(?= *[-*] | *\d+\. |\||#|\n))", text):
        cells = re.split(r"(?<!\\)\|", block) if block.lstrip().startswith("|") else [block]
        line = number + block[: len(block) - len(block.lstrip())].count("\n")
        found += [(line, cell) for cell in cells if cell.strip()]
        number += block.count("\n")
    return [(line, cell) for line, cell in found if not re.match(r"\n* {4}[^-*|\d ]", cell)]


def sentences(text):
    """The sentences of a paragraph: they end with a full stop and a space, or with a question mark."""
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`*\"(]|code)", " ".join(text.split()))


def words(sentence):
    return [word for word in sentence.split() if re.search(r"\w", word)]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_sentences_are_short(path):
    long = [
        f"{name_of(path)}:{line}: {len(words(sentence))} words: {sentence}"
        for line, text in prose(path.read_text(encoding="utf-8"))
        for sentence in sentences(text)
        if len(words(sentence)) > LONGEST
    ]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_terms_are_those_of_the_glossary(path):
    found = [
        f"{name_of(path)}:{line}: {match.group()!r}: write {standard}: {' '.join(text.split())[:100]}"
        for line, text in prose(path.read_text(encoding="utf-8"))
        for pattern, standard in HOME_MADE.items()
        if (match := re.search(pattern, text, 0 if "Apart" in pattern else re.I))
    ]
    assert not found, "\n".join(found)


def test_the_check_sees_a_home_made_term_and_a_long_sentence():
    page = "The door is\nclosed. Here " + "word " * 35 + "end.\n\n```text\nthe door\n```\n\n| `the door` | ring |\n"
    texts = [text for _, text in prose(page)]
    assert [len(words(s)) for text in texts for s in sentences(text)] == [4, 37, 1, 1]
    found = {standard for p, standard in HOME_MADE.items() if any(re.search(p, text) for text in texts)}
    assert found == {"line buffers", "graph editor"}


def beginnings(place):
    """file:line of each docstring of Python and each comment of C that begins badly."""
    files = sorted(path for path in place.rglob("*") if path.suffix in {".py", ".c", ".h"}) or [place]
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if match := BAD_BEGINNING.search(line):
                yield f"{name_of(path)}:{number}: {match.group()}"


@pytest.mark.parametrize("place", CHECKED)
def test_docstrings_and_comments_begin_with_a_noun_or_a_verb(place):
    assert not list(beginnings(ROOT / place))


def test_the_check_sees_a_bad_beginning(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    (tmp_path / "page.c").write_text("".join(f"/* {first} it is. */\n" for first in ("What", "Whatever", "Whether")))
    assert [found.split(":")[1] for found in beginnings(tmp_path)] == ["1", "2"]


HOME_MADE_NAMES = re.compile(r"(?i)(?:^|_)(told|said|apart|turned|stretch(?:ed|es)?|mend(?:s|ed|ing)?)(?:_|$)")
LIKELY = re.compile(r"(?i)told|said|apart|turned|stretch|mend")
"""A part of each text that has a home-made name; to search for it takes a tenth of the time of finding names."""
UNCHANGED: tuple[str, ...] = ()
"""Folders whose names are still to change."""
NAMED = {".py", ".c", ".h"}
"""The suffixes of files whose names are checked."""


def names_in(path):
    """The names of a file of Python or C, each once; none if no name can be home-made, wherever it stands."""
    if not LIKELY.search(path.read_text(encoding="utf-8")):
        return set()
    if path.suffix != ".py":
        bare = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", "", path.read_text(encoding="utf-8"), flags=re.S)
        return set(re.findall(r"\b[A-Za-z_]\w*", bare))
    with path.open("rb") as file:
        return {token.string for token in tokenize.tokenize(file.readline) if token.type == tokenize.NAME}


@pytest.mark.parametrize("place", [place for place in CHECKED if place != "docs"])
def test_names_are_made_of_standard_terms(place):
    files = sorted(path for path in (ROOT / place).rglob("*") if path.suffix in NAMED) or [ROOT / place]
    found = [
        f"{name_of(path)}: {name}"
        for path in files
        if not name_of(path).startswith(UNCHANGED)
        for name in sorted(names_in(path))
        if HOME_MADE_NAMES.search(name)
    ]
    assert not found, "\n".join(found)
