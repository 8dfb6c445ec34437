"""A recurrent network of LSTM units that says whether a sequence of words is of one kind or the other."""

from collections import OrderedDict

import numpy
import theano
from theano import tensor
from theano.sandbox.rng_mrg import MRG_RandomStreams as RandomStreams

floatX = theano.config.floatX  # noqa: N816


def numpy_floatX(data):
    return numpy.asarray(data, dtype=floatX)


def sentences(count, seed, words=30, longest=12):
    """Sequences of words; the label is the kind of the words, good (below 10) or bad (from 20 on), that prevail."""
    rng = numpy.random.RandomState(seed)
    lengths = rng.randint(4, longest + 1, count)
    x = numpy.zeros((longest, count), dtype="int64")
    for n, length in enumerate(lengths):
        x[:length, n] = rng.randint(1, words, length)
    mask = (numpy.arange(longest)[:, None] < lengths[None, :]).astype(floatX)
    good = ((x < 10) * mask).sum(axis=0)
    bad = ((x >= 20) * mask).sum(axis=0)
    return x, mask, (good > bad).astype("int64")


def init_params(words, dim, rng):
    """Normal recurrent weights, small embeddings."""
    square = lambda: (rng.randn(dim, dim) / numpy.sqrt(dim)).astype(floatX)  # noqa: E731
    params = OrderedDict()
    params["Wemb"] = (0.1 * rng.randn(words, dim)).astype(floatX)
    params["lstm_W"] = numpy.concatenate([square() for _ in range(4)], axis=1)
    params["lstm_U"] = numpy.concatenate([square() for _ in range(4)], axis=1)
    params["lstm_b"] = numpy.zeros((4 * dim,)).astype(floatX)
    params["U"] = (0.1 * rng.randn(dim, 2)).astype(floatX)
    params["b"] = numpy.zeros((2,)).astype(floatX)
    return OrderedDict((k, theano.shared(v, name=k)) for k, v in params.items())


def lstm_layer(tparams, state_below, dim, mask):
    """The hidden states, step after step; where the mask is 0 the state stays."""
    nsteps = state_below.shape[0]
    n_samples = state_below.shape[1] if state_below.ndim == 3 else 1

    def part(x, n):
        return x[:, n * dim : (n + 1) * dim]

    def step(m_, x_, h_, c_):
        preact = tensor.dot(h_, tparams["lstm_U"]) + x_
        i = tensor.nnet.sigmoid(part(preact, 0))
        f = tensor.nnet.sigmoid(part(preact, 1))
        o = tensor.nnet.sigmoid(part(preact, 2))
        c = tensor.tanh(part(preact, 3))
        c = f * c_ + i * c
        c = m_[:, None] * c + (1.0 - m_)[:, None] * c_
        h = o * tensor.tanh(c)
        h = m_[:, None] * h + (1.0 - m_)[:, None] * h_
        return h, c

    state_below = tensor.dot(state_below, tparams["lstm_W"]) + tparams["lstm_b"]
    zeros = [tensor.alloc(numpy_floatX(0.0), n_samples, dim) for _ in range(2)]
    rval, updates = theano.scan(step, sequences=[mask, state_below], outputs_info=zeros, name="lstm", n_steps=nsteps)
    assert not updates
    return rval[0]


def build_model(tparams, dim):
    """The symbolic model: inputs, the dropout switch, predictions and cost."""
    trng = RandomStreams(123)
    use_noise = theano.shared(numpy_floatX(0.0))
    x, mask = tensor.matrix("x", dtype="int64"), tensor.matrix("mask", dtype=floatX)
    y = tensor.vector("y", dtype="int64")
    emb = tparams["Wemb"][x.flatten()].reshape([x.shape[0], x.shape[1], dim])
    proj = lstm_layer(tparams, emb, dim, mask)
    proj = (proj * mask[:, :, None]).sum(axis=0) / mask.sum(axis=0)[:, None]
    kept = trng.binomial(proj.shape, p=0.5, n=1, dtype=proj.dtype)
    proj = tensor.switch(use_noise, proj * kept, proj * 0.5)
    pred = tensor.nnet.softmax(tensor.dot(proj, tparams["U"]) + tparams["b"])
    off = 1e-8
    cost = -tensor.log(pred[tensor.arange(x.shape[1]), y] + off).mean()
    return use_noise, x, mask, y, pred, cost


def adadelta(lr, tparams, grads, x, mask, y, cost):
    """The method of Zeiler: (a function that stores gradients and gives the cost, one that makes the step)."""
    keep = lambda name: [theano.shared(p.get_value() * numpy_floatX(0.0), name=f"{k}_{name}") for k, p in tparams.items()]  # noqa: E731, E501
    zipped, up2, rg2 = keep("grad"), keep("rup2"), keep("rgrad2")
    zgup = [(zg, g) for zg, g in zip(zipped, grads)]
    rg2up = [(r, 0.95 * r + 0.05 * (g**2)) for r, g in zip(rg2, grads)]
    f_grad_shared = theano.function([x, mask, y], cost, updates=zgup + rg2up, name="adadelta_f_grad_shared")
    updir = [-tensor.sqrt(u + 1e-6) / tensor.sqrt(r + 1e-6) * zg for zg, u, r in zip(zipped, up2, rg2)]
    ru2up = [(u, 0.95 * u + 0.05 * (d**2)) for u, d in zip(up2, updir)]
    param_up = [(p, p + d) for p, d in zip(tparams.values(), updir)]
    f_update = theano.function([lr], [], updates=ru2up + param_up, on_unused_input="ignore", name="adadelta_f_update")
    return f_grad_shared, f_update


def run(epochs=4, dim=12, batch=16, words=30, examples=400):
    """Train with dropout; returns the costs of the epochs and the share of errors on new sequences."""
    tparams = init_params(words, dim, numpy.random.RandomState(123))
    use_noise, x, mask, y, pred, cost = build_model(tparams, dim)
    f_pred = theano.function([x, mask], pred.argmax(axis=1), name="f_pred")
    cost = cost + 1e-4 * (tparams["U"] ** 2).sum()
    grads = tensor.grad(cost, wrt=list(tparams.values()))
    lr = tensor.scalar(name="lr")
    f_grad_shared, f_update = adadelta(lr, tparams, grads, x, mask, y, cost)
    data = sentences(examples, seed=1)
    costs = []
    for _ in range(epochs):
        use_noise.set_value(numpy_floatX(1.0))
        found = []
        for k in range(0, examples, batch):
            found.append(float(f_grad_shared(*(part[..., k : k + batch] for part in data))))
            f_update(0.01)
        costs.append(float(numpy.mean(found)))
    use_noise.set_value(numpy_floatX(0.0))
    test = sentences(200, seed=2)
    return {"costs": costs, "errors": float((f_pred(test[0], test[1]) != test[2]).mean())}


if __name__ == "__main__":
    print(run())
