"""Engines of devices: kernels on a device, all other nodes on the host.

Begin with schedule.py: from a graph to its program (cbackend/program/) with the place of each node.

dialects/    what a kind of device adds, such as OpenCL and CUDA: one file each
base.py      the interface of devices, which a dialect implements
engine.py    the base of these engines, and the executable

schedule.py  the program of a graph, with a kernel of the device for each node that has one
values.py    the integers and the memory of a call, on the host and on the device
run.py       the interpreter of the steps of a program
loops.py     loops whose steps run on the device
memory.py    arrays in device buffers, or in host memory
resident.py  shared variables whose values stay on the device

launches.py  kernels of elementwise nodes, reductions and rows
groups.py    reductions and passes over rows by groups of work items
products.py  matrix products and convolutions
vector_products.py  matrix-vector products, as sums of products
moves.py     copies; joins, writes into slices, gathers, scatters, pooling
segments.py  scatters whose items are sorted by place

call.py      one call: launches, and the recorder of a tape
tape.py      recorded launches, replayed over other arrays; small ones as one launch
replay.py    repeated calls: replayed launches, or NumPy for all nodes
buffer_replay.py  repeated calls on a device with memory of its own
rows.py      the run profile of a function
"""
