"""Imports run one way (docs/design.md, Layers).

None stands inside a function unless it is an optional dependency; no file or function grows past its bound.
"""

import ast
import re
from pathlib import Path

import pytest

from arignote.cbackend.kernels import families

ROOT = Path(__file__).resolve().parents[2]
BELOW = {"record", "targets", "pages", "graph", "profiling", "ops"}
MAY_IMPORT = {
    "record": set(),
    "targets": {"record"},
    "pages": {"record"},
    "graph": {"record", "pages"},
    "profiling": {"record", "pages"},
    "ops": {"record", "targets", "pages", "graph"},
    "optdb": {"record", "targets", "pages", "graph", "profiling"},
    "optdb.rules": {*BELOW, "optdb"},
    "cbackend.kernels": {"record"},
    "cbackend.abi": {"cbackend.kernels"},
    "cbackend.cache": {"record", "targets"},
    "cbackend.build": {"record", "targets", "cbackend.abi", "cbackend.cache"},
    "cbackend.runtime": {"record", "targets", "cbackend.abi", "cbackend.cache", "cbackend.build"},
    "cbackend.ir": BELOW,
    "cbackend.ctext": BELOW | {"cbackend.ir"},
    "cbackend.lowering": BELOW | {"cbackend.ir"},
    "cbackend.program": BELOW | {"cbackend.ir", "cbackend.kernels", "cbackend.lowering"},
    "cbackend.driver": BELOW
    | {"cbackend.abi", "cbackend.ir", "cbackend.ctext", "cbackend.kernels", "cbackend.lowering", "cbackend.program"},
}
SPEC_IMPORTS = {"cbackend.kernels"}
"""A spec is loaded when the package is built, without NumPy."""
for _family in families():
    MAY_IMPORT[f"cbackend.kernels.{_family}"] = MAY_IMPORT["cbackend.program"] | {"cbackend.program"}
MAY_IMPORT["cbackend.calls"] = BELOW | {room for room in MAY_IMPORT if room.startswith("cbackend.")}
MAY_IMPORT["cbackend.bundle"] = BELOW | {room for room in MAY_IMPORT if room.startswith("cbackend.")}
MAY_IMPORT["cbackend"] = BELOW | {room for room in MAY_IMPORT if room.startswith("cbackend.")}
LEAVES = {"options", "notices"}
"""Modules of arignote/ that know nothing of the rest; engines read them as well."""
MAY_IMPORT["engines"] = BELOW | LEAVES | {room for room in MAY_IMPORT if room.startswith("cbackend")}
MAY_IMPORT["engines.opencl"] = MAY_IMPORT["engines"] | {"engines"}
MAY_IMPORT["engines.cuda"] = MAY_IMPORT["engines.opencl"] | {"engines.opencl"}
MAY_IMPORT["scaleout"] = BELOW
MAY_IMPORT["arignote"] = MAY_IMPORT["engines"] | {"engines", "optdb", "optdb.rules", "scaleout"}
LEAF_IMPORTS = {"record", "graph", "notices"}
MAY_IMPORT["frontends"] = set()
MAY_IMPORT["frontends.nnef"] = BELOW | {"arignote", "frontends"}
MAY_IMPORT["frontends.onnx"] = BELOW | {"arignote", "engines", "frontends"}
MAY_IMPORT["frontends.theano"] = BELOW | {"arignote", "engines", "frontends", "optdb"}
PACKAGE = ROOT / "arignote" / "__init__.py"
"""It tells type checkers where its names come from, those of front ends too, which it loads when they are asked for."""
OURS = {room.split(".")[0] for room in MAY_IMPORT} - {"arignote"}
OPTIONAL = {"dask", "ziglang", "threadpoolctl", "IPython", "onnx", "ml_dtypes", "scipy", "pyopencl"}


def files(folder):
    return sorted((ROOT / folder.replace(".", "/")).glob("*.py"))


def imported(path, folder):
    """(line, module of ours or outer package) for each import of a file; relative imports are resolved."""
    package = ["arignote", *([] if folder == "arignote" else folder.split("."))]
    tree = ast.parse(path.read_text())
    if path == PACKAGE:
        tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and "_LATER" in ast.unparse(node))]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node, node.module
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1]
            yield from (
                (node, ".".join([*base, *([node.module] if node.module else [alias.name])])) for alias in node.names
            )


def room(module):
    """The folder of ours that a module stands in, or None."""
    parts = module.split(".")
    if parts[0] != "arignote" or len(parts) == 1:
        return None
    if parts[1] in LEAVES:
        return parts[1]
    for length in (4, 3):
        if ".".join(parts[1:length]) in MAY_IMPORT:
            return ".".join(parts[1:length])
    return parts[1] if parts[1] in OURS else "arignote"


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports_run_one_way(folder):
    found = files(folder)
    assert found
    for path in found:
        for node, module in imported(path, folder):
            target = room(module)
            allowed = target in (None, folder) or target in MAY_IMPORT[folder]
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            assert allowed, f"{where} imports {module}; {folder} may import {MAY_IMPORT[folder]}"


@pytest.mark.parametrize("family", families())
def test_specs_import_no_more_than_the_engine(family):
    folder = f"cbackend.kernels.{family}"
    assert {room(module) for _, module in imported(ROOT / folder.replace(".", "/") / "spec.py", folder)} <= {
        None, *SPEC_IMPORTS
    }  # fmt: skip


@pytest.mark.parametrize("leaf", sorted(LEAVES))
def test_leaves_import_little(leaf):
    modules = [module for _, module in imported(ROOT / "arignote" / f"{leaf}.py", "arignote")]
    assert {room(module) for module in modules} <= {None, *LEAF_IMPORTS}


@pytest.mark.parametrize("folder", ["cbackend.ir", "cbackend.lowering", "cbackend.program", "cbackend.driver"])
def test_stages_know_no_c_and_none_reads_it_back(folder):
    """Only the printers may import the printer of kernels; regular expressions go over text that people wrote."""
    hand_written = {"helpers.py", "reader.py", "parse_operands.py"}
    for path in files(folder):
        modules = [module for _, module in imported(path, folder)]
        assert folder == "cbackend.driver" or not any("ctext" in module for module in modules), path.name
        assert path.name in hand_written or "re" not in modules, f"{path.name} has a regular expression"


@pytest.mark.parametrize("folder", ["cbackend.ir", "cbackend.lowering", "cbackend.program"])
def test_stages_before_the_driver_name_no_c_function(folder):
    for path in files(folder):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        docs = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}
        strings = [n.value for n in nodes if isinstance(n, ast.Constant) and id(n) not in docs]
        named = [s for s in strings if isinstance(s, str) and re.search(r"\bag_\w|rt->|\bi64\b|void \*", s)]
        assert not named, f"{path.name}: {named}"


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports_of_ours_are_relative(folder):
    for path in files(folder):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert not (node.module or "").startswith("arignote"), f"{path.name}:{node.lineno}"


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_no_import_hides_in_a_function(folder):
    for path in files(folder):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            for node in ast.walk(function):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                hidden = [n for n in names if n.split(".")[0] not in OPTIONAL]
                assert not hidden, f"{path.relative_to(ROOT)}:{node.lineno} imports {hidden} inside {function.name}"


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_no_file_grows_into_a_drawer(folder):
    for path in files(folder):
        if path.name == "_abi.py":
            continue  # written by a program
        lines = path.read_text().count("\n")
        assert lines <= 600, f"{path.relative_to(ROOT)} has {lines} lines; split it"
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                doc = node.body[0] if ast.get_docstring(node, clean=False) else None
                length = node.end_lineno - node.lineno + 1 - (doc.end_lineno - doc.lineno + 1 if doc else 0)
                assert length <= 60, f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {length} lines"


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_large_folders_say_what_each_file_is(folder):
    modules = list(files(folder))
    if len(modules) > 25:
        doc = ast.get_docstring(ast.parse((modules[0].parent / "__init__.py").read_text())) or ""
        words = set(re.findall(r"\w+", doc))
        missing = sorted(path.stem for path in modules if path.stem not in words and path.stem != "__init__")
        assert not missing, f"{folder}/__init__.py does not name {', '.join(missing)}"
