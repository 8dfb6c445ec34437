"""C text: the C of each scalar operation, the helpers, the printer of the loop IR.

scalars           the C of operations by dtype; casts: of conversions; user_forms: of users' ops
emit              the printer; loop_forms: bodies of loops in forms that compilers vectorize
helper            a named piece of C; preamble: the pieces that a file needs, in order
helpers_exponential, helpers_logarithm, helpers_power, helpers_trigonometric, helpers_arcs, helpers_roots,
helpers_error, helpers_gamma, helpers_float, helpers_float16, helpers_integer, helpers_complex, helpers_random
                  the pieces that compute numbers
helpers_reduce, helpers_tile    the pieces that add sums of blocks up, and that copy parts of arrays
device            kernels in dialects of devices; device_parts: parts of loops there; device_products: products
"""
