"""Networks: convolutions, pools, the softmax family, losses, numbers of few bits.

Begin with functions.py, which is `T.nn`; convolution.py and pooling.py hold the ops.
"""
