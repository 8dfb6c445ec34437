"""Moments, quantiles, regressions, counts of words, finance."""

import numpy

from .program import double, integers, positive, program, single


def counts(np, i, length):
    """Return how often each number occurs; JAX wants a fixed length, and NumPy has only a least one."""
    return np.bincount(i, minlength=length) if np is numpy else np.bincount(i, length=length)


@program(double(1000000))
def moments(np, x):
    c = x - x.mean()
    return (c**2).mean(), (c**3).mean(), (c**4).mean()


@program(double(1000, 1000))
def zscore_cols(np, x):
    return (x - x.mean(0)) / x.std(0)


@program(single(1000, 1000))
def corrcoef(np, x):
    c = x - x.mean(1, keepdims=True)
    c = c / np.sqrt((c * c).sum(1, keepdims=True))
    return c @ c.T


@program(double(500000))
def cumulative_returns(np, x):
    c = np.cumsum(0.001 * x)
    return np.exp(c) - 1, np.max(c), np.min(c)


@program(single(200000), integers(1000, 200000))
def segment_mean(np, x, i):
    total = np.bincount(i, weights=x, minlength=1000) if np is numpy else np.zeros(1000, x.dtype).at[i].add(x)
    return total / counts(np, i, 1000)


@program(double(300000))
def quantiles(np, x):
    return np.percentile(x, np.asarray([5.0, 25.0, 50.0, 75.0, 95.0]))


@program(double(200000))
def rolling_mean(np, x):
    c = np.cumsum(x)
    return (c[50:] - c[:-50]) / 50


@program(single(1000, 1000))
def cumsum_axis0(np, x):
    return np.cumsum(x, 0)


@program(single(1000, 1000))
def cumsum_axis1(np, x):
    return np.cumsum(x, 1)


@program(single(100000))
def sort_clip(np, x):
    return np.sort(x)[1000:-1000].mean()


@program(single(2000, 500))
def argmax_rows(np, x):
    return np.argmax(x, 1), np.argmin(x, 0)


@program(integers(1000, 1000, 1000, dtype="int32"))
def int_stats(np, x):
    return (x * x % 7).sum(1), x.max(0), (x > 500).sum()


@program(single(1000, 100), single(100, 100))
def mahalanobis(np, x, a):
    d = x - x.mean(0)
    return np.sqrt(np.abs(((d @ a) * d).sum(1)))


@program(lambda r: r.random((1000, 1000)) > 0.5, single(1000, 1000))
def masked_mean(np, m, x):
    return (x * m).sum() / m.sum(), np.where(m, x, -1e9).max(1)


@program(double(100000), double(100000))
def linregress(np, x, y):
    mx, my = x.mean(), y.mean()
    b = ((x - mx) * (y - my)).sum() / ((x - mx) ** 2).sum()
    return b, my - b * mx


@program(double(10001))
def median_deviation(np, x):
    return np.median(np.abs(x - np.median(x)))


@program(double(20, 1000))
def covariance(np, x):
    return np.cov(x)


@program(double(100), double(120))
def welch_t(np, a, b):
    return (a.mean() - b.mean()) / np.sqrt(a.var(ddof=1) / a.size + b.var(ddof=1) / b.size)


@program(double(10000))
def ranks(np, x):
    return np.argsort(np.argsort(x))


@program(double(1000, 50), positive(1000))
def weighted_average(np, x, w):
    return np.average(x, axis=0, weights=w)


@program(positive(1000))
def drawdown(np, p):
    peak = np.maximum.accumulate(p)
    return ((peak - p) / peak).max()


@program(positive(250))
def volatility(np, p):
    return np.diff(np.log(p)).std() * np.sqrt(252.0)


@program(single(2000, 252))
def asian_option(np, z):
    path = 100 * np.exp(np.cumsum(0.0126 * z - 0.00008, 1))
    return np.maximum(path.mean(1) - 100, 0).mean(), np.maximum(path.max(1) - 100, 0).mean()


@program(positive(10), double(10, 10), gradient=0)
def portfolio(np, w, a):
    w = w / w.sum()
    return np.sqrt(w @ (a @ a.T) @ w)


@program(integers(256, 100000, dtype="uint8"))
def byte_entropy(np, text):
    p = counts(np, text, 256) / text.size
    return -(p * np.log2(np.where(p > 0, p, 1.0))).sum()


@program(integers(30, 50000))
def bigrams(np, text):
    return counts(np, text[:-1] * 30 + text[1:], 900).reshape(30, 30)


@program(integers(4, 200, 1000, dtype="float64"))
def tf_idf(np, counts):
    frequency = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    return frequency * np.log(200 / (1 + (counts > 0).sum(0)))
