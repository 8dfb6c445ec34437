"""A restricted Boltzmann machine trained by persistent contrastive divergence, its chain a scan."""

import digits
import numpy
import theano
import theano.tensor as T
from theano.sandbox.rng_mrg import MRG_RandomStreams as RandomStreams


class RBM(object):  # noqa: UP004  # as programs of that time write it
    """Binary visible and hidden units; p(v, h) is proportional to exp(v'W h + v'a + h'b)."""

    def __init__(self, input, n_visible, n_hidden, numpy_rng, theano_rng):
        self.n_visible = n_visible
        bound = 4 * numpy.sqrt(6.0 / (n_hidden + n_visible))
        values = numpy.asarray(numpy_rng.uniform(-bound, bound, (n_visible, n_hidden)), dtype=theano.config.floatX)
        self.W = theano.shared(value=values, name="W", borrow=True)
        zeros = lambda n: numpy.zeros(n, dtype=theano.config.floatX)  # noqa: E731
        self.hbias = theano.shared(value=zeros(n_hidden), name="hbias", borrow=True)
        self.vbias = theano.shared(value=zeros(n_visible), name="vbias", borrow=True)
        self.input, self.theano_rng = input, theano_rng
        self.params = [self.W, self.hbias, self.vbias]

    def free_energy(self, v):
        """-log of the sum of p over all hidden states, up to a constant."""
        return -T.dot(v, self.vbias) - T.sum(T.log(1 + T.exp(T.dot(v, self.W) + self.hbias)), axis=1)

    def sample_h_given_v(self, v):
        """Activation, mean and a sample of the hidden units."""
        pre = T.dot(v, self.W) + self.hbias
        mean = T.nnet.sigmoid(pre)
        return [pre, mean, self.theano_rng.binomial(size=mean.shape, n=1, p=mean, dtype=theano.config.floatX)]

    def sample_v_given_h(self, h):
        """Activation, mean and a sample of the visible units."""
        pre = T.dot(h, self.W.T) + self.vbias
        mean = T.nnet.sigmoid(pre)
        return [pre, mean, self.theano_rng.binomial(size=mean.shape, n=1, p=mean, dtype=theano.config.floatX)]

    def gibbs_hvh(self, h):
        """A step of Gibbs sampling that begins with the hidden units."""
        pre_v, v_mean, v = self.sample_v_given_h(h)
        pre_h, h_mean, h = self.sample_h_given_v(v)
        return [pre_v, v_mean, v, pre_h, h_mean, h]

    def get_cost_updates(self, lr, persistent, k):
        """The pseudo-likelihood, and the updates of k steps of persistent contrastive divergence."""
        (outputs, updates) = theano.scan(
            self.gibbs_hvh, outputs_info=[None, None, None, None, None, persistent], n_steps=k, name="gibbs_hvh"
        )
        chain_end = outputs[2][-1]
        cost = T.mean(self.free_energy(self.input)) - T.mean(self.free_energy(chain_end))
        gparams = T.grad(cost, self.params, consider_constant=[chain_end])
        for gparam, param in zip(gparams, self.params):
            updates[param] = param - gparam * T.cast(lr, dtype=theano.config.floatX)
        updates[persistent] = outputs[5][-1]
        return self.pseudo_likelihood(updates), updates

    def pseudo_likelihood(self, updates):
        """n log p(v_i | the other bits), i going round from call to call."""
        bit = theano.shared(value=0, name="bit")
        xi = T.round(self.input)
        flipped = T.set_subtensor(xi[:, bit], 1 - xi[:, bit])
        difference = self.free_energy(flipped) - self.free_energy(xi)
        updates[bit] = (bit + 1) % self.n_visible
        return T.mean(self.n_visible * T.log(T.nnet.sigmoid(difference)))


def run(epochs=6, rate=0.1, batch=20, n_hidden=40, k=3, chains=20):
    """Train; returns the mean pseudo-likelihoods of the epochs and samples of the chain."""
    (train_x, _), _ = digits.shared()
    rng = numpy.random.RandomState(123)
    theano_rng = RandomStreams(rng.randint(2**30))
    index, x = T.lscalar(), T.matrix("x")
    persistent = theano.shared(numpy.zeros((batch, n_hidden), dtype=theano.config.floatX), borrow=True)
    rbm = RBM(x, 64, n_hidden, rng, theano_rng)
    cost, updates = rbm.get_cost_updates(lr=rate, persistent=persistent, k=k)
    window = slice(index * batch, (index + 1) * batch)
    train = theano.function([index], cost, updates=updates, givens={x: train_x[window]}, name="train_rbm")
    n_batches = train_x.get_value(borrow=True).shape[0] // batch
    costs = [float(numpy.mean([train(i) for i in range(n_batches)])) for _ in range(epochs)]
    start = theano.shared(numpy.zeros((chains, n_hidden), dtype=theano.config.floatX))
    (_, means, _, _, _, hidden), moved = theano.scan(rbm.gibbs_hvh, outputs_info=[None] * 5 + [start], n_steps=20)
    moved.update({start: hidden[-1]})
    sample = theano.function([], means[-1], updates=moved, name="sample")
    return {"costs": costs, "samples": [sample() for _ in range(2)]}


if __name__ == "__main__":
    found = run()
    print(found["costs"], found["samples"][0].mean(), found["samples"][1].mean())
