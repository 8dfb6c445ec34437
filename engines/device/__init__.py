"""Engines of devices: kernels on a device, all other nodes on the host.

dialects/    what a kind of device adds, such as OpenCL and CUDA: one file each
base.py      the interface of devices, which a dialect implements
memory.py    arrays in device buffers, or in host memory
launches.py  kernels of elementwise nodes, reductions and rows
products.py  matrix products and convolutions
vector_products.py  matrix-vector products, on a device that runs chunks of loops
moves.py     joins, writes into slices, gathers, scatters, pooling
segments.py  scatters whose items are sorted by place
call.py      one call: launches, and the recorder of a tape
program.py   the steps of a graph: launches, views, loops, host nodes
values.py    the values of variables in a call, on the host and on the device
run.py       the interpreter of steps
loops.py     loops whose steps run on the device
tape.py      recorded launches, replayed over other arrays
lists.py     small launches of a tape as one launch
replay.py    repeated calls: replayed launches, or NumPy for all nodes
buffer_replay.py  repeated calls on a device with memory of its own
engine.py    the base of these engines, and the executable
rows.py      the run profile of a function
resident.py  shared variables whose values stay on the device
"""
