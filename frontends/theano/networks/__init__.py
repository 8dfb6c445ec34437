"""`theano.tensor.nnet` and `theano.tensor.signal`: activations, convolutions, pools.

Begin with nnet.py.
"""
