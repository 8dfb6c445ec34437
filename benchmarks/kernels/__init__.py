"""Single operations: products, convolutions, sums, sorts, elementary functions, and the bandwidth of memory."""
