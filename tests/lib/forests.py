"""Random decision trees as arrays."""

import numpy as np


def forest(rng, trees, depth, features, outputs, branches, dtype):
    """Random trees as the arrays of a `TreeFold`; some are a leaf alone."""
    feature, threshold, children, root, values = [], [], [], [], []

    def grown(left):
        if left == 0 or rng.random() < 0.15:
            values.append(rng.integers(-4, 5, outputs))
            return -len(values)
        here = len(feature)
        feature.append(rng.integers(features))
        threshold.append(rng.integers(-2, 3))
        children.append(None)
        children[here] = [grown(left - 1) for _ in range(branches)]
        return here

    for _ in range(trees):
        root.append(grown(depth))
    return [
        np.array(feature, "int32"), np.array(threshold, dtype), np.array(children, "int32").reshape(-1),
        np.array(root, "int32"), np.array(values, "float32").reshape(-1),
    ]  # fmt: skip
