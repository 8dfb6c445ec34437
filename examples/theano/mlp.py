"""A multilayer perceptron with a hidden layer of tanh and L1 and L2 penalties."""

import digits
import numpy
import theano
import theano.tensor as T
from logistic_regression import LogisticRegression


class HiddenLayer(object):  # noqa: UP004  # as programs of that time write it
    """activation(x W + b), W uniform in +-sqrt(6 / (n_in + n_out)), four times as wide for sigmoid."""

    def __init__(self, rng, input, n_in, n_out, W=None, b=None, activation=T.tanh):
        self.input = input
        if W is None:
            bound = numpy.sqrt(6.0 / (n_in + n_out))
            values = numpy.asarray(rng.uniform(-bound, bound, (n_in, n_out)), dtype=theano.config.floatX)
            if activation == theano.tensor.nnet.sigmoid:
                values *= 4
            W = theano.shared(value=values, name="W", borrow=True)
        if b is None:
            b = theano.shared(value=numpy.zeros((n_out,), dtype=theano.config.floatX), name="b", borrow=True)
        self.W, self.b = W, b
        linear = T.dot(input, self.W) + self.b
        self.output = linear if activation is None else activation(linear)
        self.params = [self.W, self.b]


class MLP(object):  # noqa: UP004
    """A hidden layer and logistic regression upon it."""

    def __init__(self, rng, input, n_in, n_hidden, n_out):
        self.hidden = HiddenLayer(rng, input, n_in, n_hidden)
        self.top = LogisticRegression(self.hidden.output, n_hidden, n_out)
        self.L1 = abs(self.hidden.W).sum() + abs(self.top.W).sum()
        self.L2_sqr = (self.hidden.W**2).sum() + (self.top.W**2).sum()
        self.params = self.hidden.params + self.top.params


def run(epochs=8, rate=0.1, batch=20, n_hidden=50, L1_reg=0.0, L2_reg=0.0001):
    """Train; returns the losses of the epochs and the share of errors on the test set."""
    (train_x, train_y), (test_x, test_y) = digits.shared()
    n_batches = train_x.get_value(borrow=True).shape[0] // batch
    index = T.lscalar("index")
    x, y = T.matrix("x"), T.ivector("y")
    model = MLP(numpy.random.RandomState(1234), x, 64, n_hidden, 10)
    cost = model.top.negative_log_likelihood(y) + L1_reg * model.L1 + L2_reg * model.L2_sqr
    gparams = [T.grad(cost, param) for param in model.params]
    updates = [(param, param - rate * gparam) for param, gparam in zip(model.params, gparams)]
    window = slice(index * batch, (index + 1) * batch)
    train = theano.function([index], cost, updates=updates, givens={x: train_x[window], y: train_y[window]})
    test = theano.function(inputs=[], outputs=model.top.errors(y), givens={x: test_x, y: test_y})
    losses = [float(numpy.mean([train(i) for i in range(n_batches)])) for _ in range(epochs)]
    return {"losses": losses, "errors": float(test())}


if __name__ == "__main__":
    print(run())
