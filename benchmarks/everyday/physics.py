"""Particles, grids, geometry."""

from .program import double, integers, positive, program, single


@program(double(600, 3))
def pairwise_energy(np, x):
    d = x[:, None, :] - x[None, :, :]
    return (1 / np.sqrt((d * d).sum(-1) + 0.01)).sum()


@program(double(600, 3), gradient=0)
def pairwise_force(np, x):
    d = x[:, None, :] - x[None, :, :]
    return (1 / np.sqrt((d * d).sum(-1) + 0.01)).sum()


@program(double(100000), double(100000))
def haversine(np, a, b):
    s = np.sin((a - b) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin((a + b) / 2) ** 2
    return 2 * np.arcsin(np.sqrt(np.clip(s, 0, 1)))


@program(double(500, 3), double(500), gradient=0)
def gravity(np, p, m):
    d = p[:, None] - p[None]
    return -(m[:, None] * m[None] / np.sqrt((d**2).sum(-1) + 1e-3)).sum() / 2


def _laplacian(np, x):
    return np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4 * x


@program(double(16, 16))
def laplacian_16(np, x):
    return _laplacian(np, x)


@program(double(64, 64))
def laplacian_64(np, x):
    return _laplacian(np, x)


@program(double(128, 128))
def laplacian_128(np, x):
    return _laplacian(np, x)


@program(double(64, 64), double(64, 64))
def reaction_diffusion(np, u, v):
    r = u * v * v
    return u + 0.16 * _laplacian(np, u) - r + 0.035 * (1 - u), v + 0.08 * _laplacian(np, v) + r - 0.1 * v


@program(double(1000), double(1000))
def wave(np, now, before):
    inner = 2 * now[1:-1] - before[1:-1] + 0.25 * (now[2:] - 2 * now[1:-1] + now[:-2])
    return np.concatenate([now[:1], inner, now[-1:]])


@program(lambda r: 4 * r.standard_normal((200, 3)), gradient=0)
def lennard_jones(np, x):
    d = x[:, None] - x[None]
    s = 1 / ((d * d).sum(-1) + 0.5) ** 3
    return 2 * (s * s - s).sum()


@program(double(100), double(100))
def kuramoto(np, phase, speed):
    return phase + 0.01 * (speed + np.sin(phase[None] - phase[:, None]).mean(1))


@program(double(3, 1000))
def lorenz(np, s):
    for _ in range(4):
        x, y, z = s
        s = s + 0.01 * np.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
    return s


@program(single(100000, 3), single(3, 3), single(3))
def rigid_motion(np, p, r, t):
    q = p @ r.T + t
    return q, np.sqrt((q * q).sum(1))


@program(double(1000), double(1000))
def polygon_area(np, x, y):
    return 0.5 * np.abs((x * np.roll(y, 1) - y * np.roll(x, 1)).sum())


@program(single(2000, 3), single(2000, 3), single(2000, 3))
def triangle_normals(np, a, b, c):
    n = np.cross(b - a, c - a)
    return n / np.sqrt((n * n).sum(1, keepdims=True))


@program(double(1000, 4))
def rotations(np, q):
    w, x, y, z = np.moveaxis(q / np.sqrt((q * q).sum(1, keepdims=True)), 1, 0)
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
            1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x),
            1 - 2 * (x * x + y * y)]  # fmt: skip
    return np.stack(rows, 1).reshape(-1, 3, 3)


@program(double(10))
def norm_of_ten(np, x):
    return np.sqrt((x * x).sum())


@program(positive(100), positive(100), integers(100, 100))
def mixing(np, volumes, heats, order):
    return np.cumsum(volumes[order] * heats) / np.cumsum(volumes[order])
