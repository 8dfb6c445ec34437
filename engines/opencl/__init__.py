"""The OpenCL engine: kernels on a device, all other nodes on the host.

base.py      a device, which OpenCL and CUDA implement
device.py    the device of OpenCL, its queue and compiled kernels; the errors that name a remedy
memory.py    arrays in buffers of the device, or in the host's memory
launches.py  kernels of elementwise nodes, reductions and rows
products.py  products of matrices and convolutions
vector_products.py  products with a vector, on a device that runs parts of loops
moves.py     joins, writes into parts, gathers, scatters, pooling
call.py      one call: launches, and the recorder of a tape
program.py   a graph as steps: launches, views, loops, host nodes
values.py    the values of variables in a call, on the host and on the device
run.py       runs steps
loops.py     loops whose steps run on the device
tape.py      recorded launches that run again over other arrays
lists.py     small launches of a tape as one launch
replay.py    calls like earlier ones: their launches again, or all in NumPy
engine.py    the engine and its executable
rows.py      the run profile of a function
resident.py  shared variables whose value lies on the device
"""
