"""The LeNet of `python -m arignote demo cnn`, trained in a second: for tests of pruning and quantization."""

from functools import lru_cache

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote import optim
from arignote.demo import cnn as demo_cnn
from arignote.demo import digits as demo

BATCH = 100
DIGITS = demo.load_digits()
X, Y, I, RATE = T.matrix("x", "float32"), T.lvector("y"), T.lscalar("i"), T.fscalar("rate")


class Net:
    """The network with its training set."""

    def __init__(self):
        self.model = demo_cnn.lenet()
        self.parameters = self.model.parameters
        self.logits = self.model.logits(X)
        self.loss = T.nn.softmax_crossentropy(self.logits, Y).mean()
        self.images, self.labels = demo.shared_digits(DIGITS)
        self.rng = np.random.default_rng(1)

    def step(self, changed=list):
        """A step of SGD with momentum; `changed(updates)` gives the updates that it makes."""
        updates = optim.momentum(self.parameters, ag.grad(self.loss, self.parameters), RATE, np.float32(0.9))
        batch = slice(I * BATCH, (I + 1) * BATCH)
        givens = {X: self.images[batch], Y: self.labels[batch]}
        return ag.function([I, RATE], self.loss, updates=changed(updates), givens=givens)

    def train(self, step, epochs, rate, after=lambda: None):
        for epoch in range(epochs):
            order = self.rng.permutation(len(DIGITS.train_images))
            self.images.set_value(demo_cnn.distorted(DIGITS.train_images[order], self.rng))
            self.labels.set_value(DIGITS.train_labels[order])
            for i in range(len(order) // BATCH):
                step(i, np.float32(rate * (1 - epoch / epochs)))
                after()

    def accuracy(self, f):
        return float(np.mean(f(DIGITS.test_images).argmax(1) == DIGITS.test_labels))

    def accuracy_on_variants(self, f, count=10):
        """Over as many random maps of each test image: 360 images tell no difference of a third of a point."""
        rng = np.random.default_rng(2)
        found = [f(demo_cnn.distorted(DIGITS.test_images, rng)).argmax(1) == DIGITS.test_labels for _ in range(count)]
        return float(np.mean(found))


@lru_cache(maxsize=1)
def trained_values():
    net = Net()
    net.train(net.step(), 40, 0.07)
    return [p.get_value() for p in net.parameters]


def trained():
    """A new network with trained weights."""
    net = Net()
    for p, value in zip(net.parameters, trained_values(), strict=True):
        p.set_value(value)
    return net
