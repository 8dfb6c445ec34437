"""The C file of a program: kernels, the driver that runs the steps, and the lines that belong to each node."""
