"""C text: how each scalar operation is written, the helpers, the printer of the loop IR."""
