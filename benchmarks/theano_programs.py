"""Seconds that programs of `examples/theano/` take to compile, and microseconds a call of their functions.

    python -m arignote theano benchmarks/theano_programs.py mlp lenet      with this package
    python benchmarks/theano_programs.py mlp lenet                         with Theano itself, where it is installed

Compile time is that of all `theano.function` calls of a program; set an empty ARIGNOTE_CACHE, or base_compiledir in
THEANO_FLAGS, for that of a first run.  A step is the function that is called most often; the least of its calls counts.
"""

import importlib
import pathlib
import sys
import time

import theano

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples" / "theano"))
compile_function = theano.function


class Timed:
    """A function that keeps the time of each call."""

    def __init__(self, *args, **kwargs):
        start = time.perf_counter()
        self.function = compile_function(*args, **kwargs)
        self.compiled = time.perf_counter() - start
        self.calls = []
        made.append(self)

    def __call__(self, *args, **kwargs):
        start = time.perf_counter()
        found = self.function(*args, **kwargs)
        self.calls.append(time.perf_counter() - start)
        return found


made = []
theano.function = Timed
for name in sys.argv[1:]:
    made.clear()
    module = importlib.import_module(name)
    if "function" in vars(module):
        module.function = Timed
    module.run()
    busiest = max(made, key=lambda f: len(f.calls))
    total = sum(f.compiled for f in made)
    print(f"{name}: {len(made)} functions compiled in {total:.2f} s, a step takes {min(busiest.calls) * 1e6:.0f} us")
