"""Other machines to run exported functions on: emulators of processors, and wasmtime for WebAssembly.

`missing(target)` says why a target cannot be tried here, None if it can.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import numpy as np

EMULATORS = {"aarch64-linux": "qemu-aarch64", "riscv64-linux": "qemu-riscv64", "x86_64-linux-v2": ""}
COMPILERS = {"aarch64-linux": "aarch64-linux-gnu-gcc", "riscv64-linux": "riscv64-linux-gnu-gcc"}
ZIG = f"{sys.executable} -m ziglang"


def compiler(target):
    """The cross compiler to name: the system's, which is the fastest to start; None for zig, or for this machine's."""
    found = COMPILERS.get(target)
    return found if found and shutil.which(found) else None


def missing(target):
    """The reason to skip the tests of a target; None if there is a compiler and an emulator."""
    emulator = EMULATORS.get(target)
    if emulator and not shutil.which(emulator):
        return f"needs {emulator} (Debian: apt install qemu-user)"
    if target.startswith("wasm32") and find_spec("wasmtime") is None:
        return "needs wasmtime (pip install wasmtime)"
    if emulator != "" and compiler(target) is None and find_spec("ziglang") is None:
        return f"needs a compiler for {target} (pip install 'arignote[deploy]')"
    return None if shutil.which("make") else "needs make"


def built(function, folder, target):
    """The folder, with `function` exported for a target and built."""
    function.export(folder, target=target, compiler=compiler(target))
    make(folder)
    return folder


def make(folder, *arguments):
    """Run make in a folder, with the zig of this interpreter."""
    done = subprocess.run(
        ["make", "-j2", *arguments], cwd=folder, env={**os.environ, "ZIG": ZIG}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def run(folder, target, program, *arguments):
    """Output of a program on the machine of a target."""
    if target.startswith("wasm32"):
        return run_wasm(folder, program, *arguments)
    command = [*filter(None, [EMULATORS[target]]), f"./{program}", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_wasm(folder, program, *arguments):
    """Output of a WebAssembly program; the folder is its working directory."""
    import wasmtime

    config = wasmtime.WasiConfig()
    config.argv = [program, *arguments]
    config.preopen_dir(str(folder), ".")
    for name in ("stdout", "stderr"):
        setattr(config, f"{name}_file", str(folder / f"{name}.txt"))
    store = wasmtime.Store(wasmtime.Engine())
    store.set_wasi(config)
    linker = wasmtime.Linker(store.engine)
    linker.define_wasi()
    module = wasmtime.Module.from_file(store.engine, str(folder / f"{program}.wasm"))
    code = 0
    try:
        linker.instantiate(store, module).exports(store)["_start"](store)
    except wasmtime.ExitTrap as ended:
        code = ended.code
    assert code == 0, (folder / "stderr.txt").read_text()
    del store, linker  # the files of the standard streams are whole now
    return (folder / "stdout.txt").read_text()


def called(function, arrays, folder, target):
    """The outputs of one call of the example program."""
    arguments = []
    for k, array in enumerate(arrays):
        np.asarray(array).tofile(folder / f"in{k}.bin")
        arguments.append(f"in{k}.bin:{','.join(map(str, np.shape(array)))}")
    found = []
    for k, line in enumerate(run(folder, target, function.name, f"{function.name}.weights", *arguments).splitlines()):
        dtype, _, shape = line.partition(": ")[2].partition("[")
        lengths = [int(length) for length in shape.rstrip("]").split(",") if length]
        found.append(np.fromfile(folder / f"{function.name}.out{k}", dtype).reshape(lengths))
    return found
