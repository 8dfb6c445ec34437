"""Multi-class logistic regression by stochastic gradient descent on minibatches that lie in shared variables."""

import digits
import numpy as np
import theano
import theano.tensor as T


class LogisticRegression:
    """P(class | x) = softmax(x W + b)."""

    def __init__(self, x, n_in, n_out):
        zeros = np.zeros((n_in, n_out), dtype=theano.config.floatX)
        self.W = theano.shared(value=zeros, name="W", borrow=True)
        self.b = theano.shared(value=np.zeros((n_out,), dtype=theano.config.floatX), name="b", borrow=True)
        self.p_y_given_x = T.nnet.softmax(T.dot(x, self.W) + self.b)
        self.y_pred = T.argmax(self.p_y_given_x, axis=1)
        self.params = [self.W, self.b]

    def negative_log_likelihood(self, y):
        """The mean over the minibatch of -log P(y | x)."""
        return -T.mean(T.log(self.p_y_given_x)[T.arange(y.shape[0]), y])

    def errors(self, y):
        """The share of wrong labels."""
        if y.ndim != self.y_pred.ndim:
            raise TypeError("y should have the same shape as self.y_pred", ("y", y.type, "y_pred", self.y_pred.type))
        if not y.dtype.startswith("int"):
            raise NotImplementedError()
        return T.mean(T.neq(self.y_pred, y))


def run(epochs=10, rate=0.5, batch=60):
    """Train; returns the losses of the epochs and the share of errors on the test set."""
    (train_x, train_y), (test_x, test_y) = digits.shared()
    n_batches = train_x.get_value(borrow=True).shape[0] // batch
    index = T.lscalar()
    x, y = T.matrix("x"), T.ivector("y")
    classifier = LogisticRegression(x=x, n_in=64, n_out=10)
    cost = classifier.negative_log_likelihood(y)
    test = theano.function([], classifier.errors(y), givens={x: test_x, y: test_y})
    g_W = T.grad(cost=cost, wrt=classifier.W)
    g_b = T.grad(cost=cost, wrt=classifier.b)
    updates = [(classifier.W, classifier.W - rate * g_W), (classifier.b, classifier.b - rate * g_b)]
    train = theano.function(
        inputs=[index],
        outputs=cost,
        updates=updates,
        givens={
            x: train_x[index * batch : (index + 1) * batch],
            y: train_y[index * batch : (index + 1) * batch],
        },
    )
    losses = [float(np.mean([train(i) for i in range(n_batches)])) for _ in range(epochs)]
    return {"losses": losses, "errors": float(test())}


if __name__ == "__main__":
    print(run())
