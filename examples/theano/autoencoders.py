"""Denoising autoencoders, and a stack of them that is trained layer by layer and then as a whole."""

import digits
import numpy
import theano
import theano.tensor as T
from logistic_regression import LogisticRegression
from mlp import HiddenLayer
from theano.tensor.shared_randomstreams import RandomStreams


class dA(object):  # noqa: N801, UP004  # as programs of that time write it
    """An autoencoder with tied weights that reconstructs x from x with some numbers set to zero."""

    def __init__(self, numpy_rng, theano_rng=None, input=None, n_visible=64, n_hidden=50, W=None, bhid=None):
        if not theano_rng:
            theano_rng = RandomStreams(numpy_rng.randint(2**30))
        if not W:
            bound = 4 * numpy.sqrt(6.0 / (n_hidden + n_visible))
            values = numpy.asarray(
                numpy_rng.uniform(low=-bound, high=bound, size=(n_visible, n_hidden)), dtype=theano.config.floatX
            )
            W = theano.shared(value=values, name="W", borrow=True)
        if not bhid:
            bhid = theano.shared(value=numpy.zeros(n_hidden, dtype=theano.config.floatX), name="b", borrow=True)
        bvis = theano.shared(value=numpy.zeros(n_visible, dtype=theano.config.floatX), borrow=True)
        self.W, self.b, self.b_prime, self.W_prime = W, bhid, bvis, W.T
        self.theano_rng = theano_rng
        self.x = T.dmatrix(name="input") if input is None else input
        self.params = [self.W, self.b, self.b_prime]

    def get_cost_updates(self, corruption_level, learning_rate):
        """The mean cross-entropy of the reconstruction, and a step of gradient descent."""
        kept = self.theano_rng.binomial(size=self.x.shape, n=1, p=1 - corruption_level, dtype=theano.config.floatX)
        y = T.nnet.sigmoid(T.dot(kept * self.x, self.W) + self.b)
        z = T.nnet.sigmoid(T.dot(y, self.W_prime) + self.b_prime)
        cost = T.mean(-T.sum(self.x * T.log(z) + (1 - self.x) * T.log(1 - z), axis=1))
        gparams = T.grad(cost, self.params)
        return cost, [(param, param - learning_rate * gparam) for param, gparam in zip(self.params, gparams)]


class SdA(object):  # noqa: UP004
    """Hidden layers that share their weights with autoencoders, and logistic regression upon them."""

    def __init__(self, numpy_rng, n_ins=64, hidden_layers_sizes=(40, 30), n_outs=10):
        self.sigmoid_layers, self.dA_layers, self.params = [], [], []
        theano_rng = RandomStreams(numpy_rng.randint(2**30))
        self.x, self.y = T.matrix("x"), T.ivector("y")
        layer_input, size = self.x, n_ins
        for n_hidden in hidden_layers_sizes:
            layer = HiddenLayer(numpy_rng, layer_input, size, n_hidden, activation=T.nnet.sigmoid)
            self.sigmoid_layers.append(layer)
            self.params.extend(layer.params)
            self.dA_layers.append(dA(numpy_rng, theano_rng, layer_input, size, n_hidden, W=layer.W, bhid=layer.b))
            layer_input, size = layer.output, n_hidden
        self.logLayer = LogisticRegression(layer_input, size, n_outs)
        self.params.extend(self.logLayer.params)
        self.finetune_cost = self.logLayer.negative_log_likelihood(self.y)
        self.errors = self.logLayer.errors(self.y)

    def pretraining_functions(self, train_set_x, batch_size):
        """A function of (index, corruption, lr) for each autoencoder; the last two have defaults."""
        index, corruption_level, learning_rate = T.lscalar("index"), T.scalar("corruption"), T.scalar("lr")
        window = slice(index * batch_size, (index + 1) * batch_size)
        found = []
        for layer in self.dA_layers:
            cost, updates = layer.get_cost_updates(corruption_level, learning_rate)
            inputs = [index, theano.In(corruption_level, value=0.2), theano.In(learning_rate, value=0.1)]
            found.append(theano.function(inputs, cost, updates=updates, givens={self.x: train_set_x[window]}))
        return found


def run(epochs=(3, 12), rate=0.5, batch=20, layers=(40, 30)):
    """Pretrain and finetune; returns the costs of the autoencoders, the losses and the share of errors."""
    (train_x, train_y), (test_x, test_y) = digits.shared()
    model = SdA(numpy.random.RandomState(89677), hidden_layers_sizes=layers)
    n_batches = train_x.get_value(borrow=True).shape[0] // batch
    costs = []
    for level, pretrain in zip((0.1, 0.2), model.pretraining_functions(train_x, batch)):
        epoch = lambda: float(numpy.mean([pretrain(index=i, corruption=level) for i in range(n_batches)]))  # noqa: B023, E731
        costs.append([epoch() for _ in range(epochs[0])])
    index = T.lscalar("index")
    window = slice(index * batch, (index + 1) * batch)
    updates = [(p, p - g * rate) for p, g in zip(model.params, T.grad(model.finetune_cost, model.params))]
    given = {model.x: train_x[window], model.y: train_y[window]}
    train = theano.function(inputs=[index], outputs=model.finetune_cost, updates=updates, givens=given, name="train")
    test = theano.function([], model.errors, givens={model.x: test_x, model.y: test_y}, name="test")
    losses = [float(numpy.mean([train(i) for i in range(n_batches)])) for _ in range(epochs[1])]
    return {"costs": costs, "losses": losses, "errors": float(test())}


if __name__ == "__main__":
    print(run())
