"""Packaging: beside what pyproject.toml says, parts of the runtime that every program needs are compiled on the way.

Without a C compiler the installation works all the same: see cbackend/runtime/prebuilt.py.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from setuptools import Command, Distribution, setup
from setuptools.command.build import build

PACKAGE = Path(__file__).resolve().parent / "src" / "arignote"


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
        unused = ours("cbackend.kernels.checks", lambda checks: checks.unused_fields())
        if unused:
            sys.exit("\n".join(["arignote: unused fields of kernels.  Fix: set and read them, or remove", *unused]))
        package = PACKAGE if self.editable_mode else Path(self.build_lib or "", "arignote")
        try:
            message = ours("cbackend.runtime.prebuilt", lambda built: built.prebuild(package / "cbackend" / "prebuilt"))
            if not self.editable_mode:
                ours("record.package", lambda files: (package / files.DIGEST).write_text(files.digest_of(str(package))))
        except Exception as error:  # an installation never fails for this
            message = f"nothing was built ahead: {type(error).__name__}: {error}"
        self.announce(message, 2)

    def get_source_files(self) -> list[str]:
        return []

    def get_outputs(self) -> list[str]:
        package = Path(self.build_lib or "", "arignote")
        built = [*package.glob("cbackend/prebuilt/*"), *package.glob("*.sha256")]
        return [] if self.editable_mode else sorted(map(str, built))

    def get_output_mapping(self) -> dict[str, str]:
        return {}


class Build(build):
    sub_commands = [*build.sub_commands, ("build_runtime", None)]


class ForThisMachine(Distribution):
    """Distribution of one platform, since it holds prebuilt libraries."""

    def has_ext_modules(self) -> bool:
        return True


def ours(module: str, work: Callable[[ModuleType], Any]) -> Any:
    """Return the result of `work` on one of our modules, without importing the packages around it, which need NumPy."""
    for name, place in (("arignote", PACKAGE), ("arignote.cbackend", PACKAGE / "cbackend")):
        package = ModuleType(name)
        package.__path__ = [str(place)]
        sys.modules[name] = package
    try:
        return work(import_module(f"arignote.{module}"))
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "arignote"]:
            del sys.modules[name]


if not (PACKAGE / "graph").is_dir():
    sys.exit(
        f"arignote: {PACKAGE / 'graph'} is no folder: this checkout lacks the symbolic links that put the package "
        "together.  Fix: git clone -c core.symlinks=true (on Windows in developer mode), or install a wheel"
    )
setup(distclass=ForThisMachine, cmdclass={"build": Build, "build_runtime": BuildRuntime})
