"""Ensembles of decision trees beside ONNX Runtime: 1,000 rows of 20 features, 100 trees.

    python -m benchmarks.kernels.trees

The trees are drawn: thresholds are normal, and depth ends at random as in trees that are grown from data.  Both
programs run in turn; the least time of the rounds counts, in ms.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import arignote as ag

ROWS, FEATURES, TREES, ROUNDS = 1000, 20, 100, 200
NAMES = "treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids"


def ensemble(depth: int, targets: int) -> Any:
    """A regressor of drawn trees, as an ONNX model."""
    from onnx import TensorProto, helper

    rng = np.random.default_rng(depth)
    rows: list[list[Any]] = []
    leaves: list[tuple[int, int, int, float]] = []
    for tree in range(TREES):
        count, open_nodes = 1, [(0, 0)]
        while open_nodes:
            number, level = open_nodes.pop()
            if level == depth or (level > 2 and rng.random() < 0.1):
                rows.append([tree, number, "LEAF", 0, 0.0, 0, 0])
                leaves += [(tree, number, k, float(rng.standard_normal())) for k in range(targets)]
                continue
            split = float(rng.standard_normal())
            rows.append([tree, number, "BRANCH_LEQ", int(rng.integers(FEATURES)), split, count, count + 1])
            open_nodes += [(count, level + 1), (count + 1, level + 1)]
            count += 2
    given = {f"nodes_{name}": list(column) for name, column in zip(NAMES, zip(*rows))}
    columns = zip(("treeids", "nodeids", "ids", "weights"), zip(*leaves))
    given |= {f"target_{name}": list(column) for name, column in columns}
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=targets, **given)
    edges = ("x", FEATURES), ("y", targets)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, width]) for name, width in edges]
    graph = helper.make_graph([node], "trees", infos[:1], infos[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 3)], ir_version=9)


def best(*runs: Callable[[], Any]) -> list[float]:
    """The least time of each run in ms; the runs take turns."""
    times = [[] for _ in runs]  # type: list[list[float]]
    for _ in range(ROUNDS):
        for run, found in zip(runs, times):
            start = time.perf_counter()
            run()
            found.append(time.perf_counter() - start)
    return [min(found) * 1e3 for found in times]


def main() -> None:
    import onnxruntime

    x = np.random.default_rng(0).standard_normal((ROWS, FEATURES)).astype("float32")
    print("| depth | targets | rows | Arignote | ONNX Runtime | ratio |\n| --- | --- | --- | --- | --- | --- |")
    for depth, targets in ((6, 1), (10, 1), (10, 3)):
        made = ensemble(depth, targets)
        f = ag.from_onnx(made).function()
        session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
        for rows in (x, x[:1]):
            np.testing.assert_allclose(f(rows), session.run(None, {"x": rows})[0], rtol=1e-3, atol=1e-3)
            ours, theirs = best(partial(f, rows), partial(session.run, None, {"x": rows}))
            print(f"| {depth} | {targets} | {len(rows)} | {ours:.3f} | {theirs:.3f} | {ours / theirs:.2f} |")


if __name__ == "__main__":
    main()
