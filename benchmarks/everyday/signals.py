"""Spectra, convolutions and tables of one-dimensional data."""

import numpy

from .program import double, program, single


@program(lambda r: ((r.random((256, 256)) - 0.5) * 3).astype("complex64"))
def complex_poly(np, z):
    return np.abs(z**3 - 1) / np.abs(3 * z**2 + 1e-6)


@program(single(65536))
def power_spectrum(np, x):
    f = np.fft.rfft(x)
    return f.real**2 + f.imag**2


@program(single(2000), single(64))
def convolve(np, x, k):
    return np.convolve(x, k, "same")


@program(double(100000), lambda r: numpy.sort(r.standard_normal(1000)), double(1000))
def interp(np, x, a, b):
    return np.interp(x, a, b)


@program(single(256, 256), single(256, 256))
def fft2_filter(np, x, h):
    return np.fft.ifft2(np.fft.fft2(x) * np.fft.fft2(h)).real


@program(double(100000))
def polynomial(np, x):
    return 1 + x * (2 + x * (3 + x * (4 + x * (5 + x * 6))))


@program(single(1024))
def hann_decibels(np, x):
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(1024) / 1024)
    return 20 * np.log10(np.abs(np.fft.rfft(x * window)) + 1e-6)


@program(double(1000))
def autocorrelation(np, x):
    f = np.fft.rfft(x - x.mean(), 2000)
    r = np.fft.irfft(f * np.conj(f), 2000)[:1000]
    return r / r[0]


@program(single(100000))
def zero_crossings(np, x):
    return (np.diff(np.sign(x)) != 0).sum()
