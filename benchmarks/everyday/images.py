"""Filters, colours and sizes of images."""

import numpy

from .program import double, integers, program, single


@program(single(1024, 1024))
def sobel(np, x):
    gx = x[:-2, 2:] + 2 * x[1:-1, 2:] + x[2:, 2:] - x[:-2, :-2] - 2 * x[1:-1, :-2] - x[2:, :-2]
    gy = x[2:, :-2] + 2 * x[2:, 1:-1] + x[2:, 2:] - x[:-2, :-2] - 2 * x[:-2, 1:-1] - x[:-2, 2:]
    return np.sqrt(gx * gx + gy * gy)


@program(double(512, 512), gradient=0)
def total_variation(np, x):
    return np.sqrt((x[1:, :-1] - x[:-1, :-1]) ** 2 + (x[:-1, 1:] - x[:-1, :-1]) ** 2 + 1e-8).sum()


@program(integers(256, 480, 640, 3, dtype="uint8"))
def grayscale(np, im):
    g = 0.299 * im[..., 0] + 0.587 * im[..., 1] + 0.114 * im[..., 2]
    return np.clip(np.round(g), 0, 255).astype("uint8")


@program(integers(2, 1000, 1000, dtype="int32"))
def life(np, g):
    n = sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    return ((n == 3) | ((n == 2) & (g == 1))).astype("int32")


@program(single(1000, 1000))
def gradient2(np, x):
    a, b = np.gradient(x)
    return a * a + b * b


@program(single(3, 1000, 1000))
def luminance_hist(np, x):
    g = 0.3 * x[0] + 0.6 * x[1] + 0.1 * x[2]
    return np.histogram(g, bins=64, range=(-3, 3))[0]


@program(single(512, 512))
def box_blur(np, x):
    c = np.cumsum(np.pad(x, ((4, 3), (0, 0))), 0)
    c = np.cumsum(np.pad(c[7:] - c[:-7], ((0, 0), (4, 3))), 1)
    return (c[:, 7:] - c[:, :-7]) / 49


@program(single(1024, 1024))
def halve(np, x):
    return x.reshape(512, 2, 512, 2).mean((1, 3))


@program(integers(256, 512, 512, dtype="uint8"), integers(256, 256, dtype="uint8"))
def lookup_table(np, im, table):
    return table[im]


@program(integers(256, 224, 224, 3, dtype="uint8"), single(3), single(3))
def flip_normalize(np, im, mean, scale):
    return ((im[:, ::-1].astype("float32") / 255 - mean) * scale).transpose(2, 0, 1)


@program(single(512, 512))
def dilate(np, x):
    rows = np.maximum(np.maximum(x[:-2], x[1:-1]), x[2:])
    return np.maximum(np.maximum(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:])


@program(single(256, 256), lambda r: numpy.linspace(0, 254.9, 400, dtype="float32"))
def bilinear_resize(np, x, at):
    low = at.astype("int64")
    t = at - low
    rows = x[low] * (1 - t)[:, None] + x[low + 1] * t[:, None]
    return rows[:, low] * (1 - t) + rows[:, low + 1] * t
