"""Networks in integers, numbers of few bits, weights stored in 16 bits.

Begin with byte_sums.py.
"""
