"""Signatures of the vocabulary: named types of arguments and results, the parameters of elementwise ops."""

import ast
import inspect
import pydoc
from pathlib import Path

import pytest

from arignote import ops as T
from arignote.ops.elementwise.records import ELEMENTWISE

OPS = Path(inspect.getfile(T)).parent
EXCEPT = {
    "where", "max_pool1d", "max_pool2d", "max_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "multi_head_attention", "scaled_dot_product_attention",
}  # fmt: skip
"""Functions whose signatures are overloads."""


def functions(namespace):
    names = getattr(namespace, "__all__", [name for name in vars(namespace) if not name.startswith("_")])
    return {name: inspect.unwrap(f) for name in names if inspect.isfunction(f := getattr(namespace, name))}


NAMESPACES = {"T": T, "T.linalg": T.linalg, "T.nn": T.nn, "T.random.RandomStream": T.random.RandomStream}


@pytest.mark.parametrize("prefix", NAMESPACES)
def test_no_function_returns_anything_at_all(prefix):
    found = functions(NAMESPACES[prefix])
    assert found
    vague = {n for n, f in found.items() if "Any" in f.__annotations__.get("return", "Any")}
    assert vague <= EXCEPT, f"{prefix}: {vague} return Any"
    for name, f in found.items():
        bare = [p for p in inspect.signature(f).parameters if p not in f.__annotations__ and p != "self"]
        assert not bare, f"{prefix}.{name}: {bare} have no annotation"


@pytest.mark.parametrize("method", ["exp", "sum", "reshape", "__add__", "__getitem__", "T", "shape"])
def test_methods_of_variables_return_variables(method):
    found = inspect.getattr_static(T.TensorVariable, method)
    assert getattr(found, "fget", found).__annotations__["return"] == "TensorVariable"


@pytest.mark.parametrize("op, expected", [
    ("exp", "exp(x: TensorLike) -> TensorVariable"),
    ("add", "add(x1: TensorLike, x2: TensorLike, *more: TensorLike) -> TensorVariable"),
    ("switch", "switch(condition: TensorLike, x: TensorLike, y: TensorLike) -> TensorVariable"),
    ("angle", "angle(z: TensorLike, deg: bool = False) -> TensorVariable"),
])  # fmt: skip
def test_elementwise_ops_have_a_signature(op, expected):
    assert op + str(inspect.signature(getattr(T, op))).replace("'", "") == expected


def test_help_shows_the_parameters_and_the_meaning():
    text = pydoc.plain(pydoc.render_doc(T.exp))
    assert "exp(x)" in text and "e ** x." in text
    assert "clip(x, min=None, max=None)" in pydoc.plain(pydoc.render_doc(T.clip))


def views():
    """The parameters of `__call__` in each class that type checkers see, by the name of the class."""
    tree = ast.parse((OPS / "core" / "signatures.py").read_text())
    for kind in [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]:
        for call in [n for n in kind.body if isinstance(n, ast.FunctionDef) and n.name == "__call__"]:
            more = [call.args.vararg.arg] if call.args.vararg else []
            yield kind.name, [*(a.arg for a in call.args.args[1:]), *more]


def test_type_checkers_see_the_parameters_that_ops_have():
    parameters = dict(views())
    tables = [ast.parse(path.read_text()) for path in sorted((OPS / "elementwise").glob("*.py"))]
    annotated = {n.target.id: n.annotation.id for tree in tables for n in tree.body if isinstance(n, ast.AnnAssign) and
                 isinstance(n.annotation, ast.Name)}  # fmt: skip
    for name, op in ELEMENTWISE.items():
        if type(op).__call__ is not type(T.exp).__call__:
            assert annotated[name] == type(op).__name__
            continue
        assert parameters[annotated[name]] == list(inspect.signature(op).parameters), f"{name}: {annotated[name]}"
