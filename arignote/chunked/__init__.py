"""Functions over the blocks of Dask arrays.

Begin with chunked.py.
"""
