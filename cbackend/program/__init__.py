"""From a graph to a program: the steps of a driver, each of which launches a kernel or moves data.

program, outcome, names, text, parse, parse_operands, verify    the program as a value, its text, its verifier
calls, intrinsics                            kernels of the runtime that programs call, and their effects
plan, planner, choices, launches             planners by class of op, their workbench, schedules, forms of launches
plan_kernels, plan_views, plan_host          ops that are one kernel, ops that move no data, ops without C
plan_creation, plan_assembly, plan_indexing, plan_order    new arrays, joins, gathers and scatters, order "K"
plan_blas, plan_epilogue, prepared            products, epilogues, calls that lack a result
windows                                      views and numbers of windows
plan_trees                                   decision trees
plan_block_layout                            copies of channels into blocks and out of them
plan_matrices                                diagonals, triangles
plan_loops, plan_pipeline                    loops and branches, pipelines of stencils
buffers, late, accounts                      lifetimes of buffers, checks before updates, counts for profiles
"""
