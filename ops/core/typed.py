"""The typed forms of inputs by name, `T.fvector`, `T.dmatrix`, `T.lscalar`, `T.ubtensor3`, ..., and Theano's plurals.

Each name is written out with its type, so that editors and type checkers know it; `variables.LETTERS` has the dtype of
each letter.
"""

from .variables import Constructor, Constructors, plural_form, typed_form

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

bscalar: Constructor = typed_form("b", "scalar")
bvector: Constructor = typed_form("b", "vector")
bmatrix: Constructor = typed_form("b", "matrix")
brow: Constructor = typed_form("b", "row")
bcol: Constructor = typed_form("b", "col")
btensor3: Constructor = typed_form("b", "tensor3")
btensor4: Constructor = typed_form("b", "tensor4")
btensor5: Constructor = typed_form("b", "tensor5")

wscalar: Constructor = typed_form("w", "scalar")
wvector: Constructor = typed_form("w", "vector")
wmatrix: Constructor = typed_form("w", "matrix")
wrow: Constructor = typed_form("w", "row")
wcol: Constructor = typed_form("w", "col")
wtensor3: Constructor = typed_form("w", "tensor3")
wtensor4: Constructor = typed_form("w", "tensor4")
wtensor5: Constructor = typed_form("w", "tensor5")

iscalar: Constructor = typed_form("i", "scalar")
ivector: Constructor = typed_form("i", "vector")
imatrix: Constructor = typed_form("i", "matrix")
irow: Constructor = typed_form("i", "row")
icol: Constructor = typed_form("i", "col")
itensor3: Constructor = typed_form("i", "tensor3")
itensor4: Constructor = typed_form("i", "tensor4")
itensor5: Constructor = typed_form("i", "tensor5")

lscalar: Constructor = typed_form("l", "scalar")
lvector: Constructor = typed_form("l", "vector")
lmatrix: Constructor = typed_form("l", "matrix")
lrow: Constructor = typed_form("l", "row")
lcol: Constructor = typed_form("l", "col")
ltensor3: Constructor = typed_form("l", "tensor3")
ltensor4: Constructor = typed_form("l", "tensor4")
ltensor5: Constructor = typed_form("l", "tensor5")

ubscalar: Constructor = typed_form("ub", "scalar")
ubvector: Constructor = typed_form("ub", "vector")
ubmatrix: Constructor = typed_form("ub", "matrix")
ubrow: Constructor = typed_form("ub", "row")
ubcol: Constructor = typed_form("ub", "col")
ubtensor3: Constructor = typed_form("ub", "tensor3")
ubtensor4: Constructor = typed_form("ub", "tensor4")
ubtensor5: Constructor = typed_form("ub", "tensor5")

uwscalar: Constructor = typed_form("uw", "scalar")
uwvector: Constructor = typed_form("uw", "vector")
uwmatrix: Constructor = typed_form("uw", "matrix")
uwrow: Constructor = typed_form("uw", "row")
uwcol: Constructor = typed_form("uw", "col")
uwtensor3: Constructor = typed_form("uw", "tensor3")
uwtensor4: Constructor = typed_form("uw", "tensor4")
uwtensor5: Constructor = typed_form("uw", "tensor5")

uiscalar: Constructor = typed_form("ui", "scalar")
uivector: Constructor = typed_form("ui", "vector")
uimatrix: Constructor = typed_form("ui", "matrix")
uirow: Constructor = typed_form("ui", "row")
uicol: Constructor = typed_form("ui", "col")
uitensor3: Constructor = typed_form("ui", "tensor3")
uitensor4: Constructor = typed_form("ui", "tensor4")
uitensor5: Constructor = typed_form("ui", "tensor5")

ulscalar: Constructor = typed_form("ul", "scalar")
ulvector: Constructor = typed_form("ul", "vector")
ulmatrix: Constructor = typed_form("ul", "matrix")
ulrow: Constructor = typed_form("ul", "row")
ulcol: Constructor = typed_form("ul", "col")
ultensor3: Constructor = typed_form("ul", "tensor3")
ultensor4: Constructor = typed_form("ul", "tensor4")
ultensor5: Constructor = typed_form("ul", "tensor5")

hscalar: Constructor = typed_form("h", "scalar")
hvector: Constructor = typed_form("h", "vector")
hmatrix: Constructor = typed_form("h", "matrix")
hrow: Constructor = typed_form("h", "row")
hcol: Constructor = typed_form("h", "col")
htensor3: Constructor = typed_form("h", "tensor3")
htensor4: Constructor = typed_form("h", "tensor4")
htensor5: Constructor = typed_form("h", "tensor5")

fscalar: Constructor = typed_form("f", "scalar")
fvector: Constructor = typed_form("f", "vector")
fmatrix: Constructor = typed_form("f", "matrix")
frow: Constructor = typed_form("f", "row")
fcol: Constructor = typed_form("f", "col")
ftensor3: Constructor = typed_form("f", "tensor3")
ftensor4: Constructor = typed_form("f", "tensor4")
ftensor5: Constructor = typed_form("f", "tensor5")

dscalar: Constructor = typed_form("d", "scalar")
dvector: Constructor = typed_form("d", "vector")
dmatrix: Constructor = typed_form("d", "matrix")
drow: Constructor = typed_form("d", "row")
dcol: Constructor = typed_form("d", "col")
dtensor3: Constructor = typed_form("d", "tensor3")
dtensor4: Constructor = typed_form("d", "tensor4")
dtensor5: Constructor = typed_form("d", "tensor5")

cscalar: Constructor = typed_form("c", "scalar")
cvector: Constructor = typed_form("c", "vector")
cmatrix: Constructor = typed_form("c", "matrix")
crow: Constructor = typed_form("c", "row")
ccol: Constructor = typed_form("c", "col")
ctensor3: Constructor = typed_form("c", "tensor3")
ctensor4: Constructor = typed_form("c", "tensor4")
ctensor5: Constructor = typed_form("c", "tensor5")

zscalar: Constructor = typed_form("z", "scalar")
zvector: Constructor = typed_form("z", "vector")
zmatrix: Constructor = typed_form("z", "matrix")
zrow: Constructor = typed_form("z", "row")
zcol: Constructor = typed_form("z", "col")
ztensor3: Constructor = typed_form("z", "tensor3")
ztensor4: Constructor = typed_form("z", "tensor4")
ztensor5: Constructor = typed_form("z", "tensor5")

boolscalar: Constructor = typed_form("bool", "scalar")
boolvector: Constructor = typed_form("bool", "vector")
boolmatrix: Constructor = typed_form("bool", "matrix")
boolrow: Constructor = typed_form("bool", "row")
boolcol: Constructor = typed_form("bool", "col")
booltensor3: Constructor = typed_form("bool", "tensor3")
booltensor4: Constructor = typed_form("bool", "tensor4")
booltensor5: Constructor = typed_form("bool", "tensor5")

scalars: Constructors = plural_form("", "scalar")
vectors: Constructors = plural_form("", "vector")
matrices: Constructors = plural_form("", "matrix")
rows: Constructors = plural_form("", "row")
cols: Constructors = plural_form("", "col")
tensor3s: Constructors = plural_form("", "tensor3")
tensor4s: Constructors = plural_form("", "tensor4")
tensor5s: Constructors = plural_form("", "tensor5")

fscalars: Constructors = plural_form("f", "scalar")
fvectors: Constructors = plural_form("f", "vector")
fmatrices: Constructors = plural_form("f", "matrix")
frows: Constructors = plural_form("f", "row")
fcols: Constructors = plural_form("f", "col")
ftensor3s: Constructors = plural_form("f", "tensor3")
ftensor4s: Constructors = plural_form("f", "tensor4")
ftensor5s: Constructors = plural_form("f", "tensor5")

dscalars: Constructors = plural_form("d", "scalar")
dvectors: Constructors = plural_form("d", "vector")
dmatrices: Constructors = plural_form("d", "matrix")
drows: Constructors = plural_form("d", "row")
dcols: Constructors = plural_form("d", "col")
dtensor3s: Constructors = plural_form("d", "tensor3")
dtensor4s: Constructors = plural_form("d", "tensor4")
dtensor5s: Constructors = plural_form("d", "tensor5")

iscalars: Constructors = plural_form("i", "scalar")
ivectors: Constructors = plural_form("i", "vector")
imatrices: Constructors = plural_form("i", "matrix")
irows: Constructors = plural_form("i", "row")
icols: Constructors = plural_form("i", "col")
itensor3s: Constructors = plural_form("i", "tensor3")
itensor4s: Constructors = plural_form("i", "tensor4")
itensor5s: Constructors = plural_form("i", "tensor5")

lscalars: Constructors = plural_form("l", "scalar")
lvectors: Constructors = plural_form("l", "vector")
lmatrices: Constructors = plural_form("l", "matrix")
lrows: Constructors = plural_form("l", "row")
lcols: Constructors = plural_form("l", "col")
ltensor3s: Constructors = plural_form("l", "tensor3")
ltensor4s: Constructors = plural_form("l", "tensor4")
ltensor5s: Constructors = plural_form("l", "tensor5")
