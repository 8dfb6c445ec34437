"""The modules of Theano: their names, and `install`, which lets programs import them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ...optdb import Query
from ...record.spelling import meant
from .flags import change_flags, config
from .graphs import gradients, graphs, kinds, loops, op_classes, optimizers, user_ops
from .networks import abstract_convs, ctc, nnet, normalization, old_windows, windows
from .refusals import ABSENT, REFUSED, WHOLE, refused
from .running import functions, modes, monitors, mrg, streams, texts
from .running import shared_values as shared_variables
from .stored import names as sparse_names
from .stored import typed_lists
from .tensors import dtypes, fourier, methods, products, shapes, special_functions, tensors, variables
from .tensors import types as tensor_types
from .tensors.elementwise import FUNCTIONS
from .tensors.indexing import EXTRA


class Namespace(ModuleType):
    """A module of Theano.  A name that does not exist says which is near."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in REFUSED:
            return REFUSED[name]
        if self.__name__ in WHOLE:
            return refused(name, WHOLE[self.__name__])
        for table in () if self.__name__ in ("theano", "theano.tensor") else (BASIC, GOF, COMPILE, GRADIENT):
            if name in table:  # the files of Theano import one another's names
                return table[name]
        hint = meant(name, self.__dict__) or "; docs/theano.md lists the names that exist"
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{hint}")


def _names(module: Any, *names: str) -> dict[str, Any]:
    """Names of one of our files, all public ones that it defines if none are given."""
    if names:
        return {name: getattr(module, name) for name in names}
    return {
        name: value for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    }  # fmt: skip


GRAPH = _names(graphs)
OPS = _names(
    user_ops, "Op", "MethodNotDefined", "grad_undefined", "grad_not_implemented", "DisconnectedType"
) | {"PureOp": user_ops.Op}
OPTIMIZERS = {
    **_names(optimizers, "local_optimizer", "PatternSub", "OpSub", "OpRemove", "LocalOptimizer", "optdb"),
    **dict.fromkeys(
        ("TopoOptimizer", "EquilibriumOptimizer", "SeqOptimizer", "LocalOptGroup", "in2out", "out2in",
         "NavigatorOptimizer", "OpKeyOptimizer"),
        optimizers.several,
    ),
    **{f"register_{group}": optimizers.register_into(group) for group in
       ("canonicalize", "stabilize", "specialize", "uncanonicalize")},
    "Query": Query,
}  # fmt: skip
GOF = {
    **OPS, **OPTIMIZERS,
    **_names(variables, "Apply", "Variable"), "Constant": variables.Constant,
    **_names(tensor_types, "Type", "Generic", "generic"), "FunctionGraph": functions.FunctionGraph,
    "MissingInputError": functions.MissingInputError, "InconsistencyError": op_classes.InconsistencyError,
}  # fmt: skip
GRADIENT = {
    **_names(gradients), **OPS, "consider_constant": tensors.consider_constant,
    "consider_constant_": tensors.consider_constant, "zero_grad_": gradients.zero_grad,
    "disconnected_grad_": gradients.disconnected_grad, "undefined_grad_": gradients.undefined_grad,
    **op_classes.GRADIENT_OPS,
    "NullType": user_ops.NullGradient, "disconnected_type": user_ops.DisconnectedType(),
    "null_type": user_ops.NullGradient("no derivative"), "FAST_RUN": modes.NAMES["FAST_RUN"],
}  # fmt: skip
SHARED = {**_names(shared_variables), "TensorSharedVariable": shared_variables.TensorSharedVariable}
BASIC = {
    **kinds.KINDS, **OPS,
    **FUNCTIONS, **special_functions.SPECIAL, **methods.constructors(), **_names(tensors),
    "_tensor_py_operators": variables.TensorOperators,
    **_names(variables, "AsTensorError", "TensorVariable", "TensorConstant", "Variable", "Apply", "as_tensor_variable",
             "constant"),
    "as_tensor": variables.as_tensor_variable, "TensorType": tensor_types.TensorType, "Type": tensor_types.Type,
    "Tensor": tensor_types.TensorType, "Constant": variables.Constant, "mgrid": shapes.mgrid,
    "ogrid": shapes.ogrid, "div_proxy": FUNCTIONS["true_div"],
    **{name: getattr(gradients, name) for name in ("grad", "jacobian", "hessian", "Lop", "Rop", "verify_grad")},
    "numeric_grad": gradients.numeric_grad,
    **tensors.TOLERANCES, **{name: [methods.constructors()[t] for t in ts] for name, ts in tensors.TYPES.items()},
    "config": config, "generic": tensor_types.generic, "Generic": tensor_types.Generic,
    **dict.fromkeys(("advanced_subtensor1", "advanced_boolean_subtensor"), tensors.advanced_subtensor),
    **dict.fromkeys(("advanced_set_subtensor1", "advanced_boolean_set_subtensor"), tensors.advanced_set_subtensor),
    **dict.fromkeys(("advanced_inc_subtensor1", "advanced_boolean_inc_subtensor"), tensors.advanced_inc_subtensor),
    "all_dtypes": dtypes.ALL, "float_dtypes": dtypes.FLOATS, "int_dtypes": dtypes.INTEGERS,
    "integer_dtypes": (*dtypes.INTEGERS, *dtypes.UNSIGNED), "uint_dtypes": dtypes.UNSIGNED,
    "discrete_dtypes": dtypes.DISCRETE, "continuous_dtypes": dtypes.CONTINUOUS, "complex_dtypes": dtypes.COMPLEX,
    **op_classes.HELPERS, "pprint": texts.pp, "min_informative_str": texts.min_informative_str,
}  # fmt: skip
POOLS = _names(windows, "pool_2d", "pool_3d", "max_pool_2d", "max_pool_2d_same_size")
CONVOLUTIONS = _names(
    windows, "conv2d", "conv3d", "conv2d_grad_wrt_inputs", "conv2d_grad_wrt_weights", "conv2d_transpose",
    "separable_conv2d",
)  # fmt: skip
COMPILE = {
    **_names(functions, "Function", "In", "Out", "SymbolicInput", "SymbolicOutput", "function", "UnusedInputError"),
    **_names(modes, "Mode", "DebugMode", "get_mode", "get_default_mode", "predefined_modes"),
    **_names(monitors, "NanGuardMode", "MonitorMode"),
    "ViewOp": op_classes.ViewOp, "shared": shared_variables.shared, "SharedVariable": shared_variables.SharedVariable,
    "shared_constructor": shared_variables.shared_constructor, "optdb": optimizers.optdb,
    **_names(user_ops, "as_op", "OpFromGraph"), "Param": functions.Param, "pfunc": functions.function,
    "orig_function": functions.function,
}  # fmt: skip
PRINTING = {
    **_names(texts, "debugprint", "pp", "Print", "pydotprint", "pydotprint_variables", "min_informative_str"),
    "pprint": texts.pp,
}  # fmt: skip
SCAN = _names(loops, "scan", "map", "reduce", "foldl", "foldr", "scan_checkpoints", "until") | {"clone": graphs.clone}
TOP = {
    **COMPILE, **GOF, **SCAN, "Param": functions.Param, "config": config, "change_flags": change_flags,
    **_names(gradients, "grad", "Lop", "Rop", "subgraph_grad"), **_names(texts, "pp"), "dot": FUNCTIONS["dot"],
    **{name: op_classes.HELPERS[name] for name in (
        "disable_log_handler", "has_handlers", "theano_logger", "logging_default_handler", "logging_default_formatter",
        "object2")},
    "pprint": texts.pp, "OrderedUpdates": loops.OrderedUpdates, "version": "1.0.5",
    "sparse_grad": sparse_names.sparse_grad, "get_scalar_constant_value": tensors.get_scalar_constant_value,
}  # fmt: skip
MODULES: dict[str, dict[str, Any]] = {
    "theano": TOP,
    "theano.tensor": BASIC | CONVOLUTIONS | {"nnet": None},
    "theano.tensor.basic": BASIC,
    "theano.tensor.elemwise": kinds.KINDS,
    "theano.tensor.opt": OPTIMIZERS | _names(tensors, "Assert") | {"assert_op": tensors.assert_op},
    "theano.tensor.extra_ops": EXTRA,
    "theano.tensor.inplace": {f"{name}_inplace": f for name, f in FUNCTIONS.items()},
    "theano.tensor.nlinalg": products.NLINALG,
    "theano.tensor.slinalg": products.SLINALG,
    "theano.tensor.sharedvar": SHARED,
    "theano.tensor.subtensor": _names(tensors) | {n: FUNCTIONS[n] for n in ("set_subtensor", "inc_subtensor", "take")},
    "theano.tensor.type": {"TensorType": tensor_types.TensorType},
    "theano.tensor.var": {
        **_names(variables, "TensorVariable", "TensorConstant"), "_tensor_py_operators": variables.TensorOperators,
    },
    "theano.tensor.sort": {n: FUNCTIONS[n] for n in ("sort", "argsort", "topk", "argtopk", "topk_and_argtopk")},
    "theano.sparse": sparse_names.SPARSE,
    "theano.sparse.basic": sparse_names.SPARSE,
    "theano.sparse.type": sparse_names.SPARSE,
    "theano.sparse.sharedvar": sparse_names.SPARSE,
    "theano.tensor.fft": fourier.FOURIER,
    "theano.tensor.xlogx": {n: FUNCTIONS[n] for n in ("xlogx", "xlogy0")},
    "theano.tensor.nnet": kinds.KINDS | nnet.NNET | op_classes.NNET_OPS | CONVOLUTIONS | normalization.BATCHES,
    "theano.tensor.nnet.bn": normalization.BATCHES,
    "theano.tensor.nnet.neighbours": {
        "images2neibs": normalization.images2neibs, "neibs2images": old_windows.neibs2images,
    },
    "theano.tensor.nnet.blocksparse": old_windows.BLOCKS,
    "theano.tensor.nnet.conv3d2d": {"conv3d": old_windows.conv3d2d},
    "theano.tensor.nnet.nnet": kinds.KINDS | nnet.NNET | op_classes.NNET_OPS,
    "theano.tensor.nnet.sigm": {n: nnet.NNET[n] for n in ("sigmoid", "hard_sigmoid", "ultra_fast_sigmoid", "softplus")},
    "theano.typed_list": typed_lists.LISTS,
    "theano.typed_list.basic": typed_lists.LISTS,
    "theano.typed_list.type": typed_lists.LISTS,
    "theano.tensor.nnet.ctc": ctc.CTC,
    "theano.tensor.nnet.conv": CONVOLUTIONS,
    "theano.tensor.nnet.abstract_conv": {
        **kinds.KINDS, **CONVOLUTIONS, **normalization.CONVOLUTIONS, **abstract_convs.CLASSES,
    },
    "theano.tensor.signal": {},
    "theano.tensor.signal.conv": {"conv2d": old_windows.signal_conv2d},
    "theano.tensor.signal.pool": POOLS,
    "theano.tensor.signal.downsample": POOLS,
    "theano.gradient": GRADIENT,
    "theano.ifelse": {"ifelse": loops.ifelse},
    "theano.printing": PRINTING,
    "theano.scan_module": SCAN,
    "theano.scan_module.scan_utils": {
        "until": loops.until, **_names(graphs, "clone", "equal_computations"),
    },
    "theano.updates": {"OrderedUpdates": loops.OrderedUpdates},
    "theano.compile": COMPILE,
    "theano.compile.function": {n: COMPILE[n] for n in ("function", "pfunc", "orig_function")},
    "theano.compile.pfunc": {n: COMPILE[n] for n in ("pfunc", "Param", "In", "Out", "shared")},
    "theano.compile.ops": _names(user_ops, "as_op") | {"ViewOp": op_classes.ViewOp},
    "theano.compile.builders": _names(user_ops, "OpFromGraph"),
    "theano.compile.function_module": COMPILE | _names(functions, "MissingInputError"),
    "theano.compile.mode": COMPILE,
    "theano.compile.sharedvalue": SHARED,
    "theano.compile.io": COMPILE,
    "theano.compile.debugmode": {"DebugMode": modes.DebugMode},
    "theano.compile.nanguardmode": {"NanGuardMode": monitors.NanGuardMode},
    "theano.compile.monitormode": {"MonitorMode": monitors.MonitorMode},
    "theano.gof": GOF,
    "theano.gof.graph": GRAPH | GOF,
    "theano.gof.fg": {"FunctionGraph": functions.FunctionGraph, "MissingInputError": functions.MissingInputError},
    "theano.gof.type": GOF,
    "theano.gof.op": OPS,
    "theano.gof.opt": OPTIMIZERS,
    "theano.gof.null_type": {"NullType": user_ops.NullGradient},
    "theano.gof.utils": {"MethodNotDefined": user_ops.MethodNotDefined, "hashtype": hash},
    "theano.configparser": {"change_flags": change_flags},
    "theano.scalar": {"upcast": dtypes.upcast},
    "theano.sandbox": {},
    "theano.sandbox.rng_mrg": _names(mrg) | {"RandomStreams": mrg.MRG_RandomStreams, "M1": mrg.M1, "M2": mrg.M2},
    "theano.tensor.shared_randomstreams": _names(streams, "RandomStreams", "RandomStateSharedVariable"),
    "theano.tensor.raw_random": _names(streams, "Draw"),
}
"""Each module and its names."""
MODULES.update({name: dict.fromkeys(ABSENT.get(name, ()), False) for name in WHOLE})
MODULES["theano.gpuarray.dnn"] = MODULES["theano.sandbox.cuda.dnn"] = {
    "dnn_available": lambda *_: False, "dnn_present": lambda: False
}  # fmt: skip


def _build(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Namespace]:
    """The modules, each an attribute of its parent unless the parent has another attribute of that name."""
    made = {}
    for full, names in tables.items():
        module = made[full] = Namespace(full)
        module.__dict__.update({name: value for name, value in names.items() if value is not None})
        module.__dict__.update(__path__=[], __file__=__file__, __package__=full)
        outer, _, name = full.rpartition(".")
        if outer:
            made[outer].__dict__.setdefault(name, module)
    made["theano.tensor"].__dict__.update(nnet=made["theano.tensor.nnet"])
    return made


modules = _build(MODULES)


def install() -> None:
    """Let `import theano`, `import theano.tensor as T` and the like give these modules in this process.

    Raises RuntimeError if another Theano is imported already.
    """
    there = sys.modules.get("theano")
    if there is not None and there is not modules["theano"]:
        raise RuntimeError(
            "theano is imported already, from "
            f"{getattr(there, '__file__', 'somewhere')}; call install() before the first import of it"
        )
    sys.modules.update(modules)
