"""C text: the C of each scalar operation, the helpers, the printer of the loop IR.

emit.py             C text from loop IR
loop_forms.py       bodies of loops in forms that compilers vectorize
scalars.py          the table of scalar operations, and casts.py that of conversions
preamble.py         the head of a file: types, and the helpers that are used
helper.py           a helper, and the C types of dtypes
helpers.py          the helpers, read from functions/*.h: C that compiles as it stands
polynomials.py      the polynomials in them, spelled out
vector_forms.py     vector forms of sin, cos, tan and fmod, made for each instruction set
half_forms.py       conversions of float16 by instructions that gcc does not find for loops
user_forms.py       elementwise ops from outside the package
device.py           kernels of work items in the language of a dialect
device_groups.py    kernels whose groups of work items reduce, or pass over rows
device_parts.py     kernels of the C backend, of which a work item runs a part
device_lists.py     the function of a work item, and the kernel of a list of launches
device_products.py  products of matrices on processors as devices
device_tiles.py     products of matrices on devices with local memory
device_scatter.py   scatters on devices

In functions/: elementary functions (arcs, error, exponential, gamma, logarithm, power, roots, trigonometric), functions
of dtypes (complex, float, float16, integer), and copies, random, reduce, tile.  f32.h and f64.h are the constants of a
float.
"""
