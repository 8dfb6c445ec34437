"""Imports run one way (docs/design.md, Layers).

None stands inside a function unless it is an optional dependency; no file or function grows past its bound.
"""

import ast
import importlib
import re
from collections import Counter
from pathlib import Path

import pytest
from product_files import FILES, ROOT, module_of, outline_of, package_of

from arignote.cbackend.kernels import families

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
    "cbackend.abi": {"record", "cbackend.kernels"},
    "cbackend.cache": {"record", "targets"},
    "cbackend.build": {"record", "targets", "cbackend.abi", "cbackend.cache"},
    "cbackend.runtime": {"record", "targets", "cbackend.kernels", "cbackend.abi", "cbackend.cache", "cbackend.build"},
    "cbackend.ir": BELOW,
    "cbackend.ctext": BELOW | {"cbackend.abi", "cbackend.ir"},
    "cbackend.lowering": BELOW | {"cbackend.ir"},
    "cbackend.program": BELOW | {"cbackend.ir", "cbackend.kernels", "cbackend.kernels.memory", "cbackend.lowering"},
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
MODULES = {module_of(path): path for path in FILES}
OTHERS = {str(path.parent) for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")}
LEAVES = {"options", "notices"}
"""Modules of arignote/ that know nothing of the rest; engines read them as well."""
MAY_IMPORT["engines"] = BELOW | LEAVES | {room for room in MAY_IMPORT if room.startswith("cbackend")}
MAY_IMPORT["engines.division"] = BELOW | {"cbackend.cache", "engines"}
MAY_IMPORT["engines.device"] = MAY_IMPORT["engines"] | {"engines"}
MAY_IMPORT["engines.device.dialects"] = MAY_IMPORT["engines.device"] | {"engines.device"}
MAY_IMPORT["scaleout"] = BELOW
MAY_IMPORT["arignote"] = MAY_IMPORT["engines"] | {"engines", "engines.division", "optdb", "optdb.rules", "scaleout"}
LEAF_IMPORTS = {"record", "graph", "notices"}
MAY_IMPORT["frontends"] = {"record", "frontends.torch"}
MAY_IMPORT["frontends.nnef"] = BELOW | {"arignote", "frontends"}
MAY_IMPORT["frontends.onnx"] = BELOW | {"arignote", "engines", "frontends"}
MAY_IMPORT["frontends.pytensor"] = BELOW | {"arignote", "engines", "frontends", "frontends.theano"}
MAY_IMPORT["frontends.sympy"] = BELOW | {"arignote", "frontends"}
MAY_IMPORT["frontends.torch"] = BELOW | LEAVES | {"arignote", "frontends"}
MAY_IMPORT["frontends.theano"] = BELOW | {"arignote", "engines", "frontends", "optdb"}
PACKAGE = ROOT / "arignote" / "__init__.py"
"""It tells type checkers where its names come from, those of front ends too, which it loads when they are asked for."""
OPTIONAL = {"dask", "ziglang", "threadpoolctl", "IPython", "onnx", "ml_dtypes", "scipy", "pyopencl", "pymc", "sympy"}
OPTIONAL |= {"functorch", "jax", "nutpie", "torch", "z3"}


def files(folder):
    """The files of a folder and of those inside it that have no line of their own in MAY_IMPORT."""
    return [path for path in FILES if room(module_of(path)) == folder]


def imported(path):
    """(line, module of ours or outer package) for each import of a file; relative imports are resolved."""
    package = package_of(path).split(".")
    for each in outline_of(path).imports:
        if path == PACKAGE and not each.when_loaded:
            continue
        if each.level:
            base = package[: len(package) - each.level + 1]
            modules = [".".join([*base, name]) for name in ([each.module] if each.module else each.names)]
        else:
            modules = [each.module] if each.module else each.names
        yield from ((each.line, module) for module in modules)


def room(module):
    """The folder of MAY_IMPORT that a module stands in, or None."""
    parts = module.split(".")
    if parts[0] != "arignote" or len(parts) == 1:
        return "arignote" if module == "arignote" else None
    if parts[1] in LEAVES:
        return parts[1]
    found = [".".join(parts[1:k]) for k in range(len(parts), 1, -1)]
    return next((name for name in found if name in MAY_IMPORT), "arignote")


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports_run_one_way(folder):
    found = files(folder)
    assert found
    for path in found:
        for line, module in imported(path):
            target = room(module)
            allowed = target in (None, folder) or target in MAY_IMPORT[folder]
            where = f"{path.relative_to(ROOT)}:{line}"
            assert allowed, f"{where} imports {module}; {folder} may import {MAY_IMPORT[folder]}"


@pytest.mark.parametrize("family", families())
def test_specs_import_no_more_than_the_engine(family):
    folder = f"cbackend.kernels.{family}"
    assert {room(module) for _, module in imported(ROOT / folder.replace(".", "/") / "spec.py")} <= {
        None, *SPEC_IMPORTS,
    }  # fmt: skip


@pytest.mark.parametrize("leaf", sorted(LEAVES))
def test_leaves_import_little(leaf):
    modules = [module for _, module in imported(ROOT / "arignote" / f"{leaf}.py")]
    assert {room(module) for module in modules} <= {None, *LEAF_IMPORTS}


@pytest.mark.parametrize("folder", ["cbackend.ir", "cbackend.lowering", "cbackend.program", "cbackend.driver"])
def test_stages_know_no_c_and_none_reads_it_back(folder):
    """Only the printers may import the printer of kernels; regular expressions go over text that people wrote."""
    hand_written = {"helpers.py", "planned.py", "reader.py", "parsing.py"}
    for path in files(folder):
        modules = [module for _, module in imported(path)]
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
        for each in outline_of(path).imports:
            assert each.level or not each.module.startswith("arignote"), f"{path.name}:{each.line}"


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_no_import_hides_in_a_function(folder):
    for path in files(folder):
        for each in outline_of(path).imports:
            names = ([each.module] if each.module or each.level else each.names) if each.function else []
            hidden = [n for n in names if n.split(".")[0] not in OPTIONAL]
            assert not hidden, f"{path.relative_to(ROOT)}:{each.line} imports {hidden} inside {each.function}"


@pytest.mark.parametrize(
    "name", ["arignote", "arignote.later", "arignote.engines", "arignote.pages", "arignote.pages.database"]
)
def test_type_checkers_see_the_names_that_are_loaded_later(name):
    module = importlib.import_module(name)
    listed = set(module.__dir__())
    body = ast.parse(Path(module.__file__).read_text()).body
    (checked,) = [node.body for node in body if isinstance(node, ast.If) and ast.unparse(node.test).endswith("CHECKING")
                  and any(isinstance(each, ast.ImportFrom) for each in node.body)]  # fmt: skip
    typed = {alias.asname or alias.name: alias.name for node in checked for alias in node.names}
    assert listed - set(vars(module)) <= typed.keys() <= listed
    for each, name_there in typed.items():
        assert getattr(module, each).__name__.rpartition(".")[2] == name_there
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nowhere'"):
        _ = module.nowhere


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_no_file_grows_into_a_drawer(folder):
    for path in files(folder):
        if path.name == "_abi.py":
            continue  # written by a program
        outline = outline_of(path)
        assert outline.lines <= 600, f"{path.relative_to(ROOT)} has {outline.lines} lines; split it"
        for function in outline.functions:
            where = f"{path.relative_to(ROOT)}:{function.line} {function.name}"
            assert function.lines <= 60, f"{where} has {function.lines} lines"


def test_no_folder_holds_more_than_a_reader_takes_in():
    folders = [*map(Path, {str(path.parent) for path in FILES}), *map(Path, OTHERS)]
    counts = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) for folder in folders}
    assert not {folder: count for folder, count in counts.items() if count > 25}


def test_test_modules_have_different_names():
    """pytest imports a test module by its file's name: of two with one name, the second is not collected."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    counts = Counter(path.name for path in paths)
    assert not [str(path.relative_to(ROOT)) for path in paths if counts[path.name] > 1]


def test_each_folder_says_what_lives_there():
    for folder in {path.parent for path in FILES}:
        doc = outline_of(folder / "__init__.py").doc
        assert len(doc.split()) > 3, f"{folder.relative_to(ROOT)}/__init__.py has no docstring that says what is here"


def test_no_import_circle_when_modules_are_loaded():
    """Functions may look names up later; what stands at the top of a module must be there before it."""
    graph = {module_of(path): set(loaded_first(path)) for path in FILES}
    graph = {module: needed & graph.keys() for module, needed in graph.items()}
    while ready := {module for module, needed in graph.items() if not needed}:
        graph = {module: needed - ready for module, needed in graph.items() if module not in ready}
    circles = {module: needed for module, needed in graph.items() if any(module in graph.get(n, ()) for n in needed)}
    assert not graph, circles or graph


def loaded_first(path):
    """The modules of ours that are loaded by the statements of a file outside of functions."""
    package = package_of(path).split(".")
    for each in outline_of(path).imports:
        if each.when_loaded and each.level:
            base = ".".join([*package[: len(package) - each.level + 1], *([each.module] if each.module else [])])
            parts = [f"{base}.{name}" for name in each.names]
            found = [part for part in parts if part in MODULES]
            yield from found
            if len(found) < len(parts) or MODULES[base].name != "__init__.py":
                yield base
