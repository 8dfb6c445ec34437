"""A convolutional network: two layers of convolution and max-pooling, a hidden layer and logistic regression."""

import digits
import numpy
import theano
import theano.tensor as T
from logistic_regression import LogisticRegression
from mlp import HiddenLayer
from theano.tensor.nnet import conv2d
from theano.tensor.signal import pool


class ConvPoolLayer(object):  # noqa: UP004  # as programs of that time write it
    """tanh(max_pool(convolution) + b) with a bias for each map."""

    def __init__(self, rng, input, filter_shape, image_shape, poolsize=(2, 2)):
        assert image_shape[1] == filter_shape[1]
        fan_in = numpy.prod(filter_shape[1:])
        fan_out = filter_shape[0] * numpy.prod(filter_shape[2:]) // numpy.prod(poolsize)
        bound = numpy.sqrt(6.0 / (fan_in + fan_out))
        values = numpy.asarray(rng.uniform(-bound, bound, filter_shape), dtype=theano.config.floatX)
        self.W = theano.shared(values, borrow=True)
        self.b = theano.shared(value=numpy.zeros((filter_shape[0],), dtype=theano.config.floatX), borrow=True)
        maps = conv2d(input=input, filters=self.W, filter_shape=filter_shape, input_shape=image_shape)
        pooled = pool.pool_2d(input=maps, ws=poolsize, ignore_border=True)
        self.output = T.tanh(pooled + self.b.dimshuffle("x", 0, "x", "x"))
        self.params = [self.W, self.b]


def run(epochs=4, rate=0.1, batch=50, nkerns=(6, 12)):
    """Train on images of 12 x 12 (a border of zeros around the digits); returns losses and the share of errors."""
    rng = numpy.random.RandomState(23455)
    (train_x, train_y), (test_x, test_y) = digits.shared()
    index = T.lscalar()
    x, y = T.matrix("x"), T.ivector("y")
    image = T.zeros((batch, 1, 12, 12))
    image = T.set_subtensor(image[:, :, 2:-2, 2:-2], x.reshape((batch, 1, 8, 8)))
    layer0 = ConvPoolLayer(rng, image, (nkerns[0], 1, 3, 3), (batch, 1, 12, 12))
    layer1 = ConvPoolLayer(rng, layer0.output, (nkerns[1], nkerns[0], 2, 2), (batch, nkerns[0], 5, 5))
    layer2 = HiddenLayer(rng, input=layer1.output.flatten(2), n_in=nkerns[1] * 2 * 2, n_out=40, activation=T.tanh)
    layer3 = LogisticRegression(layer2.output, 40, 10)
    cost = layer3.negative_log_likelihood(y)
    params = layer3.params + layer2.params + layer1.params + layer0.params
    grads = T.grad(cost, params)
    updates = [(p, p - rate * g) for p, g in zip(params, grads)]
    window = slice(index * batch, (index + 1) * batch)
    train = theano.function([index], cost, updates=updates, givens={x: train_x[window], y: train_y[window]})
    test = theano.function([index], layer3.errors(y), givens={x: test_x[window], y: test_y[window]})
    n_train, n_test = (v.get_value(borrow=True).shape[0] // batch for v in (train_x, test_x))
    losses = [float(numpy.mean([train(i) for i in range(n_train)])) for _ in range(epochs)]
    return {"losses": losses, "errors": float(numpy.mean([test(i) for i in range(n_test)]))}


if __name__ == "__main__":
    print(run())
