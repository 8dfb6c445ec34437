"""Functions and classes that are jitted, for tests that send them to other processes."""

import numpy as np

import arignote as ag


@ag.jit
def twice(x):
    """Double the argument."""
    return x * 2


@ag.jit(static_argnames="axis", mode="NUMPY")
def total(x, axis=None, *, scale=1.0):
    return x.sum(axis=axis) * scale


def plain(x):
    return x - 1


fast = ag.jit(plain)


class Layer:
    def __init__(self, b):
        self.b = np.array(b)

    def __call__(self, x):
        return x + self.b


class Model:
    """A model as users write it."""

    scale = 3.0
    offset = np.ones(3)

    def __init__(self, n):
        self.w, self.n, self.steps = np.arange(float(n)), n, 0
        self.layers = [Layer(1.0), Layer(2.0)]

    @ag.jit(mode="NUMPY")
    def predict(self, x):
        """Return the prediction."""
        return x @ self.w * self.scale + self.offset.sum()

    @ag.jit(mode="NUMPY")
    def deep(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    @ag.jit(mode="NUMPY")
    def fit(self, x, y):
        self.n_features_ = x.shape[1]
        self.w = np.linalg.solve(x.T @ x, x.T @ y)
        self.loss_ = ((x @ self.w - y) ** 2).mean()
        return self

    @ag.jit(mode="NUMPY")
    def step(self, g):
        self.steps += 1
        return g / (1 - 0.9**self.steps)

    @ag.jit(mode="NUMPY")
    def repeated(self, x):
        for _ in range(self.n):
            x = x + 1
        return x

    @ag.jit(mode="NUMPY")
    def score(self, x):
        return self.predict(x).sum() + self.helper(x)

    def helper(self, x):
        return (x * self.w).sum()

    @classmethod
    @ag.jit(mode="NUMPY")
    def made(cls, x):
        return x * cls.scale

    @staticmethod
    @ag.jit(mode="NUMPY")
    def shifted(x):
        return x + 1

    @ag.jit(mode="NUMPY")
    @staticmethod
    def shifted_again(x):
        return x + 1

    @property
    @ag.jit(mode="NUMPY")
    def norm(self):
        return (self.w**2).sum()


class Special(Model):
    @ag.jit(mode="NUMPY")
    def predict(self, x):
        return super().predict(x) + 1
