"""NumPy's main namespace and the array API standard besides ops: dtypes, constants, conversions, the namespace itself.

Begin with dtypes.py; info.py is what `x.__array_namespace__().__array_namespace_info__()` returns.
Source of the standard: https://data-apis.org/array-api/2025.12.
"""
