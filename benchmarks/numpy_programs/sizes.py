"""Arguments of the programs in the sizes that are timed: calls of NumPy take some milliseconds to seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Random = np.random.Generator
Arguments = Callable[[Random], tuple[Any, ...]]


def _positive(r: Random, n: int) -> np.ndarray:
    a = r.random((n, n))
    return a @ a.T / n + n * np.eye(n)


def _matrices(*shapes: tuple[int, ...], first: tuple[Any, ...] = ()) -> Arguments:
    """Return a function that draws arrays of these shapes, after some constants."""
    return lambda r: (*first, *(r.random(s) for s in shapes))


def _floats(*shapes: tuple[int, ...], last: tuple[Any, ...] = ()) -> Arguments:
    return lambda r: (*(r.random(s).astype(np.float32) for s in shapes), *last)


def _sparse(r: Random) -> tuple[Any, ...]:
    rows = np.concatenate([[0], np.cumsum(r.integers(0, 40, 4000))])
    return rows, r.integers(0, 4000, rows[-1]), r.random(rows[-1]), r.random(4000)


def _scattering(r: Random) -> tuple[Any, ...]:
    def of(*s: int) -> np.ndarray:
        return r.random(s) + 1j * r.random(s)

    return r.integers(0, 8, (8, 4)), of(8, 4, 3, 4, 4), of(2, 4, 8, 4, 4), of(2, 3, 8, 4, 3, 3), np.zeros(
        (2, 4, 8, 4, 4), complex
    )


def _flow(n: int) -> np.ndarray:
    return np.zeros((n, n))


SIZES: dict[str, Arguments] = {
    "k2mm": _matrices((400, 450), (450, 500), (500, 550), (400, 550), first=(1.5, 1.2)),
    "k3mm": _matrices((400, 450), (450, 500), (500, 550), (550, 400)),
    "atax": _matrices((2000, 2500), (2500,)),
    "bicg": _matrices((2500, 2000), (2000,), (2500,)),
    "mvt": _matrices(*[(2500,)] * 4, (2500, 2500)),
    "gemm": _matrices((500, 550), (500, 600), (600, 550), first=(1.5, 1.2)),
    "gemver": _matrices((1500, 1500), *[(1500,)] * 8, first=(1.5, 1.2)),
    "gesummv": _matrices((1500, 1500), (1500, 1500), (1500,), first=(1.5, 1.2)),
    "symm": _matrices((100, 120), (100, 100), (100, 120), first=(1.5, 1.2)),
    "syrk": _matrices((200, 200), (200, 150), first=(1.5, 1.2)),
    "syr2k": _matrices((150, 150), (150, 120), (150, 120), first=(1.5, 1.2)),
    "trmm": _matrices((130, 130), (130, 100), first=(1.5,)),
    "doitgen": lambda r: (60, 60, 128, r.random((60, 60, 128)), r.random((128, 128))),
    "cholesky": lambda r: (_positive(r, 200),),
    "cholesky2": lambda r: (_positive(r, 600),),
    "lu": lambda r: (_positive(r, 150),),
    "ludcmp": lambda r: (_positive(r, 150), r.random(150)),
    "trisolv": lambda r: (np.tril(_positive(r, 1500)), r.random(1500), r.random(1500)),
    "durbin": lambda r: (r.random(1500) / 1500,),
    "gramschmidt": _matrices((150, 120)),
    "covariance": lambda r: (300, 400.0, r.random((400, 300))),
    "correlation": lambda r: (300, 400.0, r.random((400, 300))),
    "spmv": _sparse,
    "jacobi_1d": lambda r: (800, r.random(8000), r.random(8000)),
    "jacobi_2d": lambda r: (60, r.random((250, 250)), r.random((250, 250))),
    "heat_3d": lambda r: (20, r.random((50, 50, 50)), r.random((50, 50, 50))),
    "seidel_2d": lambda r: (8, 100, r.random((100, 100))),
    "fdtd_2d": lambda r: (60, r.random((250, 300)), r.random((250, 300)), r.random((250, 300)), r.random(60)),
    "adi": lambda r: (10, 150, r.random((150, 150))),
    "deriche": lambda r: (0.25, r.random((400, 300))),
    "hdiff": lambda r: (r.random((132, 132, 80)), r.random((128, 128, 80)), r.random((128, 128, 80))),
    "vadv": lambda r: (
        r.random((100, 100, 60)), r.random((100, 100, 60)), r.random((101, 100, 60)), r.random((100, 100, 60)),
        r.random((100, 100, 60)), 3.0 / 20.0,
    ),
    "cavity_flow": lambda r: (61, 61, 25, 20, _flow(61), _flow(61), 0.001, 0.05, 0.05, _flow(61), 1.0, 0.1),
    "channel_flow": lambda r: (20, _flow(61), _flow(61), 0.001, 0.05, 0.05, np.ones((61, 61)), 1, 0.1, 1),
    "floyd_warshall": lambda r: (r.integers(1, 1000, (200, 200)),),
    "floyd_warshall_elements": lambda r: (r.integers(1, 1000, (80, 80)),),
    "nussinov": lambda r: (60, r.integers(0, 4, 60)),
    "crc16": lambda r: (r.integers(0, 256, 4000).astype(np.uint8),),
    "histogram": lambda r: (r.random(20000), 50),
    "bubble_sort": lambda r: (r.random(250),),
    "binary_search": lambda r: (np.sort(r.random(100000)), 0.4),
    "edit_distance": lambda r: (r.integers(0, 4, 150), r.integers(0, 4, 160)),
    "sieve": lambda r: (1000000,),
    "collatz": lambda r: (837799,),
    "life": lambda r: (r.integers(0, 2, (300, 300)), 20),
    "arc_distance": _matrices(*[(400000,)] * 4),
    "go_fast": _matrices((1500, 1500)),
    "compute": lambda r: (r.integers(0, 1000, (1000, 1000)), r.integers(0, 1000, (1000, 1000)), 4, 3, 9),
    "azimint_naive": lambda r: (r.random(2000), r.random(2000), 30),
    "azimint_hist": lambda r: (r.random(200000), r.random(200000), 200),
    "nbody": lambda r: (20 * r.random((60, 1)), r.random((60, 3)), r.random((60, 3)), 60, 50, 0.05, 1, 0.1),
    "mandelbrot1": lambda r: (-1.75, 0.25, -1.0, 1.0, 150, 150, 50),
    "mandelbrot2": lambda r: (-1.75, 0.25, -1.0, 1.0, 60, 60, 60),
    "stockham_fft": lambda r: (4096, 4, 6, r.random(4096) + 1j * r.random(4096), np.zeros(4096, complex)),
    "scattering_self_energies": _scattering,
    "contour_integral": lambda r: (
        50, 60, 2, r.random((3, 50, 50)) + 1j * r.random((3, 50, 50)), r.random(32) + 1j * r.random(32) + 0.3,
        r.random((50, 60)) + 1j * r.random((50, 60)),
    ),
    "monte_carlo_pi": _matrices((50000,), (50000,)),
    "black_scholes_tree": lambda r: (100.0, 95.0, 0.05, 0.2, 1.0, 800),
    "runge_kutta": lambda r: (r.random(2), 0.01, 2000),
    "conjugate_gradient": lambda r: (_positive(r, 400), r.random(400), 1e-9),
    "newton": lambda r: (2.5,),
    "softmax": _floats((16, 16, 128, 128)),
    "mlp": _floats((64, 784), (784, 1000), (1000,), (1000, 500), (500,), (500, 10), (10,)),
    "conv2d_bias": _floats((8, 32, 32, 3), (5, 5, 3, 16), (16,)),
    "lenet5": _floats(
        (8, 28, 28, 1), (5, 5, 1, 6), (6,), (5, 5, 6, 16), (16,), (256, 84), (84,), (84, 10), (10,), last=(8, 256)
    ),
    "resnet_basicblock": _floats((4, 14, 14, 64), (1, 1, 64, 16), (3, 3, 16, 16), (1, 1, 16, 64)),
    "kmeans": lambda r: (r.random((5000, 2)), r.random((8, 2)), 10),
    "logistic_regression": lambda r: (r.random((5000, 20)), r.integers(0, 2, 5000).astype(float), 50, 0.1),
    "rnn": _matrices((200, 16, 32), (32, 64), (64, 64), (64,)),
}  # fmt: skip
"""Functions of the arguments by the name of the program."""
