"""C text: the C of each scalar operation, the helpers, the printer of the loop IR."""
