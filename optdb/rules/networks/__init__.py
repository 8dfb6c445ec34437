"""Rules on networks: softmax, normalization, pools, attention.

Begin with softmax.py.
"""
