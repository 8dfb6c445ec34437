"""From a graph to a program: the steps of a driver, each of which launches a kernel or moves data.

Begin with program.py, the program as a value, then plan.py, which applies the planner of each op to make one.

    program, outcome, calls      steps and arrays; outcomes of a call; calls of kernels of the runtime
    plan, planner, prepared      traversal of the graph, the object that planners emit steps by, calls without a result
    planners/                    a module per kind of op: from a node to its steps
    choices, launches            schedules of kernels, forms of their launches
    buffers, late, accounts      lifetimes of buffers, checks before updates, counts for profiles
    verify, arithmetic           the verifier; integers of a program in Python, for engines that interpret it
    text/                        the text form of a program: printer and parser
"""
