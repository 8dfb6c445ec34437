"""The API reference: Markdown pages generated from the docstrings and signatures of the live objects.

    pages()  ->  {"reference/derivatives.md": "# Derivatives ..."}

Ops are instances and not functions, so tools that read the source find neither their signatures nor their docstrings.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import arignote as ag
from arignote import ops as T
from arignote.graph import Op
from arignote.ops.core import typed as ops_typed
from arignote.ops.core.vocabulary import vocabulary


@dataclass(frozen=True)
class Page:
    """A page of the reference: (shown name, object) of each entry."""

    file: str
    title: str
    intro: str
    entries: list[tuple[str, Any]]
    members: bool = True
    """Whether the members of classes are shown, too."""


TOP = {
    "functions": ("Functions and modes", "function Function jit Mode shared tune"),
    "derivatives": ("Derivatives", "grad value_and_grad jacobian hessian hvp jvp vjp"),
    "loops": ("Loops, branches and batches", "scan until while_loop cond vmap vectorize"),
    "inference": ("Inference", "freeze prune quantize"),
    "graphs": ("Graphs", "FunctionGraph parse from_nnef from_onnx to_nnef to_onnx rewrite dprint pprint"),
    "tools": ("Profiles, checks, progress", "profile profile_diff bisect progress debug_print tap taps"),
}
"""Pages of the names of `arignote`: file -> title, names."""
SUBJECTS = {
    "elementwise": ("Elementwise functions", "elementwise"),
    "reductions": ("Reductions, statistics, order", "reductions"),
    "creation": ("Creation of tensors", "shapes.creation core.variables core.tensor core.shared"),
    "shapes": ("Shapes, joins and indices", "shapes"),
    "products": ("Products of matrices", "linalg"),
    "networks": ("Activations, losses, quantization", "networks"),
}
"""Pages of the names of `arignote.ops`: file -> title, the folders or modules that they come from."""
VARIABLES = {"TensorVariable", "TensorConstant", "SharedVariable", "Container"}
CALL = r"\w+\([^()\n]*\)"
"""The first line of the docstring of an op."""
SECTION = re.compile(r"^(Args|Arguments|Raises|Returns|Properties|Examples?):\s*$")
ESCAPED = re.compile(r"([*_<>\[\]|])")


TALLEST = 9000
"""Pixels of a page, by an estimate; an entry more begins another page."""


def pages() -> dict[str, str]:
    """File -> text of each page, and an index of them."""
    made = [part for page in _pages() for part in _parts(page)]
    texts = {f"reference/{page.file}.md": _text(page) for page in made}
    rows = [f"| [{page.title}]({page.file}.md) | {_names(page)} |" for page in made]
    head = "# API reference\n\nGenerated from the docstrings. `ag` is `arignote`, `T` is `arignote.ops`.\n\n"
    contents = "\n".join(page.file for page in made)
    table = "| page | names |\n|---|---|\n" + "\n".join(rows)
    texts["reference/index.md"] = f"{head}{table}\n\n```{{toctree}}\n:hidden:\n\n{contents}\n```\n"
    return texts


def _pages() -> Iterator[Page]:
    yield from _top_pages()
    yield from _database_pages()
    yield from _op_pages()
    yield from _module_pages()


def _parts(page: Page) -> Iterator[Page]:
    """Yield the page, or, if it is too tall, several that share its entries."""
    parts: list[list[tuple[str, Any]]] = [[]]
    height = 0
    for entry in page.entries:
        own = 75 + 24 * _entry(*entry, page.members).count("\n")
        if parts[-1] and height + own > TALLEST:
            parts.append([])
            height = 0
        parts[-1].append(entry)
        height += own
    if len(parts) == 1:
        yield page
        return
    for number, entries in enumerate(parts, 1):
        names = f"{entries[0][0].rpartition('.')[2]} to {entries[-1][0].rpartition('.')[2]}"
        title = f"{page.title}: {names}"
        if number == 1:
            yield replace(page, title=title, entries=entries)
        else:
            yield replace(page, file=f"{page.file}-{number}", title=title, entries=entries, intro="")


# --- which names stand on which page


def _top_pages() -> Iterator[Page]:
    named = set()
    for file, (title, names) in TOP.items():
        named |= set(names.split())
        yield Page(file, title, "", [(f"ag.{name}", getattr(ag, name)) for name in names.split()])
    rest = sorted(set(ag.__all__) - named - {"optdb", "optim", "tree", "Query"})
    if rest:
        yield Page("more", "More of `arignote`", "", [(f"ag.{name}", getattr(ag, name)) for name in rest])


def _database_pages() -> Iterator[Page]:
    module = importlib.import_module("arignote.optdb")
    names = "rule node_rule wilds op_like exact ulp stabilizes relaxes approximates narrows"
    rules = [(name, getattr(module, name)) for name in names.split() if hasattr(module, name)]
    methods = "table query entries register register_all unregister add_tags remove_tags copy explain"
    database = [(f"ag.optdb.{name}", getattr(ag.optdb, name)) for name in methods.split() if hasattr(ag.optdb, name)]
    yield Page("database", "Optimization database", _prose(_doc(ag.optdb)), [("ag.Query", ag.Query), *database])
    yield Page("rules", "Rules and contracts", "Import these names from `arignote.optdb`.", rules)


def _op_pages() -> Iterator[Page]:
    found: dict[str, list[tuple[str, Any]]] = {file: [] for file in [*SUBJECTS, "variables", "other"]}
    page_of = {place: file for file, (_, places) in SUBJECTS.items() for place in places.split()}
    origins, typed = _origins(), sorted(ops_typed.__all__)
    for name in sorted(set(T.__all__) - set(typed)):
        value, place = getattr(T, name), origins.get(name, "")
        file = page_of.get(place) or page_of.get(place.partition(".")[0], "other")
        if not isinstance(value, (types.ModuleType, dict, frozenset, tuple)) and not _is_op_class(value):
            found["variables" if name in VARIABLES else file].append((f"T.{name}", value))
    for file, (title, _) in SUBJECTS.items():
        yield Page(f"ops-{file}", title, _typed_names(typed) if file == "creation" else "", found[file])
    yield Page("ops-other", "Other names", "", found["other"])
    yield Page("variables", "Variables", "", found["variables"])
    intro = "An op is an instance of one of these classes. Graphs, rules and `T` know them by name."
    classes = [(f"T.{kind.__name__}", kind) for kind in _op_classes()]
    yield Page("ops-classes", "Classes of ops", intro, classes, members=False)


def _op_classes() -> list[type]:
    """The classes of the ops of the vocabulary, by name."""
    vocabulary()  # loads all of them
    kinds: list[type] = [Op]
    for kind in kinds:
        kinds += kind.__subclasses__()
    ours = {kind.__name__: kind for kind in kinds if kind.__module__.startswith(f"{T.__name__}.")}
    return [kind for name, kind in sorted(ours.items()) if not name.startswith("_")]


def _module_pages() -> Iterator[Page]:
    for name, title in (
        ("linalg", "Linear algebra"), ("fft", "Fourier transforms"), ("nn", "Neural networks"),
        ("random", "Random numbers"), ("special", "Special functions"), ("distributions", "Distributions"),
        ("sparse", "Sparse matrices"),
    ):  # fmt: skip
        module = getattr(T, name)
        entries = [(f"T.{name}.{entry}", getattr(module, entry)) for entry in sorted(module.__all__)]
        yield Page(f"ops-{name}", title, _prose(_doc(module)), [e for e in entries if not _is_listed_elsewhere(e[1])])
    for name, title in (("optim", "Gradient descent"), ("tree", "Trees")):
        module = getattr(ag, name)
        entries = [(f"ag.{name}.{entry}", getattr(module, entry)) for entry in module.__all__]
        yield Page(name, title, _prose(_doc(module)), entries)
    module = importlib.import_module("arignote.ops.named_axes.tensor")
    yield Page("named", "Named axes", _prose(_doc(module)), [("NamedTensor", module.NamedTensor)])


def _origins() -> dict[str, str]:
    """Public name of `arignote.ops` -> module that it is imported from, as `shapes.joining`."""
    found = {}
    for node in ast.parse(inspect.getsource(T)).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            names = [alias.asname or alias.name for alias in node.names]
            if names == ["*"]:
                names = importlib.import_module(f"{T.__name__}.{node.module}").__all__
            found |= dict.fromkeys(names, node.module)
    return found


def _is_op_class(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Op)


def _typed_names(names: Iterable[str]) -> str:
    shown = ", ".join(f"`T.{name}`" for name in names)
    return f"Constructors with a dtype in the name, such as `T.fmatrix` for float32: {shown}."


def _is_listed_elsewhere(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, (Exception, T.TensorOp))


def _names(page: Page) -> str:
    shown = [f"`{name}`" for name, _ in page.entries]
    return ", ".join(shown) if len(shown) <= 12 else f"{', '.join(shown[:10])} and {len(shown) - 10} more"


# --- an entry as Markdown


def _text(page: Page) -> str:
    intro = f"{page.intro}\n\n" if page.intro else ""
    return f"# {page.title}\n\n{intro}" + "\n".join(_entry(name, value, page.members) for name, value in page.entries)


def _entry(name: str, value: Any, members: bool, kind: str = "", fence: str = "::::::") -> str:
    """Return the directive of an object: signature and docstring; of a class its public members, too."""
    kind = kind or ("class" if isinstance(value, type) else "function" if callable(value) else "data")
    call = " ".join(signature(name, value).split()).replace("( ", "(").replace(", )", ")")
    doc = re.sub(rf"\A{CALL}\n\s*\n", "", _doc(value))
    lines = [f"{fence}{{py:{kind}}} {call}", "", _prose(doc), ""]
    if isinstance(value, type) and members:
        for member, found in _members(value):
            own = "property" if isinstance(found, property) or not callable(found) else "method"
            lines += [_entry(member, found, False, own, ":::::"), ""]
    return "\n".join([*lines, fence, ""])


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    for member, value in vars(cls).items():
        documented = isinstance(value, (types.FunctionType, property)) or hasattr(value, "__set_name__")
        if not member.startswith("_") and documented and _doc(value):
            yield member, value


def _doc(value: Any) -> str:
    """The docstring of an object of our own, "" for that of a class of Python."""
    found = inspect.getdoc(value) or ""
    return "" if found == inspect.getdoc(type(value)) and isinstance(value, (str, int, float)) else found


def signature(name: str, value: Any) -> str:
    """The call as one writes it: `ag.grad(cost, wrt, ...)`; the name alone where there is none."""
    if getattr(value, "arity", 0) is None or isinstance(getattr(value, "arity", None), int):
        operands = ["x1", "x2", "..."] if value.arity is None else _operands(value.arity)
        return f"{name}({', '.join(operands)})"
    if not callable(value):
        return name
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    return _shown(name, found, value)


def _operands(count: int) -> list[str]:
    return ["x"] if count == 1 else [f"x{k + 1}" for k in range(count)]


def _shown(name: str, found: inspect.Signature, value: Callable[..., Any]) -> str:
    parameters = [p for p in found.parameters.values() if p.name != "self"]
    result = "" if isinstance(value, type) else _annotation(found.return_annotation)
    texts = [_parameter(p) for p in _with_star(parameters)]
    arrow = f" -> {result}" if result and result != "Any" else ""
    line = f"{name}({', '.join(texts)}){arrow}"
    if len(line) <= 88:
        return line
    return f"{name}(\n" + "".join(f"    {text},\n" for text in texts) + f"){arrow}"


def _with_star(parameters: list[inspect.Parameter]) -> list[inspect.Parameter | None]:
    """The parameters, with None before the keyword-only ones."""
    listed: list[inspect.Parameter | None] = []
    for p in parameters:
        bare = all(q is None or q.kind not in (q.VAR_POSITIONAL, q.KEYWORD_ONLY) for q in listed)
        if p.kind is p.KEYWORD_ONLY and bare and None not in listed:
            listed.append(None)
        listed.append(p)
    return listed


def _parameter(p: inspect.Parameter | None) -> str:
    if p is None:
        return "*"
    star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    kind = _annotation(p.annotation)
    typed = f": {kind}" if kind and kind != "Any" else ""
    default = "" if p.default is p.empty else f" = {p.default!r}" if typed else f"={p.default!r}"
    return f"{star}{p.name}{typed}{default}"


def _annotation(found: Any) -> str:
    if found is inspect.Parameter.empty:
        return ""
    return found if isinstance(found, str) else getattr(found, "__name__", str(found))


# --- docstrings as Markdown


def _prose(doc: str) -> str:
    """The docstring, with its sections as lists and its signs escaped; indented text is code."""
    lines: list[str] = []
    section = False
    for line in doc.splitlines():
        title = SECTION.match(line)
        if title:
            section = True
            lines += ["", f"**{title.group(1)}**", ""]
        elif section and line.startswith("    ") and line.strip():
            lines.append(_item(line))
        elif line.startswith("    "):
            lines.append(line)
        else:
            section = section and not line.strip()
            lines.append(_escaped(line))
    return "\n".join(lines)


def _item(line: str) -> str:
    """A line of a section: `name: text` begins an item, a deeper line goes on with it."""
    text = line[4:]
    if text.startswith(" "):
        return f"  {_escaped(text.strip())}"
    names, colon, rest = text.partition(": ")
    if not colon:
        return f"- {_escaped(text)}"
    return f"- {', '.join(f'`{name}`' for name in names.split(', '))}: {_escaped(rest)}"


def _escaped(line: str) -> str:
    """The line with the signs of Markdown escaped outside of backticks."""
    parts = line.split("`")
    return "`".join(part if k % 2 else ESCAPED.sub(r"\\\1", part) for k, part in enumerate(parts))
