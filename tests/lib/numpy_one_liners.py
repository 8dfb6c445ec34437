"""One-liners of NumPy as its documentation and its users write them, and the arguments that they are called with.

Each is an expression of a, b (float64 matrix, float64 vector), f (float32 matrix), i (int64 vector), k (int8 matrix),
u (uint8 vector), t (bool vector), c (complex vector), o (matrix with one row), s (a float), n (an int).
"""

import numpy as np

ARGUMENTS = {
    "a": np.array([[3.0, -1.5, 2.0], [0.5, 4.0, -2.25], [1.0, 7.0, 0.125], [-3.0, 2.5, 9.0]]),
    "b": np.array([2.0, -1.0, 0.5]),
    "f": np.array([[1.5, 2.0, -3.0], [0.25, -1.0, 4.0]], "float32"),
    "i": np.array([3, 1, 4, 1, 5, 9, 2]),
    "k": np.array([[1, -2, 3], [100, 5, -60]], "int8"),
    "u": np.array([200, 3, 7, 250], "uint8"),
    "t": np.array([True, False, True]),
    "c": np.array([1 + 2j, -3j, 2.5]),
    "o": np.array([[1.0, 5.0, -2.0]]),
    "s": 1.5,
    "n": 2,
}

ONE_LINERS = """
a == a[0]
a != 2
a == b
(a == 2).any()
np.all(a == a)
(i == 1).sum()
np.sum(i != 1)
a[a == 2.0]
a[a > 1]
a[a > 1].mean()
np.where(a == 2, 0, a)
np.where(i == 1)[0]
np.nonzero(i == 1)[0]
np.count_nonzero(a == 2)
np.array_equal(a, a)
np.array_equal(a, b)
np.array_equiv(o, o[0])
np.allclose(a, a + 1e-9)
np.isclose(a, 2)
a.shape
a.shape[0]
len(a)
a.size
a.ndim
np.shape(a)
np.size(a)
np.ndim(a)
a.sum() / len(a)
a.sum() / a.shape[0]
f.sum() / f.shape[0]
f / f.shape[1]
f * len(f)
f.sum() / f.size
a.sum(axis=0) / a.shape[0]
k / k.shape[0]
k + k.shape[0]
u + u.shape[0]
i // len(i)
i % i.size
a.reshape(-1)
a.reshape(a.size)
a.reshape(a.shape[1], a.shape[0])
a.reshape(a.shape[0] * a.shape[1])
a.reshape(-1, a.shape[0])
a.reshape(a.shape[:1] + (1, a.shape[1]))
a.reshape((1,) + a.shape)
a.reshape(*a.shape, 1)
np.zeros(a.shape)
np.zeros(a.shape[0])
np.ones(len(a)) * 2
np.zeros((a.shape[0], 2)) + a[:, :2]
np.zeros_like(a)
np.ones_like(k)
np.full_like(f, 2)
np.empty_like(a).shape
np.full(a.shape, 3)
np.full(len(i), s)
np.eye(a.shape[1])
np.eye(len(b)) @ b
np.identity(len(b)) * b
np.arange(len(i))
np.arange(a.shape[0]) * 2
np.arange(0, a.shape[0], 2)
np.arange(a.size).reshape(a.shape)
np.arange(n)
np.linspace(0, 1, len(i))
np.linspace(0, s, 5)
np.sqrt(a.shape[0])
a / np.sqrt(a.shape[1])
f / np.sqrt(f.shape[1])
f * s
f + n
k * n
u + n
i * s
f ** 2
f ** n
a ** s
n ** i
s / f
n - k
f * (s + n)
f * (s / n)
f + (n // 2)
f - abs(-s)
np.float32(2) * f
np.float64(2) * f
f * np.sqrt(n)
f * np.float32(s)
np.maximum(f, s)
np.clip(f, 0, s)
f.clip(-1, 1)
np.minimum(u, n)
np.add(f, 1)
np.multiply(f, 2.0)
np.power(f, 2)
np.mod(i, n)
np.floor_divide(i, n)
np.true_divide(i, n)
np.arctan2(f, s)
np.hypot(f, n)
np.logaddexp(f, s)
np.where(f > 0, f, s)
np.where(t, s, n)
np.where(t, b, 0)
np.select([b > 1, b < 0], [b, -b], 0)
a.squeeze()
o.squeeze()
np.squeeze(o)
np.squeeze(o, axis=0)
np.squeeze(a[:1])
o.squeeze() + b
np.squeeze(a[:, :1])
np.atleast_2d(b)
np.atleast_1d(s)
np.atleast_3d(a).shape
np.expand_dims(b, 0)
b[:, None] * b
b[np.newaxis].shape
np.outer(b, b)
np.inner(a, b)
np.dot(a, b)
a.dot(b)
a @ b
np.matmul(a, a.T)
np.tensordot(a, a, axes=([0, 1], [0, 1]))
np.einsum('ij,ij->i', a, a)
np.einsum('ij,j', a, b)
np.vdot(b, b)
np.trace(a)
np.kron(b, b)
np.cross(b, b + 1)
a.T
a.transpose()
a.swapaxes(0, 1)
np.moveaxis(a, 0, 1)
np.rollaxis(a, 1)
np.concatenate([a, a])
np.concatenate((a, o))
np.concatenate([b, i])
np.stack([b, b])
np.vstack([a, b])
np.hstack([b, b])
np.column_stack([b, b])
np.dstack([a, a]).shape
np.append(b, s)
np.append(b, [1, 2])
np.insert(b, 1, 5)
np.delete(b, 1)
np.repeat(b, 2)
np.repeat(b, n)
np.tile(b, 2)
np.tile(b, (n, 2))
np.roll(b, 1)
np.roll(a, 1, axis=0)
np.flip(b)
np.fliplr(a)
np.flipud(a)
np.rot90(a)
b[::-1]
a[1:-1]
a[..., -1]
a[-1]
a[len(a) - 1]
a[: len(a) // 2]
a[:n]
b[n]
a[i[i < 4]]
a[[0, 2]]
a[np.argmax(a, axis=0), np.arange(3)]
np.take(b, [0, 2])
np.take_along_axis(a, np.argsort(a, axis=1), axis=1)
np.compress(t, b)
np.extract(b > 0, b)
np.choose([0, 1, 0], [b, -b])
np.split(a, 2)[0]
np.array_split(i, 3)[0]
np.hsplit(a, 3)[1]
np.pad(b, 1)
np.pad(b, (1, 2), mode='edge')
np.sort(i)
np.sort(a, axis=0)
np.argsort(i)
i[np.argsort(i)]
np.argsort(-i)[:3]
np.partition(i, 3)[3]
np.unique(i)
np.unique(i, return_counts=True)
np.searchsorted(np.sort(i), 4)
np.argmax(a)
np.argmax(a, axis=1)
a.argmin()
np.unravel_index(np.argmax(a), a.shape)
np.cumsum(i)
np.cumprod(b)
np.diff(i)
np.ediff1d(i)
np.gradient(b)
np.trapezoid(b)
np.interp(1.5, [1, 2, 3], b)
np.convolve(b, [1, 1])
np.correlate(b, b)
np.bincount(i)
np.histogram(i, bins=3)[0]
np.digitize(b, [0, 1])
np.sum(a)
np.sum(k)
np.sum(u)
np.sum(f)
np.sum(t)
k.sum(axis=0)
np.prod(k, axis=1)
np.mean(k)
np.mean(f)
np.mean(f, axis=0)
np.std(f)
a.std(axis=0, ddof=1)
np.var(i)
np.median(a)
np.median(a, axis=0)
np.percentile(a, 30)
np.quantile(b, [0.25, 0.5])
np.average(b, weights=[1, 2, 3])
np.cov(a)
np.corrcoef(a)
np.ptp(a)
a.max(axis=1, keepdims=True)
np.max(a)
np.amin(f)
np.nanmax(a)
np.nansum(f)
np.any(a > 5)
a.all(axis=0)
(a > 0).sum()
(a > 0).mean()
(a - a.mean(axis=0)) / a.std(axis=0)
(f - f.mean()) / f.std()
np.exp(a - a.max()) / np.exp(a - a.max()).sum()
1 / (1 + np.exp(-f))
np.log1p(np.abs(f))
np.linalg.norm(a)
np.linalg.norm(a, axis=1)
np.linalg.inv(a[:3])
np.linalg.solve(a[:3], b)
np.linalg.det(a[:3])
np.linalg.matrix_rank(a)
np.linalg.eigvalsh(a[:3] + a[:3].T)
np.linalg.qr(a)[1].shape
np.linalg.svd(a)[1]
np.linalg.pinv(a)
np.linalg.lstsq(a, np.ones(4))[0]
np.triu(a)
np.tril(a)
np.diag(b)
np.diag(a)
np.diagonal(a)
np.meshgrid(b, b)[0]
np.broadcast_to(b, (2, 3))
np.ravel(a)
a.flatten()
a.ravel()[::2]
np.real(c)
c.imag
np.abs(c)
np.conj(c)
np.angle(c)
c == c.conj()
c * s
k.astype(float)
a.astype('int32')
a.astype(f.dtype)
np.asarray(a, dtype=f.dtype)
np.zeros(3, dtype=f.dtype) + f[0]
np.float32(a)
a.dtype == np.float64
f.dtype == np.float64
f.dtype == 'float32'
f.dtype in (np.float32, np.float16)
f.dtype in {np.dtype('float32')}
np.issubdtype(i.dtype, np.integer)
i.dtype.kind == 'i'
k.dtype.itemsize
np.finfo(f.dtype).eps * f
np.iinfo(k.dtype).max
np.result_type(a, f) == np.float64
1 if a.shape == (4, 3) else 0
1 if len(a) == 4 else 0
1 if a.shape[0] != b.shape[0] else 0
1 if a.ndim == 2 and a.shape[-1] == 3 else 0
b if a.shape[1] > 5 else -b
1 if isinstance(a, np.ndarray) else 0
1 if isinstance(s, float) else 0
1 if isinstance(n, (int, np.integer)) else 0
1 if isinstance(a.shape[0], int) else 0
1 if isinstance(a.sum(), np.floating) else 0
1 if hasattr(a, '__len__') else 0
np.isscalar(s)
np.iterable(a)
sum(b)
sum(x * x for x in b)
[x + 1 for x in b]
max(len(a), len(b))
min(a.shape)
tuple(a.shape)
list(range(len(b)))
[b[j] for j in range(b.shape[0])]
np.array([b[j] ** 2 for j in range(len(b))])
np.array([b, b])
np.array([b[0], 1.0])
np.array(b)
np.array(a.shape)
np.prod(a.shape)
int(np.prod(a.shape))
np.stack([row.sum() for row in a])
sum(row[0] for row in a)
dict(zip('ab', b))['a']
[v for v in enumerate(b)][1]
divmod(len(i), 2)
a.shape[0] ** 2
a.shape[0] / 3
round(s)
-n
s + n
n / 3
abs(n - 5)
n // 2 + n % 2
u - 1
u * 2
-u
~u
~t
t & (b > 0)
t | t
t ^ t
t.sum()
t * 1.0
t + t
i << 1
i & 3
np.bitwise_and(i, n)
np.logical_not(b)
np.sign(k)
np.abs(k)
np.square(k)
np.reciprocal(f)
np.rint(f)
np.round(f, 1)
np.floor(a)
np.trunc(f)
np.fix(a)
np.isnan(f)
np.isfinite(f).all()
np.nan_to_num(f)
np.sinc(b)
np.heaviside(b, 0.5)
np.cbrt(f)
np.exp2(k)
np.sin(i)
np.sqrt(k * k)
np.deg2rad(f)
np.polyval([1, 2, 3], b)
np.vander(b)
np.fft.fft(b)
np.fft.rfft(b).shape
np.isin(i, [1, 2])
np.intersect1d(i, [1, 2, 3])
np.setdiff1d(i, [1, 2])
np.union1d(i, [1, 2])
np.apply_along_axis(np.sum, 0, a)
np.vectorize(lambda x: x + 1)(b)
np.add.reduce(b)
np.add.outer(b, b)
np.maximum.accumulate(i)
np.multiply.reduce(k, axis=0)
a.item(0)
a.tolist()
b.fill(3)
b.sort()
np.put(b, 0, 1)
np.copyto(b, 1)
np.fill_diagonal(a, 0)
np.nan_to_num(b, copy=False)
""".strip().splitlines()
