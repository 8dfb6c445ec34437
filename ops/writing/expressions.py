"""Expressions as definitions and results: repeated, long and deep parts have a name, so that the text stays linear.

    X.T @ (p - t) / n + 0.02 * w
      where p = sigmoid(X @ w + b)
            n = t.shape[0]

`written` makes them in each language of `code.py` and in LaTeX; names of parts are those of the user where he has some.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from ...graph import Apply, Constant, Variable, rebuild, toposort
from ...record import record
from ..core.namespace import classes
from . import latex
from .code import ATOM, LARGEST_CONSTANT, Code, Speaker, identifier

_REPEATED, _LONG, _DEEP = 12, 240, 24
"""Characters from which a part that is used again has a name, and characters and levels from which any part has one."""
_LENGTHS = "nmkl"


@record
class Written:
    """An expression as text.  Each definition may refer to leaves and to definitions before it."""

    results: tuple[str, ...]
    where: tuple[tuple[str, str], ...]
    names: Mapping[str, Variable]
    """The leaves, and the constants that are too large to be spelled out, by name."""


def opened(outputs: Sequence[Variable]) -> list[Variable]:
    """The outputs with ops that are made of ops, such as fused groups and calls of BLAS, replaced by their bodies."""
    found = list(outputs)
    while any(_body(node) is not None for node in toposort(found)):
        found = rebuild(found, {}, lambda node: _body(node) or node.outputs)
    return found


def _body(node: Apply) -> Sequence[Variable] | None:
    open_ = getattr(node.op, "body", None)
    body = open_(node.inputs) if open_ is not None else None
    if body is not None:
        for new, old in zip(body, node.outputs, strict=True):
            if old.name and new.owner is not None and not new.name:
                new.name = old.name
    return body


class Namer:
    """Names of the leaves and parts of an expression: the user's where they are free, each given once."""

    def __init__(self, wishes: Mapping[Variable, str], spelled: Callable[[str], str] = identifier) -> None:
        self._wishes, self._spelled = wishes, spelled
        self.taken: set[str] = set()
        self._next: Counter[str] = Counter()

    def wish(self, variable: Variable) -> str:
        """The user's name for a variable; empty without one."""
        return self._wishes.get(variable) or variable.name or ""

    def leaf(self, variable: Variable) -> str:
        stem = "c" if isinstance(variable, Constant) else variable.stem
        wish = self.wish(variable)
        return self._free(self._spelled(wish)) if wish else self._numbered(stem)

    def part(self, variable: Variable) -> str:
        """The name of a part: the user's, n for a length, else v1, v2, ..."""
        wish = self.wish(variable)
        if wish:
            return self._free(self._spelled(wish))
        if _is_length(variable):
            for letter in _LENGTHS:
                if letter not in self.taken:
                    return self._free(letter)
        return self._numbered("v")

    def definition(self, stem: str) -> str:
        return self._free(stem)

    def _free(self, name: str) -> str:
        """The name itself, or with a number behind it if it is taken."""
        if name in self.taken:
            self._next[name] = max(self._next[name], 1)
            return self._numbered(f"{name}_", name)
        self.taken.add(name)
        return name

    def _numbered(self, stem: str, counter: str = "") -> str:
        found = ""
        while not found or found in self.taken:
            self._next[counter or stem] += 1
            found = f"{stem}{self._next[counter or stem]}"
        self.taken.add(found)
        return found


def _is_length(variable: Variable) -> bool:
    return variable.owner is not None and isinstance(variable.owner.op, classes.ShapeI)


class _Writer:
    """The state of a walk over the nodes of an expression."""

    def __init__(self, outputs: Sequence[Variable], wishes: Mapping[Variable, str], language: str) -> None:
        self.outputs, self.order = outputs, toposort(outputs)
        self.speaker = Speaker(language)
        self.namer = Namer(wishes, str if language == "latex" else identifier)
        self.uses = Counter(i for node in self.order for i in node.inputs)
        self.uses.update(outputs)
        self.counted = {i for node in self.order if hasattr(node.op, "loop") for i in node.inputs}
        """Operands of elementwise ops, where a length has a name."""
        self.depth: dict[Variable, int] = {}
        self.where: list[tuple[str, str]] = []
        self.names: dict[str, Variable] = {}
        self.speaker.define = self.define

    def define(self, stem: str, text: str) -> str:
        """The name of a text that stands among the definitions."""
        known = next((name for name, other in self.where if other == text), None)
        if known is None:
            known = self.namer.definition(stem)
            self.where.append((known, text))
        return known

    # --- of the language
    def code_of(self, output: Variable) -> Code:
        """The code of an output, from those of the operands."""
        assert output.owner is not None
        op = output.owner.op
        return op.written(output, self.speaker) if hasattr(op, "written") else _foreign(output, self)

    def name_code(self, name: str, variable: Variable) -> Code:
        return name, ATOM

    def constant_code(self, constant: Constant) -> Code:
        return self.speaker.leaf_constant(constant.data)

    def length(self, text: str) -> int:
        """About the number of signs that a reader sees."""
        return len(text)

    # --- the walk
    def run(self) -> Written:
        self._leaves()
        for node in self.order:
            inner = 1 + max((self.depth.get(i, 0) for i in node.inputs), default=0)
            for output in node.outputs:
                code = self.code_of(output)
                named = output in self.uses and self._deserves_name(output, code, inner)
                self.depth[output] = 0 if named else inner
                self.speaker.codes[output] = self._named(output, code) if named else code
        results = tuple(self.speaker.codes[o][0] for o in self.outputs)
        return Written(results, self.needed(results), self.names)

    def needed(self, results: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """The definitions that the results refer to."""
        return _needed(results, self.where)

    def _leaves(self) -> None:
        found = dict.fromkeys(i for node in self.order for i in node.inputs if i.owner is None)
        found.update(dict.fromkeys(o for o in self.outputs if o.owner is None))
        spelled = []
        for leaf in found:  # inputs have the first choice of names
            if isinstance(leaf, Constant) and (leaf.data.size <= LARGEST_CONSTANT and not leaf.name):
                spelled.append(leaf)
            else:
                name = self.namer.leaf(leaf)
                self.names[name] = leaf
                self.speaker.codes[leaf] = self.name_code(name, leaf)
        self.speaker.taken |= self.namer.taken
        for leaf in spelled:
            alone = leaf in self.outputs and type(self) is _Writer
            code = (self.speaker.constant(leaf.data), ATOM) if alone else self.constant_code(leaf)
            self.speaker.codes[leaf] = code

    def _deserves_name(self, output: Variable, code: Code, depth: int) -> bool:
        length = self.length(code[0])
        if self.uses[output] == 1 and output in self.outputs:
            return False
        if _is_length(output):
            return self.uses[output] > 1 or output in self.counted
        if length > _LONG or depth > _DEEP:
            return True
        named = bool(self.namer.wish(output))
        return self.uses[output] > 1 and (length >= _REPEATED or (named and " " in code[0]))

    def _named(self, output: Variable, code: Code) -> Code:
        name = self.namer.part(output)
        self.where.append((self.name_code(name, output)[0], code[0]))
        self.speaker.taken.add(name)
        return self.name_code(name, output)


class _FormulaWriter(_Writer):
    """A walk that writes LaTeX."""

    def code_of(self, output: Variable) -> Code:
        assert output.owner is not None
        op, codes = output.owner.op, self.speaker.codes
        formula = getattr(op, "formula", None)
        operands = [codes[i] for i in output.owner.inputs]
        return formula(output, operands) if formula is not None else latex.called(op, output, operands)

    def name_code(self, name: str, variable: Variable) -> Code:
        return latex.name_text(name, variable.ndim), latex.ATOM

    def constant_code(self, constant: Constant) -> Code:
        return latex.constant_text(constant)

    def length(self, text: str) -> int:
        return latex.width(text)

    def needed(self, results: Sequence[str]) -> tuple[tuple[str, str], ...]:
        return tuple(self.where)


def formula(outputs: Sequence[Variable], wishes: Mapping[Variable, str] | None = None) -> str:
    """The expression in LaTeX, without dollar signs: on several lines if it is long or has definitions."""
    found = _FormulaWriter(opened(outputs), wishes or {}, "latex").run()
    lines = [line for text in found.results for line in _lines_of(text)]
    for k, (name, text) in enumerate(found.where):
        first, *rest = _lines_of(text)
        word = r"\text{where }" if k == 0 else r"\phantom{\text{where }}"
        lines += [rf"{word} {name} = {first}", *rest]
    if len(lines) == 1:
        return lines[0]
    rows = r" \\ ".join(f"& {line}" for line in lines)
    return rf"\begin{{aligned}}{rows}\end{{aligned}}"


_WIDEST, _WIDEST_TEXT = 90, 100


def _lines_of(text: str) -> list[str]:
    """A formula, a wide one cut before signs of a sum that stand in no group."""
    if latex.width(text) <= _WIDEST:
        return [text]
    pieces, begin, depth, k = [], 0, 0, 0
    while k < len(text):
        if text.startswith((r"\left", r"\begin", "{"), k):
            depth += 1
        elif text.startswith((r"\right", r"\end", "}"), k):
            depth -= 1
        elif depth == 0 and text.startswith((" + ", " - "), k):
            pieces.append(text[begin:k])
            begin = k + 1
        k += 2 if text[k] == "\\" and text[k + 1 : k + 2] in "{}" else 1
    pieces.append(text[begin:])
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if latex.width(lines[-1]) + latex.width(piece) > _WIDEST:
            lines.append(rf"\quad {piece}")
        else:
            lines[-1] += f" {piece}"
    return lines


def _needed(results: Sequence[str], where: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The definitions that the results refer to, in order."""
    words = {word for text in results for word in _WORD.findall(text)}
    kept = []
    for name, text in reversed(where):
        if name in words:
            kept.append((name, text))
            words.update(_WORD.findall(text))
    return tuple(reversed(kept))


_WORD = re.compile(r"[^\W\d]\w*")


_BRIEF, _STEPS = 70, 3
"""Most characters of a brief text, and the steps that it goes down from the output."""


def brief(variable: Variable) -> str:
    """A short text of an expression for messages: what is far down, or long, is "..."."""
    found: dict[Apply, None] = {}
    level: list[Variable] = [variable]
    for _ in range(_STEPS):
        nodes = dict.fromkeys(v.owner for v in level if v.owner is not None and not (v.name and v is not variable))
        found.update(nodes)
        level = [i for node in nodes for i in node.inputs]
    speaker = Speaker()
    speaker.define = lambda stem, text: stem
    order = sorted(found, key=lambda node: node.outputs[0].number)
    for node in order:
        for i in node.inputs:
            if i not in speaker.codes:
                speaker.codes[i] = _brief_leaf(i, speaker)
        for output in node.outputs:
            text, binding = node.op.written(output, speaker) if hasattr(node.op, "written") else (str(node.op), ATOM)
            if output.name and output is not variable:
                text, binding = output.name, ATOM
            speaker.codes[output] = (text, binding) if len(text) <= _BRIEF else ("...", ATOM)
    text = speaker.codes[variable][0]
    return text if text != "..." else f"{variable.owner!r}"


def _brief_leaf(variable: Variable, speaker: Speaker) -> Code:
    if variable.name:
        return variable.name, ATOM
    if isinstance(variable, Constant) and variable.data.size <= 4:
        return speaker.leaf_constant(variable.data)
    return "..." if variable.owner is not None else "_", ATOM


def _foreign(output: Variable, writer: _Writer) -> Code:
    """An op of another vocabulary, as a call of its name."""
    assert output.owner is not None
    several = f"[{output.index}]" if len(output.owner.outputs) > 1 else ""
    return f"{output.owner.op}({', '.join(writer.speaker.texts(output.owner.inputs))}){several}", ATOM


def written(
    outputs: Sequence[Variable], language: str = "text", wishes: Mapping[Variable, str] | None = None,
    loose: bool = False,
) -> Written:  # fmt: skip
    """The expression in a language of `code.py`.

    `wishes`: the user's names of its parts and leaves; `loose`: products of scalars and matrices may be written in
    another order of multiplication.
    """
    writer = _Writer(opened(outputs), wishes or {}, language)
    writer.speaker.loose = loose
    return writer.run()


def laid_out(found: Written) -> str:
    """The results, and the definitions in a where clause below them."""
    lines = ", ".join(_broken(text) for text in found.results)
    width = max((len(name) for name, _ in found.where), default=0)
    for k, (name, text) in enumerate(found.where):
        lines += f"\n  {'where' if k == 0 else '     '} {name:{width}} = {_broken(text)}"
    return lines


def _broken(text: str) -> str:
    """The text, of which a long one continues before a plus or minus outside of all brackets."""
    if len(text) <= _WIDEST_TEXT or "\n" in text:
        return text
    pieces = _summands(text)
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + len(piece) > _WIDEST_TEXT:
            lines.append(piece)
        else:
            lines[-1] += piece
    return "\n      ".join(lines)


def _summands(text: str) -> list[str]:
    """The text cut before each sign of a sum outside of brackets and quotes."""
    pieces, begin, depth, quote = [], 0, 0, ""
    for k, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth == 0 and c in "+-" and text[k - 1 : k] == " " and text[k + 1 : k + 2] == " ":
            pieces.append(text[begin : k - 1])
            begin = k - 1
    return [*pieces, text[begin:]]


_MODULES = {
    "np.": "import numpy as np", "special.": "from scipy import special", "ag.": "import arignote as ag",
    "T.": "from arignote import ops as T",
}  # fmt: skip


def code(found: Written) -> str:
    """The definitions as assignments, and the result; what they import stands first."""
    lines = [f"{name} = {text}" for name, text in found.where]
    lines.append(", ".join(found.results))
    body = "\n".join(lines)
    needed = [line for word, line in _MODULES.items() if _refers_to(body, word, found.names)]
    return "\n".join([*needed, body])


def _refers_to(body: str, word: str, names: Iterable[str]) -> bool:
    return word[:-1] not in names and any(
        piece == "" or not (piece[-1].isalnum() or piece[-1] in "_.)]") for piece in body.split(word)[:-1]
    )
