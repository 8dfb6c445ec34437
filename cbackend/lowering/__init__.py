"""From nodes to loop nests: elementwise groups, reductions, argmax and argmin, row operations.

lower             from a node to its kernel; describe: the comment above it; splitting: its parallel chunks
group, nest       the computation of a node; its loop nest under construction
lower_columns, lower_cumulative, lower_indexing, lower_planes, lower_pool, lower_position, lower_reduce, lower_rows,
lower_short_rows, lower_trees    the loop nests of each kind of node
accumulate        accumulators of each reduction; blocks: sums of blocks; multiple_accumulators: those of an extremum
column_tiles      columns that share an innermost loop; fold: neighbouring loops as one; arrange: applies a schedule
tiles, strips     strided operands pass through copies
lanes             reductions as arrays of accumulators, for OpenCL C
far_arguments     sines of near arguments first, for OpenCL C
work_items        kernels of one element a work item, and reductions by groups of items; work_rows: passes over rows
groups            the mapping of a reduction to groups of work items
"""
