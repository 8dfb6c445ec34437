"""The comment above a kernel: its formula, with the names of the operators."""

from __future__ import annotations

from ...graph import Variable
from ...graph.text import constant_text, op_text
from ...ops.shapes.shape import DimShuffle
from ...record.quoting import c_comment
from .group import Group, is_literal

LIMIT = 200
_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "true_div": "/", "floor_div": "//", "mod": "%", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
}  # fmt: skip


def describe(group: Group) -> str:
    """Return one line, such as `y0 = exp(x0) * x1; y1 = sum{axis=(0,)}(x0)`, shortened if it is long."""
    texts = {leaf: f"x{k}" for k, leaf in reversed(list(enumerate(group.leaves)))}
    lines = []
    for k, r in enumerate(group.results):
        text = _text(r.value, texts)
        if r.fold is not None:
            text = f"{r.fold}{{axis={r.axes}}}({_bare(text)})"
        lines.append(f"y{k} = {_bare(text)}")
    return c_comment(_cut("; ".join(lines)))


def _text(value: Variable, texts: dict[Variable, str]) -> str:
    stack = [value]
    while stack:
        v = stack[-1]
        if v in texts:
            stack.pop()
        elif v.owner is None:
            texts[v] = constant_text(v.data) if is_literal(v) else "_"  # type: ignore[attr-defined]
        elif missing := [i for i in v.owner.inputs if i not in texts]:
            stack.extend(missing)
        else:
            texts[v] = _applied(v, [texts[i] for i in v.owner.inputs])
    return texts[value]


def _applied(value: Variable, args: list[str]) -> str:
    """Return the op applied to the texts of its operands, shortened early so that long chains take linear time."""
    assert value.owner is not None
    op = value.owner.op
    if isinstance(op, DimShuffle):
        return (
            args[0] if op.order == tuple(range(value.ndim)) else _cut(f"dimshuffle({_bare(args[0])}, {list(op.order)})")
        )
    if op.name in _INFIX:
        return _cut(f"({f' {_INFIX[op.name]} '.join(args)})")
    return _cut(f"{op_text(op)}({', '.join(map(_bare, args))})")


def _bare(text: str) -> str:
    """Return the text without parentheses around the whole."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for c in text[:-1]:
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return text
    return text[1:-1]


def _cut(text: str) -> str:
    return text if len(text) <= LIMIT else text[: LIMIT - 3].rstrip(". ") + "..."
