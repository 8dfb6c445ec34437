"""The division of a graph among engines: each node on the engine that makes the whole cheapest, copies included.

    divided(graph, prices)  -->  outputs with `region` nodes, and the profile; or the reason why there is no division

divide.py      `divided`, which the pass `partition` asks for
prices.py      `Prices`, what a division has to know of its engines
placement.py   `Placement`, the prices of the engines of one function: estimates, and what was measured here
times.py       measured times of nodes on engines, in the cache
problem.py     `Division`, the problem of a graph, and the costs of its assignments
assignment.py  labels of nodes by minimum cuts
min_cut.py     maximum flows (Dinic)
regions.py     convex groups of nodes of one engine, each as one `region` node
"""
