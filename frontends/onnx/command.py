"""`python -m arignote onnx model.onnx`: the contents of a model; its run, profile, report and export.

The exit code is 0 if all that was asked for is done, 1 if the model cannot be read, built or run, 2 for wrong options.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...pages.tables import amount
from ...record.spelling import counted
from .model import OnnxModel, from_onnx
from .reading.loading import load, nodes_of, versions_of

LENGTH = 1
"""The length of axes that the model leaves open, where inputs are drawn."""
RUNS = 5
"""Timed runs, of which the fastest is told."""


def main(options: argparse.Namespace) -> int:
    """Print the contents of a model, run the options, and return the exit code."""
    try:
        shapes = dict(map(_shape, options.shape or ()))
    except ValueError as error:
        return _failed(str(error), 2)
    try:
        proto, _ = load(options.model)
        print(contents(proto, options.model))
        model = from_onnx(options.model, shapes=shapes)
    except (ValueError, ImportError) as error:
        return _failed(str(error))
    print(edges(model))
    try:
        return _used(model, options)
    except (ValueError, TypeError, OSError) as error:
        return _failed(str(error))


def _failed(problem: str, code: int = 1) -> int:
    print(f"onnx: {problem}", file=sys.stderr)
    return code


def _shape(text: str) -> tuple[str, Any]:
    """Name and lengths in "x=1,3,?"; a list of them for a sequence: "s=2,3;4,3"; None for "o=none".

    Raises ValueError for other texts.
    """
    name, equals, lengths = text.partition("=")
    try:
        if not name or not equals:
            raise ValueError
        if lengths == "none":
            return name, None
        every = [tuple(None if n == "?" else int(n) for n in part.split(",") if n) for part in lengths.split(";")]
    except ValueError:
        raise ValueError(f"--shape {text}: expected a name and lengths, as in --shape image=1,3,224,224") from None
    return name, [e for e in every if e] if ";" in lengths else every[0]


# --- the contents


def contents(proto: Any, path: str) -> str:
    """The content of the file: op sets, parameters, ops by number."""
    graph = proto.graph
    counts = Counter(node.op_type for node in nodes_of(graph))
    versions = ", ".join(f"{name or 'standard'} {version}" for name, version in versions_of(proto).items())
    numbers = sum(math.prod(t.dims) for t in graph.initializer)
    lines = [
        f"{path}: {graph.name or 'model'}, {counts.total()} nodes, op sets: {versions}",
        f"parameters: {counted(numbers, 'number')} in {counted(len(graph.initializer), 'tensor')}",
        "ops: " + (", ".join(f"{count} {op}" for op, count in counts.most_common()) or "none"),
    ]
    return "\n".join(lines)


def edges(model: OnnxModel) -> str:
    """The inputs and outputs of a model with their types."""
    rows = [(word, name, value) for word, values in (("input", model.inputs), ("output", model.outputs))
            for name, value in values.items()]  # fmt: skip
    return "\n".join(f"{word} {name}: {model.described(name, value)}" for word, name, value in rows)


# --- the run


def _used(model: OnnxModel, options: argparse.Namespace) -> int:
    if not (options.run or options.profile or options.report or options.export):
        return 0
    f = model.function(profile=bool(options.profile))
    print(f"function: {counted(len(f.graph), 'node')}, backend {f.backend}, {f.compile_seconds:.3g} s to compile")
    if options.run or options.profile:
        _run(model, f, options.seed)
    if options.profile:
        print(f.profile)
    if options.report:
        print(f"report: {f.report(options.report)}")
    if options.export:
        print(f"export: {f.export(options.export)}")
    return 0


def _run(model: OnnxModel, f: Any, seed: int) -> None:
    """Call the function with random arrays; print times and outputs."""
    arrays = drawn(model, np.random.default_rng(seed))
    seconds = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        results = f(*arrays.values())
        seconds.append(time.perf_counter() - begin)
    described = f"inputs drawn with --seed {seed}: {_shapes(arrays)}"
    print(f"run: {min(seconds) * 1e3:.3g} ms, the fastest of {RUNS}; {described}")
    for name, value in zip(model.outputs, results if len(model.outputs) > 1 else [results]):
        for array in value if isinstance(value, list) else [value]:
            print(f"result {name}: {summary(np.asarray(array))}")


def _shapes(arrays: Mapping[str, Any]) -> str:
    described = {n: [a.shape for a in v] if isinstance(v, list) else v.shape for n, v in arrays.items()}
    return ", ".join(f"{name} {shape}" for name, shape in described.items()) or "none"


def summary(array: np.ndarray) -> str:
    """Type, range, mean and NaN of an array."""
    text = f"{array.dtype.name}{list(array.shape)}"
    numbers = array.astype("float64" if array.dtype.kind != "c" else "complex128").reshape(-1)
    if not numbers.size or array.dtype.kind == "c":
        return text + f", {amount(array.nbytes)}"
    nans = int(np.isnan(numbers).sum())
    finite = numbers[~np.isnan(numbers)]
    between = f", from {finite.min():.4g} to {finite.max():.4g}, mean {finite.mean():.4g}" if finite.size else ""
    return text + between + (f", {nans} NaN" if nans else "")


def drawn(model: OnnxModel, rng: np.random.Generator) -> dict[str, Any]:
    """Random arrays for the inputs: normal numbers, integers below 4; open lengths are 1."""

    def one(name: str, variable: Any) -> np.ndarray:
        shape: Sequence[int] = [LENGTH if n is None else n for n in variable.type.shape]
        numbers = rng.integers(0, 2 if variable.dtype == "bool" else 4, shape)
        found = numbers if variable.type.kind in "iub" else rng.standard_normal(shape)
        form = model.form(name)
        return np.asarray(found).astype(form.dtype if form is not None else variable.dtype)

    inputs = model.inputs.items()
    return {n: [one(n, v) for v in value] if isinstance(value, list) else one(n, value) for n, value in inputs}
