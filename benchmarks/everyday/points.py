"""Points, colours and little matrices: rows of few numbers, beside loops over elements that numba compiles."""

import math

import numpy

from .program import double, integers, loops_of, program


@program(double(100000, 4), double(100000, 4))
def quaternions(np, p, q):
    a, b, c, d = p[:, 0], p[:, 1], p[:, 2], p[:, 3]
    e, f, g, h = q[:, 0], q[:, 1], q[:, 2], q[:, 3]
    rows = [a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e]  # fmt: skip
    return np.stack(rows, 1)


@loops_of(quaternions)
def quaternion_loops(p, q):
    out = numpy.empty_like(p)
    for i in range(p.shape[0]):
        a, b, c, d = p[i, 0], p[i, 1], p[i, 2], p[i, 3]
        e, f, g, h = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        out[i, 0] = a * e - b * f - c * g - d * h
        out[i, 1] = a * f + b * e + c * h - d * g
        out[i, 2] = a * g - b * h + c * e + d * f
        out[i, 3] = a * h + b * g - c * f + d * e
    return out


@program(double(100000))
def powers(np, v):
    return np.stack([v**k for k in range(6)], 1)


@loops_of(powers)
def power_loops(v):
    out = numpy.empty((v.shape[0], 6))
    for i in range(v.shape[0]):
        power = 1.0
        for k in range(6):
            out[i, k] = power
            power *= v[i]
    return out


@program(double(100000, 3), double(100000, 3))
def cross(np, a, b):
    return np.cross(a, b)


@loops_of(cross)
def cross_loops(a, b):
    out = numpy.empty_like(a)
    for i in range(a.shape[0]):
        out[i, 0] = a[i, 1] * b[i, 2] - a[i, 2] * b[i, 1]
        out[i, 1] = a[i, 2] * b[i, 0] - a[i, 0] * b[i, 2]
        out[i, 2] = a[i, 0] * b[i, 1] - a[i, 1] * b[i, 0]
    return out


@program(integers(10, 100000))
def one_hot(np, y):
    return (y[:, None] == np.arange(10)).astype("float32")


@loops_of(one_hot)
def one_hot_loops(y):
    out = numpy.empty((y.shape[0], 10), numpy.float32)
    for i in range(y.shape[0]):
        for k in range(10):
            out[i, k] = 1.0 if y[i] == k else 0.0
    return out


@program(double(20000, 3), double(8, 3))
def kmeans_step(np, x, c):
    nearest = np.argmin(((x[:, None] - c) ** 2).sum(-1), 1)
    members = (nearest[:, None] == np.arange(c.shape[0])).astype(x.dtype)
    return (members.T @ x) / np.maximum(members.sum(0), 1)[:, None]


@loops_of(kmeans_step)
def kmeans_loops(x, c):
    total, count = numpy.zeros_like(c), numpy.zeros(c.shape[0])
    for i in range(x.shape[0]):
        least, nearest = numpy.inf, 0
        for k in range(c.shape[0]):
            distance = 0.0
            for j in range(x.shape[1]):
                distance += (x[i, j] - c[k, j]) ** 2
            if distance < least:
                least, nearest = distance, k
        count[nearest] += 1
        for j in range(x.shape[1]):
            total[nearest, j] += x[i, j]
    for k in range(c.shape[0]):
        for j in range(x.shape[1]):
            total[k, j] /= max(count[k], 1)
    return total


@program(double(50000, 3), double(8, 3))
def centre_distances(np, x, c):
    return np.sqrt(((x[:, None] - c) ** 2).sum(-1))


@loops_of(centre_distances)
def centre_loops(x, c):
    out = numpy.empty((x.shape[0], c.shape[0]))
    for i in range(x.shape[0]):
        for k in range(c.shape[0]):
            distance = 0.0
            for j in range(x.shape[1]):
                distance += (x[i, j] - c[k, j]) ** 2
            out[i, k] = math.sqrt(distance)
    return out


def colours(r):
    return r.random((512, 512, 4)).astype("float32")


@program(colours, colours)
def alpha_blend(np, a, b):
    behind = b[..., 3:] * (1 - a[..., 3:])
    alpha = a[..., 3:] + behind
    colour = (a[..., :3] * a[..., 3:] + b[..., :3] * behind) / np.maximum(alpha, 1e-6)
    return np.concatenate([colour, alpha], -1)


@loops_of(alpha_blend)
def alpha_loops(a, b):
    out, one, least = numpy.empty_like(a), numpy.float32(1), numpy.float32(1e-6)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            behind = b[i, j, 3] * (one - a[i, j, 3])
            alpha = a[i, j, 3] + behind
            for k in range(3):
                out[i, j, k] = (a[i, j, k] * a[i, j, 3] + b[i, j, k] * behind) / max(alpha, least)
            out[i, j, 3] = alpha
    return out


@program(double(10000, 8), double(8, 8))
def quad_forms(np, x, a):
    return np.einsum("ni,ij,nj->n", x, a, x)


@loops_of(quad_forms)
def quad_loops(x, a):
    out = numpy.empty(x.shape[0])
    for n in range(x.shape[0]):
        total = 0.0
        for i in range(x.shape[1]):
            row = 0.0
            for j in range(x.shape[1]):
                row += a[i, j] * x[n, j]
            total += x[n, i] * row
        out[n] = total
    return out


def within(limit, *shape):
    return lambda r: r.random(shape) * limit


@program(double(256, 256), within(254, 50000), within(254, 50000))
def bilinear_sample(np, x, u, v):
    i, j = np.floor(u).astype("int64"), np.floor(v).astype("int64")
    a, b = u - i, v - j
    return (x[i, j] * (1 - a) * (1 - b) + x[i + 1, j] * a * (1 - b)
            + x[i, j + 1] * (1 - a) * b + x[i + 1, j + 1] * a * b)  # fmt: skip


@loops_of(bilinear_sample)
def bilinear_loops(x, u, v):
    out = numpy.empty_like(u)
    for n in range(u.shape[0]):
        i, j = math.floor(u[n]), math.floor(v[n])
        a, b = u[n] - i, v[n] - j
        out[n] = (x[i, j] * (1 - a) * (1 - b) + x[i + 1, j] * a * (1 - b)
                  + x[i, j + 1] * (1 - a) * b + x[i + 1, j + 1] * a * b)  # fmt: skip
    return out


def boxes(count):
    return lambda r: numpy.sort(r.random((count, 4)), 1)


@program(boxes(200), boxes(100))
def box_pairs(np, a, b):
    low, high = np.maximum(a[:, None, :2], b[:, :2]), np.minimum(a[:, None, 2:], b[:, 2:])
    sides = np.clip(high - low, 0, None)
    shared = sides[..., 0] * sides[..., 1]
    first = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    second = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return shared / (first[:, None] + second - shared)


@loops_of(box_pairs)
def box_loops(a, b):
    out = numpy.empty((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        first = (a[i, 2] - a[i, 0]) * (a[i, 3] - a[i, 1])
        for j in range(b.shape[0]):
            width = max(min(a[i, 2], b[j, 2]) - max(a[i, 0], b[j, 0]), 0.0)
            height = max(min(a[i, 3], b[j, 3]) - max(a[i, 1], b[j, 1]), 0.0)
            second = (b[j, 2] - b[j, 0]) * (b[j, 3] - b[j, 1])
            out[i, j] = width * height / (first + second - width * height)
    return out


@program(lambda r: 4 * r.standard_normal((300, 3)))
def pair_forces(np, x):
    d, same = x[:, None] - x, np.eye(x.shape[0])
    square = (d * d).sum(-1) + same
    sixth = 1 / square**3
    return ((24 * (2 * sixth * sixth - sixth) / square * (1 - same))[..., None] * d).sum(1)


@loops_of(pair_forces)
def pair_loops(x):
    out = numpy.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if i != j:
                a, b, c = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
                inverse = 1 / (a * a + b * b + c * c)
                sixth = inverse**3
                force = 24 * (2 * sixth * sixth - sixth) * inverse
                out[i, 0] += force * a
                out[i, 1] += force * b
                out[i, 2] += force * c
    return out


def little_by_vectors(np, a, x):
    return (a @ x[..., None])[..., 0]


def vector_loops(a, x):
    out = numpy.empty_like(x)
    for n in range(a.shape[0]):
        for i in range(a.shape[1]):
            total = 0.0
            for j in range(a.shape[2]):
                total += a[n, i, j] * x[n, j]
            out[n, i] = total
    return out


def little_by_little(np, a, b):
    return a @ b


def matrix_loops(a, b):
    out = numpy.empty_like(a)
    for n in range(a.shape[0]):
        for i in range(a.shape[1]):
            for k in range(b.shape[2]):
                total = 0.0
                for j in range(a.shape[2]):
                    total += a[n, i, j] * b[n, j, k]
                out[n, i, k] = total
    return out


for size in (2, 3, 4):
    matrices, vectors = double(50000, size, size), double(50000, size)
    program(matrices, vectors, name=f"vectors_{size}", loops=vector_loops)(little_by_vectors)
    program(matrices, matrices, name=f"matrices_{size}", loops=matrix_loops)(little_by_little)
