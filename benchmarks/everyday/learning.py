"""Networks' layers and losses, clustering, regression."""

import numpy

from .program import double, integers, program, single


@program(single(20000, 64), single(50, 64))
def kmeans_assign(np, x, c):
    d = (x * x).sum(1)[:, None] - 2 * x @ c.T + (c * c).sum(1)[None, :]
    return np.argmin(d, 1), np.min(d, 1)


@program(single(8, 128, 64), single(8, 128, 64), single(8, 128, 64))
def attention(np, q, k, v):
    s = np.einsum("bqd,bkd->bqk", q, k) / 8.0
    s = s - s.max(-1, keepdims=True)
    e = np.exp(s)
    return (e / e.sum(-1, keepdims=True)) @ v


@program(single(512, 512))
def gelu_tanh(np, x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


@program(single(256, 1024))
def rmsnorm_silu(np, x):
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    return y / (1 + np.exp(-y))


@program(double(2000, 100), double(100), integers(2, 2000, dtype="float64"), gradient=1)
def logistic(np, X, w, y):
    z = X @ w
    return (np.logaddexp(0, z) - y * z).mean() + 0.01 * (w * w).sum()


@program(single(100000), single(100000))
def huber(np, a, b):
    d = np.abs(a - b)
    return np.where(d < 1, 0.5 * d * d, d - 0.5).mean()


@program(single(4096, 256))
def topmask(np, x):
    m = x.max(1, keepdims=True)
    return np.where(x > 0.9 * m, x, 0.0).sum(1)


@program(double(1000, 20), double(20, 30), double(30), double(30), gradient=1)
def mlp_small(np, X, W, b, v):
    return ((np.tanh(X @ W + b) @ v) ** 2).mean()


@program(double(1000, 1000))
def col_softmax(np, x):
    e = np.exp(x - x.max(0))
    return e / e.sum(0)


@program(lambda r: r.standard_normal((512, 512)).astype("float16"))
def half_math(np, x):
    return np.tanh(x) * x + 1


@program(single(50000, 16), integers(50000, 100000))
def gather_rows(np, x, i):
    return x[i].sum(0)


@program(single(32, 3, 64, 64))
def nhwc(np, x):
    return np.transpose(x, (0, 2, 3, 1)).reshape(32, -1) * 2


@program(double(100000))
def sigmoid_mix(np, x):
    return np.where(x > 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x)))


@program(single(1000, 64), single(1000, 64), gradient=0)
def contrastive(np, a, b):
    a = a / np.sqrt((a * a).sum(1, keepdims=True))
    b = b / np.sqrt((b * b).sum(1, keepdims=True))
    s = a @ b.T / 0.1
    m = s.max(1, keepdims=True)
    loss = np.log(np.exp(s - m).sum(1)) + m[:, 0]
    return (loss - np.diagonal(s)).mean()


@program(single(64, 128), single(128, 128), single(128, 128), gradient=1)
def residual_net(np, x, a, b):
    h = x
    for _ in range(4):
        h = h + np.maximum(h @ a * 0.05, 0) @ b * 0.05
    return (h * h).mean()


@program(single(256, 100), integers(100, 256), gradient=0)
def cross_entropy(np, x, y):
    m = x.max(1, keepdims=True)
    total = np.log(np.exp(x - m).sum(1)) + m[:, 0]
    return (total - x[np.arange(256), y]).mean()


@program(single(10000), integers(2, 10000, dtype="float32"), gradient=0)
def focal_loss(np, x, y):
    p = 1 / (1 + np.exp(-x))
    q = np.where(y > 0, p, 1 - p)
    return (-((1 - q) ** 2) * np.log(q + 1e-6)).mean()


@program(single(16, 32), single(16, 64), single(32, 192), single(64, 192))
def gru_cell(np, x, h, W, U):
    a, b = x @ W, h @ U
    z = 1 / (1 + np.exp(-(a[:, :64] + b[:, :64])))
    r = 1 / (1 + np.exp(-(a[:, 64:128] + b[:, 64:128])))
    n = np.tanh(a[:, 128:] + r * b[:, 128:])
    return (1 - z) * n + z * h


@program(single(10, 64), single(64), single(64), gradient=0)
def layer_norm_small(np, x, g, b):
    c = x - x.mean(-1, keepdims=True)
    y = c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5) * g + b
    return (y * y).sum()


@program(lambda r: numpy.sort(r.random((200, 2, 2)), 1), lambda r: numpy.sort(r.random((100, 2, 2)), 1))
def box_overlaps(np, a, b):
    low = np.maximum(a[:, None, 0], b[None, :, 0])
    high = np.minimum(a[:, None, 1], b[None, :, 1])
    shared = np.prod(np.clip(high - low, 0, None), -1)
    area = np.prod(a[:, 1] - a[:, 0], -1)[:, None] + np.prod(b[:, 1] - b[:, 0], -1)[None]
    return shared / (area - shared)
