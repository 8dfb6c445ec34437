"""Hybrid Monte Carlo: samples of a Gaussian by simulated motion, with an adapted step size."""

import numpy
import theano
from theano import config, function, shared
from theano import tensor as TT
from theano.tensor.shared_randomstreams import RandomStreams


def hamiltonian(pos, vel, energy_fn):
    """Potential and kinetic energy of each particle."""
    return energy_fn(pos) + 0.5 * (vel**2).sum(axis=1)


def leapfrog(pos, vel, stepsize, n_steps, energy_fn):
    """Positions and velocities after the steps."""

    def half(x):
        return x / numpy.array(2.0, dtype=config.floatX)

    def step(pos, vel, stepsize):
        vel = vel - stepsize * TT.grad(energy_fn(pos).sum(), pos)
        return [pos + stepsize * vel, vel], {}

    vel_half = vel - half(stepsize) * TT.grad(energy_fn(pos).sum(), pos)
    pos_full = pos + stepsize * vel_half
    (all_pos, all_vel), updates = theano.scan(
        step,
        outputs_info=[dict(initial=pos_full), dict(initial=vel_half)],  # noqa: C408
        non_sequences=[stepsize],
        n_steps=n_steps - 1,
    )
    final_pos, final_vel = all_pos[-1], all_vel[-1]
    energy = energy_fn(final_pos)
    return final_pos, final_vel - half(stepsize) * TT.grad(energy.sum(), final_pos), updates


class HMC_sampler(object):  # noqa: N801, UP004  # as programs of that time write it
    """Chains whose step size follows the rate of acceptance."""

    def __init__(self, positions, energy_fn, initial_stepsize=0.1, target=0.9, n_steps=10, seed=12345):
        self.positions = shared(numpy.asarray(positions, dtype=config.floatX))
        stepsize = shared(numpy.asarray(initial_stepsize, dtype=config.floatX), "hmc_stepsize")
        average = shared(numpy.asarray(target, dtype=config.floatX), "avg_acceptance_rate")
        rng = RandomStreams(seed)
        vel = rng.normal(size=self.positions.shape)
        final_pos, final_vel, moved = leapfrog(self.positions, vel, stepsize, n_steps, energy_fn)
        difference = hamiltonian(self.positions, vel, energy_fn) - hamiltonian(final_pos, final_vel, energy_fn)
        accept = (TT.exp(difference) - rng.uniform(size=difference.shape)) >= 0
        mask = accept.dimshuffle(0, *(("x",) * (final_pos.ndim - 1)))
        new_average = TT.add(0.9 * average, 0.1 * accept.mean(dtype=config.floatX))
        grown = TT.switch(average > target, stepsize * 1.02, stepsize * 0.98)
        updates = list(moved.items()) + [  # noqa: RUF005
            (self.positions, TT.switch(mask, final_pos, self.positions)),
            (stepsize, TT.clip(grown, 0.001, 0.25)),
            (average, new_average),
        ]
        self.stepsize, self.average = stepsize, average
        self.simulate = function([], [], updates=updates)

    def draw(self):
        """The positions after another step."""
        self.simulate()
        return self.positions.get_value(borrow=False)


def run(chains=100, dim=5, burnin=100, samples=200):
    """Sample; returns errors of the mean and the covariance, the step size and the rate of acceptance."""
    rng = numpy.random.RandomState(123)
    mu = numpy.array(rng.rand(dim) * 10, dtype=config.floatX)
    a = numpy.array(rng.rand(dim, dim), dtype=config.floatX)
    cov = (a + a.T) / 2.0
    cov[numpy.arange(dim), numpy.arange(dim)] = dim / 2.0
    inverse = numpy.linalg.inv(cov).astype(config.floatX)

    def gaussian_energy(x):
        return 0.5 * (TT.dot((x - mu), inverse) * (x - mu)).sum(axis=1)

    sampler = HMC_sampler(rng.randn(chains, dim).astype(config.floatX), gaussian_energy, initial_stepsize=1e-2)
    for _ in range(burnin):
        sampler.draw()
    found = numpy.asarray([sampler.draw() for _ in range(samples)]).reshape(-1, dim)
    return {
        "mean error": float(abs(found.mean(axis=0) - mu).max()),
        "covariance error": float(abs(numpy.cov(found.T) - cov).max()),
        "stepsize": float(sampler.stepsize.get_value()),
        "acceptance": float(sampler.average.get_value()),
    }


if __name__ == "__main__":
    print(run())
