"""Engines beside the C backend: several engines in one graph, GPUs, WebAssembly, Dask."""
