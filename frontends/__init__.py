"""Front ends: models and programs of other systems as expressions of this one.

    onnx/    models in the ONNX format
    nnef/    models in the NNEF format
    pytensor/  graphs of PyTensor, by a mode of its own
    theano/  programs that were written for Theano
"""
