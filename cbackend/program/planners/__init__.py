"""Planners: a module per kind of op turns a node into steps of the program; `PLANNERS` of a module says for which ops.

Begin with kernels.py: an op that is one kernel.  Ops that move no data are in views.py, ops without C in host.py;
`load_planners` of plan.py collects the tables.  Ops with a kernel of the runtime have theirs in the kernel's folder.
"""
