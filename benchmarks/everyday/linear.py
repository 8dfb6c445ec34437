"""Products, factors and graphs."""

from .program import double, integers, program, single


@program(single(64, 64, 64), single(64, 64), single(64, 64))
def tensor_chain(np, t, a, b):
    return np.einsum("ijk,jl,km->ilm", t, a, b)


@program(double(1000), double(1000))
def outer_kernel(np, a, b):
    return np.exp(-((a[:, None] - b[None, :]) ** 2))


@program(single(64, 256, 256))
def batch_norms(np, x):
    return np.sqrt((x * x).sum((1, 2)))


@program(double(100, 64, 64), double(100, 64))
def batch_solve(np, a, b):
    return np.linalg.solve(a + 8 * np.eye(64), b[..., None])[..., 0]


@program(double(300, 300))
def cho_logdet(np, a):
    c = np.linalg.cholesky(a @ a.T + 300 * np.eye(300))
    return 2 * np.log(np.diagonal(c)).sum()


@program(double(400, 400))
def power_iter(np, a):
    v = np.ones(400)
    for _ in range(10):
        v = a @ v
        v = v / np.sqrt((v * v).sum())
    return v


@program(single(256, 256), single(256, 256))
def kron_trace(np, a, b):
    return np.trace(a) * np.trace(b) + np.sum(np.triu(a) * np.tril(b))


@program(double(128, 128))
def svd_norm(np, a):
    return np.linalg.svd(a, compute_uv=False).sum()


@program(double(128, 128))
def eigenvalues(np, a):
    return np.linalg.eigh(a + a.T)[0]


@program(integers(2, 200, 200, dtype="float64"))
def pagerank(np, a):
    p = a / np.maximum(a.sum(0), 1)
    v = np.ones(200) / 200
    for _ in range(20):
        v = 0.15 / 200 + 0.85 * (p @ v)
    return v


@program(integers(2, 300, 300, dtype="float32"))
def triangles(np, a):
    return np.trace(a @ a @ a) / 6


@program(integers(2, 500, 500, dtype="float32"))
def degree_normalized(np, a):
    d = 1 / np.sqrt(a.sum(1) + 1)
    return a * d[:, None] * d[None, :]
