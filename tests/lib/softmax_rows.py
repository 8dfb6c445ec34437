"""The softmax family by its formulas, and rows with every pair of special values."""

import itertools

import numpy as np

INF, NAN = np.inf, np.nan
SPECIAL = (INF, -INF, NAN, 0.0, 1.5)


def reference(x, axis):
    """softmax, log_softmax and logsumexp by their formulas."""
    with np.errstate(all="ignore"):
        z = x - x.max(axis=axis, keepdims=True)
        e = np.exp(z)
        total = e.sum(axis=axis, keepdims=True)
        return [e / total, z - np.log(total), np.logaddexp.reduce(x, axis=axis)]


def rows_of(n, dtype):
    """Rows of n numbers with every pair of special values in them, among finite numbers and among -inf."""
    rng = np.random.default_rng(n)
    rows = [np.full(n, v) for v in SPECIAL]
    for (a, b), rest in itertools.product(itertools.product(SPECIAL, SPECIAL), (0.0, -INF)):
        row = rng.normal(size=n) if rest == 0 else np.full(n, rest)
        row[0], row[n // 2] = a, b
        rows.append(row)
    return np.array(rows, dtype)
