"""The typed forms of inputs by name, `T.fvector`, `T.dmatrix`, `T.lscalar`, `T.ubtensor3`, ..., and Theano's plurals.

Each name is written out, so that editors and type checkers know it; `variables.LETTERS` says which dtype a letter
stands for.
"""

from .variables import plural_forms, typed_forms

__all__ = [
    "bcol", "bmatrix", "boolcol", "boolmatrix", "boolrow", "boolscalar", "booltensor3", "booltensor4", "booltensor5",
    "boolvector", "brow", "bscalar", "btensor3", "btensor4", "btensor5", "bvector", "ccol", "cmatrix", "cols", "crow",
    "cscalar", "ctensor3", "ctensor4", "ctensor5", "cvector", "dcol", "dcols", "dmatrices", "dmatrix", "drow", "drows",
    "dscalar", "dscalars", "dtensor3", "dtensor3s", "dtensor4", "dtensor4s", "dtensor5", "dtensor5s", "dvector",
    "dvectors", "fcol", "fcols", "fmatrices", "fmatrix", "frow", "frows", "fscalar", "fscalars", "ftensor3",
    "ftensor3s", "ftensor4", "ftensor4s", "ftensor5", "ftensor5s", "fvector", "fvectors", "hcol", "hmatrix", "hrow",
    "hscalar", "htensor3", "htensor4", "htensor5", "hvector", "icol", "icols", "imatrices", "imatrix", "irow", "irows",
    "iscalar", "iscalars", "itensor3", "itensor3s", "itensor4", "itensor4s", "itensor5", "itensor5s", "ivector",
    "ivectors", "lcol", "lcols", "lmatrices", "lmatrix", "lrow", "lrows", "lscalar", "lscalars", "ltensor3",
    "ltensor3s", "ltensor4", "ltensor4s", "ltensor5", "ltensor5s", "lvector", "lvectors", "matrices", "rows", "scalars",
    "tensor3s", "tensor4s", "tensor5s", "ubcol", "ubmatrix", "ubrow", "ubscalar", "ubtensor3", "ubtensor4", "ubtensor5",
    "ubvector", "uicol", "uimatrix", "uirow", "uiscalar", "uitensor3", "uitensor4", "uitensor5", "uivector", "ulcol",
    "ulmatrix", "ulrow", "ulscalar", "ultensor3", "ultensor4", "ultensor5", "ulvector", "uwcol", "uwmatrix", "uwrow",
    "uwscalar", "uwtensor3", "uwtensor4", "uwtensor5", "uwvector", "vectors", "wcol", "wmatrix", "wrow", "wscalar",
    "wtensor3", "wtensor4", "wtensor5", "wvector", "zcol", "zmatrix", "zrow", "zscalar", "ztensor3", "ztensor4",
    "ztensor5", "zvector",
]  # fmt: skip

bscalar, bvector, bmatrix, brow, bcol, btensor3, btensor4, btensor5 = typed_forms("b")
wscalar, wvector, wmatrix, wrow, wcol, wtensor3, wtensor4, wtensor5 = typed_forms("w")
iscalar, ivector, imatrix, irow, icol, itensor3, itensor4, itensor5 = typed_forms("i")
lscalar, lvector, lmatrix, lrow, lcol, ltensor3, ltensor4, ltensor5 = typed_forms("l")
ubscalar, ubvector, ubmatrix, ubrow, ubcol, ubtensor3, ubtensor4, ubtensor5 = typed_forms("ub")
uwscalar, uwvector, uwmatrix, uwrow, uwcol, uwtensor3, uwtensor4, uwtensor5 = typed_forms("uw")
uiscalar, uivector, uimatrix, uirow, uicol, uitensor3, uitensor4, uitensor5 = typed_forms("ui")
ulscalar, ulvector, ulmatrix, ulrow, ulcol, ultensor3, ultensor4, ultensor5 = typed_forms("ul")
hscalar, hvector, hmatrix, hrow, hcol, htensor3, htensor4, htensor5 = typed_forms("h")
fscalar, fvector, fmatrix, frow, fcol, ftensor3, ftensor4, ftensor5 = typed_forms("f")
dscalar, dvector, dmatrix, drow, dcol, dtensor3, dtensor4, dtensor5 = typed_forms("d")
cscalar, cvector, cmatrix, crow, ccol, ctensor3, ctensor4, ctensor5 = typed_forms("c")
zscalar, zvector, zmatrix, zrow, zcol, ztensor3, ztensor4, ztensor5 = typed_forms("z")
boolscalar, boolvector, boolmatrix, boolrow, boolcol, booltensor3, booltensor4, booltensor5 = typed_forms("bool")

scalars, vectors, matrices, rows, cols, tensor3s, tensor4s, tensor5s = plural_forms()
fscalars, fvectors, fmatrices, frows, fcols, ftensor3s, ftensor4s, ftensor5s = plural_forms("f")
dscalars, dvectors, dmatrices, drows, dcols, dtensor3s, dtensor4s, dtensor5s = plural_forms("d")
iscalars, ivectors, imatrices, irows, icols, itensor3s, itensor4s, itensor5s = plural_forms("i")
lscalars, lvectors, lmatrices, lrows, lcols, ltensor3s, ltensor4s, ltensor5s = plural_forms("l")
