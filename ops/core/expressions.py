"""Expressions as definitions and results: repeated, long and deep parts have a name, so that the text stays linear.

    X.T @ (p - t) / n + 0.02 * w
      where p = sigmoid(X @ w + b)
            n = t.shape[0]

`written` makes them in each language of `code.py` and in LaTeX; names of parts are those of the user where he has some.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ...graph import Apply, Constant, Variable, rebuild, toposort
from ...record import record
from .code import LARGEST_CONSTANT, Code, Speaker, identifier
from .namespace import classes

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
        self.namer = Namer(wishes)
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

    def run(self) -> Written:
        self._leaves()
        for node in self.order:
            inner = 1 + max((self.depth.get(i, 0) for i in node.inputs), default=0)
            for output in node.outputs:
                code = node.op.written(output, self.speaker) if hasattr(node.op, "written") else _foreign(output, self)
                named = output in self.uses and self._deserves_name(output, code, inner)
                self.depth[output] = 0 if named else inner
                self.speaker.codes[output] = self._named(output, code) if named else code
        results = tuple(self.speaker.codes[o][0] for o in self.outputs)
        return Written(results, _needed(results, self.where), self.names)

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
                self.speaker.codes[leaf] = (name, 10)
        self.speaker.taken |= self.namer.taken
        for leaf in spelled:
            self.speaker.codes[leaf] = self.speaker.leaf_constant(leaf.data)
        for output in self.outputs:
            if output in spelled:
                self.speaker.codes[output] = self.speaker.constant(output.data), 10  # type: ignore[attr-defined]

    def _deserves_name(self, output: Variable, code: Code, depth: int) -> bool:
        text, _ = code
        if self.uses[output] == 1 and output in self.outputs:
            return False
        if _is_length(output):
            return self.uses[output] > 1 or output in self.counted
        if len(text) > _LONG or depth > _DEEP:
            return True
        named = bool(self.namer.wish(output))
        return self.uses[output] > 1 and (len(text) >= _REPEATED or (named and " " in text))

    def _named(self, output: Variable, code: Code) -> Code:
        name = self.namer.part(output)
        self.where.append((name, code[0]))
        self.speaker.taken.add(name)
        return name, 10


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


def _foreign(output: Variable, writer: _Writer) -> Code:
    """An op of another vocabulary, as a call of its name."""
    assert output.owner is not None
    several = f"[{output.index}]" if len(output.owner.outputs) > 1 else ""
    return f"{output.owner.op}({', '.join(writer.speaker.texts(output.owner.inputs))}){several}", 10


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
