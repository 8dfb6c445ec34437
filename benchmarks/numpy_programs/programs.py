"""The table of programs: each with a function that makes small arguments from a generator of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import graphs, learning, linear, physics, stencils


class Program(NamedTuple):
    """A program as its user writes it, and small arguments for it."""

    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator], tuple[Any, ...]]

    @property
    def name(self) -> str:
        return self.function.__name__


def _positive(r: np.random.Generator, n: int) -> np.ndarray:
    a = r.random((n, n))
    return a @ a.T + n * np.eye(n)


def _sparse(r: np.random.Generator) -> tuple[Any, ...]:
    counts = r.integers(0, 5, 20)
    rows = np.concatenate([[0], np.cumsum(counts)])
    return rows, r.integers(0, 15, rows[-1]), r.random(rows[-1]), r.random(15)


def _lenet(r: np.random.Generator) -> tuple[Any, ...]:
    f = np.float32
    shapes = [(2, 20, 20, 1), (5, 5, 1, 3), (3,), (5, 5, 3, 4), (4,), (16, 10), (10,), (10, 4), (4,)]
    return (*(r.random(s).astype(f) for s in shapes), 2, 16)


def _resnet(r: np.random.Generator) -> tuple[Any, ...]:
    shapes = [(2, 6, 6, 8), (1, 1, 8, 4), (3, 3, 4, 4), (1, 1, 4, 8)]
    return tuple(r.random(s).astype(np.float32) for s in shapes)


def _scattering(r: np.random.Generator) -> tuple[Any, ...]:
    idx = r.integers(0, 3, (3, 2))

    def of(*s: int) -> np.ndarray:
        return r.random(s) + 1j * r.random(s)

    return idx, of(3, 2, 2, 3, 3), of(2, 3, 3, 3, 3), of(2, 2, 3, 2, 2, 2), np.zeros((2, 3, 3, 3, 3), complex)


PROGRAMS: tuple[Program, ...] = (
    Program(linear.k2mm, lambda r: (1.5, 1.2, *(r.random((5, 5)) for _ in range(4)))),
    Program(linear.k3mm, lambda r: tuple(r.random((5, 5)) for _ in range(4))),
    Program(linear.atax, lambda r: (r.random((6, 4)), r.random(4))),
    Program(linear.bicg, lambda r: (r.random((6, 4)), r.random(4), r.random(6))),
    Program(linear.mvt, lambda r: (*(r.random(6) for _ in range(4)), r.random((6, 6)))),
    Program(linear.gemm, lambda r: (1.5, 1.2, r.random((4, 5)), r.random((4, 6)), r.random((6, 5)))),
    Program(linear.gemver, lambda r: (1.5, 1.2, r.random((6, 6)), *(r.random(6) for _ in range(8)))),
    Program(linear.gesummv, lambda r: (1.5, 1.2, r.random((6, 6)), r.random((6, 6)), r.random(6))),
    Program(linear.symm, lambda r: (1.5, 1.2, r.random((18, 5)), r.random((18, 18)), r.random((18, 5)))),
    Program(linear.syrk, lambda r: (1.5, 1.2, r.random((18, 18)), r.random((18, 6)))),
    Program(linear.syr2k, lambda r: (1.5, 1.2, r.random((18, 18)), r.random((18, 6)), r.random((18, 6)))),
    Program(linear.trmm, lambda r: (1.5, r.random((18, 18)), r.random((18, 5)))),
    Program(linear.doitgen, lambda r: (3, 4, 5, r.random((3, 4, 5)), r.random((5, 5)))),
    Program(linear.cholesky, lambda r: (_positive(r, 18),)),
    Program(linear.cholesky2, lambda r: (_positive(r, 18),)),
    Program(linear.lu, lambda r: (_positive(r, 18),)),
    Program(linear.ludcmp, lambda r: (_positive(r, 18), r.random(18))),
    Program(linear.trisolv, lambda r: (np.tril(_positive(r, 18)), r.random(18), r.random(18))),
    Program(linear.durbin, lambda r: (r.random(20) / 20,)),
    Program(linear.gramschmidt, lambda r: (r.random((20, 18)),)),
    Program(linear.covariance, lambda r: (18, 20.0, r.random((20, 18)))),
    Program(linear.correlation, lambda r: (18, 20.0, r.random((20, 18)))),
    Program(linear.spmv, _sparse),
    Program(stencils.jacobi_1d, lambda r: (20, r.random(30), r.random(30))),
    Program(stencils.jacobi_2d, lambda r: (20, r.random((12, 12)), r.random((12, 12)))),
    Program(stencils.heat_3d, lambda r: (18, r.random((6, 7, 8)), r.random((6, 7, 8)))),
    Program(stencils.seidel_2d, lambda r: (18, 10, r.random((10, 10)))),
    Program(stencils.fdtd_2d, lambda r: (20, r.random((8, 9)), r.random((8, 9)), r.random((8, 9)), r.random(20))),
    Program(stencils.adi, lambda r: (4, 20, r.random((20, 20)))),
    Program(stencils.deriche, lambda r: (0.25, r.random((20, 22)))),
    Program(stencils.hdiff, lambda r: (r.random((10, 11, 4)), r.random((6, 7, 4)), r.random((6, 7, 4)))),
    Program(
        stencils.vadv,
        lambda r: (r.random((4, 5, 20)), r.random((4, 5, 20)), r.random((5, 5, 20)), r.random((4, 5, 20)),
                   r.random((4, 5, 20)), 3.0 / 20.0),
    ),
    Program(
        stencils.cavity_flow,
        lambda r: (9, 8, 18, 20, np.zeros((8, 9)), np.zeros((8, 9)), 0.001, 0.25, 0.25, np.zeros((8, 9)), 1.0, 0.1),
    ),
    Program(
        stencils.channel_flow,
        lambda r: (5, np.zeros((8, 9)), np.zeros((8, 9)), 0.01, 0.25, 0.25, np.ones((8, 9)), 1, 0.1, 1),
    ),
    Program(graphs.floyd_warshall, lambda r: (r.integers(1, 50, (18, 18)),)),
    Program(graphs.floyd_warshall_elements, lambda r: (r.integers(1, 50, (18, 18)),)),
    Program(graphs.nussinov, lambda r: (20, r.integers(0, 4, 20))),
    Program(graphs.crc16, lambda r: (r.integers(0, 256, 40).astype(np.uint8),)),
    Program(graphs.histogram, lambda r: (r.random(60), 8)),
    Program(graphs.bubble_sort, lambda r: (r.random(18),)),
    Program(graphs.binary_search, lambda r: (np.sort(r.random(40)), 0.4)),
    Program(graphs.edit_distance, lambda r: (r.integers(0, 4, 18), r.integers(0, 4, 20))),
    Program(graphs.sieve, lambda r: (100,)),
    Program(graphs.collatz, lambda r: (27,)),
    Program(graphs.life, lambda r: (r.integers(0, 2, (10, 12)), 18)),
    Program(physics.arc_distance, lambda r: tuple(r.random(20) for _ in range(4))),
    Program(physics.go_fast, lambda r: (r.random((20, 20)),)),
    Program(physics.compute, lambda r: (r.integers(0, 20, (6, 7)), r.integers(0, 20, (6, 7)), 4, 3, 9)),
    Program(physics.azimint_naive, lambda r: (r.random(300), r.random(300), 18)),
    Program(physics.azimint_hist, lambda r: (r.random(300), r.random(300), 18)),
    Program(physics.nbody, lambda r: (9 * r.random((6, 1)), r.random((6, 3)), r.random((6, 3)), 6, 20, 0.05, 1, 0.1)),
    Program(physics.mandelbrot1, lambda r: (-1.75, 0.25, -1.0, 1.0, 12, 13, 20)),
    Program(physics.mandelbrot2, lambda r: (-1.75, 0.25, -1.0, 1.0, 18, 19, 20)),
    Program(physics.stockham_fft, lambda r: (16, 2, 4, r.random(16) + 1j * r.random(16), np.zeros(16, complex))),
    Program(physics.scattering_self_energies, _scattering),
    Program(
        physics.contour_integral,
        lambda r: (4, 3, 2, r.random((3, 4, 4)) + 1j * r.random((3, 4, 4)), r.random(20) + 1j * r.random(20) + 0.3,
                   r.random((4, 3)) + 1j * r.random((4, 3))),
    ),
    Program(physics.monte_carlo_pi, lambda r: (r.random(50), r.random(50))),
    Program(physics.black_scholes_tree, lambda r: (100.0, 95.0, 0.05, 0.2, 1.0, 20)),
    Program(physics.runge_kutta, lambda r: (r.random(2), 0.1, 20)),
    Program(physics.conjugate_gradient, lambda r: (_positive(r, 20), r.random(20), 1e-9)),
    Program(physics.newton, lambda r: (2.5,)),
    Program(learning.softmax, lambda r: (r.random((2, 3, 4, 4)).astype(np.float32),)),
    Program(
        learning.mlp,
        lambda r: tuple(r.random(s).astype(np.float32) for s in ((4, 5), (5, 6), (6,), (6, 7), (7,), (7, 3), (3,))),
    ),
    Program(
        learning.conv2d_bias,
        lambda r: tuple(r.random(s).astype(np.float32) for s in ((2, 8, 9, 3), (3, 3, 3, 4), (4,))),
    ),
    Program(learning.lenet5, _lenet),
    Program(learning.resnet_basicblock, _resnet),
    Program(learning.kmeans, lambda r: (r.random((30, 2)), r.random((4, 2)), 18)),
    Program(learning.logistic_regression, lambda r: (r.random((30, 4)), r.integers(0, 2, 30).astype(float), 20, 0.1)),
    Program(learning.rnn, lambda r: (r.random((20, 2, 3)), r.random((3, 4)), r.random((4, 4)), r.random(4))),
)  # fmt: skip


def flat(value: Any) -> list[Any]:
    """Return the arrays and numbers of a result."""
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in flat(v)]
    return [] if value is None else [value]
