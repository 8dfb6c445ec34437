"""Front ends: models and programs of other systems as expressions of this one.

    onnx/    models in the ONNX format
    nnef/    models in the NNEF format
    pytensor/  graphs of PyTensor, by a mode of its own
    sympy/  expressions of SymPy
    theano/  programs that were written for Theano
    torch/  programs of PyTorch; torch_modules.py: `ag.from_torch`, which loads them when it is called
"""
