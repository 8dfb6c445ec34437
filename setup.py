"""Packaging: the folders of this repository become the subpackages of one import name, `arignote`.

The parts of the runtime that every program needs are compiled on the way, if there is a compiler: see
cbackend/runtime/prebuilt.py.
"""

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from setuptools import Command, Distribution, setup
from setuptools.command.build import build
from setuptools.command.editable_wheel import editable_wheel

ROOT = Path(__file__).resolve().parent
SUBPACKAGES = (
    "abi", "cache", "build", "gemm", "runtime", "ir", "ctext", "lowering", "program", "driver", "calls",
    "bundle",
)  # fmt: skip
FOLDERS = [
    *("record", "targets", "pages", "graph", "ops", "optdb", "optdb/rules", "profiling", "engines", "engines/opencl"),
    "engines/cuda",
    "scaleout",
    *("frontends", "frontends/nnef", "frontends/onnx", "frontends/theano"),
    *("cbackend", *(f"cbackend/{name}" for name in SUBPACKAGES)),
]


class BuildRuntime(Command):
    """Compiles parts of the runtime for this machine.  Without them everything works: they are built on demand."""

    description = "compile the runtime for this machine"
    user_options = [("build-lib=", "d", "folder of the built package")]

    def initialize_options(self) -> None:
        self.build_lib: str | None = None
        self.editable_mode = False

    def finalize_options(self) -> None:
        self.set_undefined_options("build_py", ("build_lib", "build_lib"))

    def run(self) -> None:
        folder = ROOT / "cbackend" if self.editable_mode else Path(self.build_lib or "", "arignote", "cbackend")
        try:
            said = prebuild(folder / "prebuilt")
        except Exception as error:  # an installation never fails for this
            said = f"nothing was built ahead: {type(error).__name__}: {error}"
        self.announce(said, 2)

    def get_source_files(self) -> list[str]:
        return []

    def get_outputs(self) -> list[str]:
        built = Path(self.build_lib or "", "arignote", "cbackend", "prebuilt")
        return [] if self.editable_mode else sorted(map(str, built.glob("*")))

    def get_output_mapping(self) -> dict[str, str]:
        return {}


class Build(build):
    sub_commands = [*build.sub_commands, ("build_runtime", None)]


class Editable(editable_wheel):
    """An editable installation that editors and type checkers can read: they run no finders, so they get links."""

    def _select_strategy(self, *arguments: Any) -> Any:
        return WithLinks(super()._select_strategy(*arguments))


class WithLinks:
    """A strategy of setuptools, and beside its files a path to a folder of links in the form of the package."""

    def __init__(self, strategy: Any) -> None:
        self.strategy = strategy

    def __enter__(self) -> "WithLinks":
        self.strategy.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self.strategy.__exit__(*raised)

    def __call__(self, wheel: Any, *files: Any) -> None:
        self.strategy(wheel, *files)
        try:
            folder = linked(ROOT / ".editable")
        except OSError:  # no links on this file system: the package works, editors do not see it
            return
        wheel.writestr("__editable__.arignote.links.pth", f"{folder}\n".encode())


def linked(folder: Path) -> Path:
    """The folder, with a package `arignote` of links to the checkout; `arignote/__init__.py` looks beyond them."""
    package = folder / "arignote"
    package.mkdir(parents=True, exist_ok=True)
    for old in package.iterdir():
        old.unlink()
    tops = [ROOT / name for name in FOLDERS if "/" not in name]
    for place in (*(ROOT / "arignote").iterdir(), *tops):
        if place.name != "__pycache__":
            (package / place.name).symlink_to(os.path.relpath(place, package))
    return folder


class ForThisMachine(Distribution):
    """Distribution of one platform, since it holds prebuilt libraries."""

    def has_ext_modules(self) -> bool:
        return True


def prebuild(folder: Path) -> str:
    """Run `arignote.cbackend.runtime.prebuilt` without importing the packages around it, which need NumPy."""
    for name, place in (("arignote", ROOT), ("arignote.cbackend", ROOT / "cbackend")):
        package = ModuleType(name)
        package.__path__ = [str(place)]
        sys.modules[name] = package
    try:
        from arignote.cbackend.runtime import prebuilt

        return prebuilt.prebuild(folder)
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "arignote"]:
            del sys.modules[name]


setup(
    packages=["arignote", *("arignote." + folder.replace("/", ".") for folder in FOLDERS)],
    package_dir={"arignote": "arignote", **{"arignote." + folder.replace("/", "."): folder for folder in FOLDERS}},
    distclass=ForThisMachine,
    cmdclass={"build": Build, "build_runtime": BuildRuntime, "editable_wheel": Editable},
)
