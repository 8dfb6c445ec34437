"""From nodes to loop nests: elementwise groups, reductions, positions, rows."""
