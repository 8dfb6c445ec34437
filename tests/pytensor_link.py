"""PyTensor's own tests of its backends, run through `mode="ARIGNOTE"`.

    python -m tests.pytensor_link PATH [FILE ...] [-- options of pytest]

PATH is a checkout of PyTensor's sources of the installed version.  Its tests compare a backend with PyTensor's Python
linker; here our linker stands in the place of the backend's.  FILE is a file below `tests/link`, by default those of
`FILES`.  The last lines count what passed and name what failed.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FILES = (
    *(f"numba/test_{n}.py" for n in (
        "blockwise", "compile_ops", "elemwise", "extra_ops", "nlinalg", "pad", "scalar", "scan", "shape", "slinalg",
        "sort", "subtensor", "tensor_basic",
    )),
    *(f"jax/test_{n}.py" for n in (
        "blas", "blockwise", "einsum", "elemwise", "extra_ops", "math", "nlinalg", "pad", "scalar", "scan", "shape",
        "slinalg", "sort", "subtensor", "tensor_basic",
    )),
    "numba/signal/test_conv.py", "numba/sparse/test_basic.py", "numba/sparse/test_math.py",
    "numba/linalg/solve/test_linear_control.py", "numba/linalg/solve/test_tridiagonal.py",
)  # fmt: skip
ABOUT_THE_BACKEND = ("benchmark", "object_mode", "cython", "_cache", "typify", "funcify", "codegen", "perf")
"""Parts of the names of tests that are about a backend's own machinery."""


class Results:
    """A plugin of pytest that counts outcomes and adapts the comparisons of PyTensor's tests."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [i for i in items if not any(part in i.name for part in ABOUT_THE_BACKEND)]
        items[:] = [i for i in items if "benchmark" not in getattr(i, "fixturenames", ())]
        for name in ("tests.link.numba.test_basic", "tests.link.jax.test_basic"):
            module: Any = sys.modules.get(name)
            if module is not None and hasattr(module, "eval_python_only"):
                module.eval_python_only = lambda *args, **options: None
            if module is not None and hasattr(module, "compare_jax_and_py"):
                module.compare_jax_and_py.__kwdefaults__["must_be_device_array"] = False

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        outcome = "failed" if report.failed else "skipped" if report.skipped else "passed"
        self.counts[outcome] += 1
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.failed.append(f"{report.nodeid}: {crash.message.splitlines()[0][:150] if crash else ''}")


def replace_linkers() -> None:
    """Put our linker in the place of those of NUMBA and JAX."""
    import pytensor.compile.mode as modes
    import pytensor.link.jax
    import pytensor.link.numba

    from arignote.frontends.pytensor import ArignoteLinker

    class Stand(ArignoteLinker):
        incompatible_rewrites = (*ArignoteLinker.incompatible_rewrites, "numba", "jax")

    for name, package in (("NumbaLinker", pytensor.link.numba), ("JAXLinker", pytensor.link.jax)):
        for module in (modes, package, sys.modules[f"{package.__name__}.linker"]):
            setattr(module, name, Stand)
    for name in ("numba", "jax"):
        modes.predefined_linkers[name] = Stand()
        old = modes.predefined_modes[name.upper()]
        modes.predefined_modes[name.upper()] = modes.Mode(Stand(), old.provided_optimizer)
    modes.NUMBA, modes.JAX = modes.predefined_modes["NUMBA"], modes.predefined_modes["JAX"]


def main(arguments: list[str]) -> int:
    """Run the tests; the exit code is 0 if all passed."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    options = arguments[len(own) + 1 :]
    root = Path(own[0]).resolve()
    files = [str(root / "tests" / "link" / name) for name in own[1:] or FILES]
    for name in [name for name in sys.modules if name == "tests" or name.startswith("tests.")]:
        del sys.modules[name]  # PyTensor's tests are a package of this name, too
    sys.path[0] = str(root)
    os.chdir(root)
    replace_linkers()
    results = Results()
    pytest.main([*files, "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", *options], plugins=[results])
    print("\n".join(results.failed))
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(results.counts.items())))
    return int(bool(results.failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
