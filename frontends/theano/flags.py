"""`theano.config`: flags by name, read from THEANO_FLAGS, each mapped onto this package, accepted or refused."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager
from typing import Any

from ...record.frames import warn
from ...record.spelling import meant

MAPPED = {
    "floatX": ("float64", ("float64", "float32", "float16")),
    "cast_policy": ("custom", ("custom", "numpy+floatX")),
    "int_division": ("int", ("int", "floatX", "raise")),
    "mode": ("Mode", None),
    "optimizer": ("fast_run", ("fast_run", "fast_compile", "o4", "o3", "o2", "o1", "merge", "unsafe", "None")),
    "optimizer_including": ("", None),
    "optimizer_excluding": ("", None),
    "optimizer_requiring": ("", None),
    "linker": ("cvm", None),
    "compute_test_value": ("off", ("off", "ignore", "warn", "raise", "pdb")),
    "on_unused_input": ("raise", ("raise", "warn", "ignore")),
    "profile": (False, None),
    "warn_float64": ("ignore", ("ignore", "warn", "raise", "pdb")),
    "unittests.rseed": ("666", None),
}
"""Flags that change what this front end does: (default, values)."""
ACCEPTED = {
    "device": "cpu", "base_compiledir": "", "compiledir": "", "gcc.cxxflags": "", "gcc.cxxflags.extra": "",
    "cxx": "g++",
    "blas.ldflags": "", "openmp": False, "openmp_elemwise_minsize": 200000, "exception_verbosity": "low",
    "allow_gc": True, "on_opt_error": "warn", "on_shape_error": "warn", "optimizer_verbose": False,
    "traceback.limit": 8,
    "traceback.compile_limit": 0, "compile.timeout": None, "compile.wait": 5, "profile_memory": False,
    "profile_optimizer": False, "profiling.time_thunks": True, "profiling.n_ops": 20, "profiling.n_apply": 20,
    "profiling.destination": "stderr", "DebugMode.patience": 10, "DebugMode.check_c": True, "DebugMode.check_py": True,
    "DebugMode.check_finite": True, "DebugMode.check_strides": 0, "DebugMode.warn_input_not_reused": True,
    "NanGuardMode.nan_is_error": True, "NanGuardMode.inf_is_error": True, "NanGuardMode.big_is_error": True,
    "reoptimize_unpickled_function": False, "deterministic": "default", "warn.ignore_bug_before": "0.9",
    "warn.round": False, "warn.sum_div_dimshuffle_bug": False, "warn.subtensor_merge_bug": False,
    "print_active_device": True, "print_test_value": False, "print_global_stats": False, "scan.allow_gc": False,
    "scan.allow_output_prealloc": True, "scan.debug": False, "nvcc.fastmath": False, "nvcc.flags": "",
    "dnn.enabled": "auto", "dnn.conv.algo_fwd": "small", "dnn.conv.algo_bwd": "none", "lib.cnmem": 0.0,
    "lib.amdlibm": False, "gpuarray.preallocate": -1.0, "force_device": False, "init_gpu_device": "", "ctx": "",
    "contexts": "", "enable_initial_driver_test": True, "experimental.unpickle_gpu_on_cpu": False,
    "experimental.local_alloc_elemwise": False, "numpy.seterr_all": "ignore", "numpy.seterr_divide": "None",
    "sensitive": False, "pickle_test_value": True, "assert_no_cpu_op": "ignore", "check_input": True,
    "cycle_detection": "regular", "floatX_old": "", "inplace_limit": 0, "max_err_msg_len": 0, "mpi.timeout": 0,
    "tensor.cmp_sloppy": 0, "tensor.insert_inplace_optimizer_validate_nb": -1, "tensor.local_elemwise_fusion": True,
    "unpickle_function": True, "vm.lazy": None, "warn_on_float64": "ignore", "gpuelemwise.sync": True,
    "metaopt.verbose": 0, "conv.assert_shape": False, "nocleanup": False, "cmodule.mac_framework_link": False,
    "cmodule.warn_no_version": False, "cmodule.remove_gxx_opt": False, "cmodule.preload_cache": False,
}  # fmt: skip
"""Flags without effect: there is no GPU, and compilation has options of its own (docs/options.md)."""
_GROUPS = {name.partition(".")[0] for name in (*MAPPED, *ACCEPTED) if "." in name}
_warned: set[str] = set()


def warn_once(name: str, message: str) -> None:
    """Warn of something that has no effect, once for each name."""
    if name not in _warned:
        _warned.add(name)
        warn(message)


class Flags:
    """The flags whose names begin with a prefix; those of `config` itself have none."""

    def __init__(self, prefix: str = "", values: dict[str, Any] | None = None) -> None:
        self.__dict__["_prefix"] = prefix
        self.__dict__["_values"] = {} if values is None else values

    def __getattr__(self, name: str) -> Any:
        full = self._prefix + name
        if full in self._values:
            return self._values[full]
        if full in MAPPED:
            return MAPPED[full][0]
        if full in ACCEPTED:
            return ACCEPTED[full]
        if full in _GROUPS:
            return Flags(full + ".", self._values)
        raise AttributeError(_unknown(full))

    def __setattr__(self, name: str, value: Any) -> None:
        full = self._prefix + name
        if full not in MAPPED and full not in ACCEPTED:
            raise AttributeError(_unknown(full))
        self._values[full] = _checked(full, value)

    def __repr__(self) -> str:
        return "\n".join(f"{name} = {getattr(self, name)!r}" for name in (*MAPPED, *ACCEPTED) if "." not in name)

    @contextmanager
    def change_flags(self, **flags: Any) -> Iterator[None]:
        """Other values of flags inside the block; `gcc__cxxflags` spells `gcc.cxxflags`."""
        with change_flags(**flags):
            yield


def _unknown(name: str) -> str:
    return f"theano.config has no flag {name!r}{meant(name, (*MAPPED, *ACCEPTED))}"


def _checked(name: str, value: Any) -> Any:
    """The value of a flag.  Raises ValueError if there is no such value; warns once where it has no effect."""
    if name in ACCEPTED:
        default = ACCEPTED[name]
        if isinstance(default, bool) and isinstance(value, str):
            value = value.lower() in ("true", "1", "yes")
        if name == "device" and value != "cpu":
            warn_once("device", f"theano.config.device = {value!r} has no effect: functions run on the processor")
            return "cpu"
        return value
    values: Any = MAPPED[name][1]
    if name in ("optimizer", "profile") and value in (None, "True", "False"):
        value = "None" if value is None else value == "True"
    if values is not None and value not in values:
        raise ValueError(f"theano.config.{name} is {value!r}; expected one of {', '.join(map(repr, values))}")
    return value


config = Flags()


class change_flags(ContextDecorator):  # noqa: N801  # Theano's name
    """A block, or a decorated function, in which flags have other values."""

    def __init__(self, *given: Any, **flags: Any) -> None:
        every = {**dict(pair for part in given for pair in part.items()), **flags}
        self.flags: dict[str, Any] = {name.replace("__", "."): value for name, value in every.items()}

    def __enter__(self) -> None:
        self.before: dict[Any, Any] = dict(config._values)
        for name, value in self.flags.items():
            _assign(name, value)

    def __exit__(self, *error: object) -> None:
        config._values.clear()
        config._values.update(self.before)

    def __call__(self, function: Callable[..., Any]) -> Any:
        return super().__call__(function)


def _assign(name: str, value: Any) -> None:
    if name not in MAPPED and name not in ACCEPTED:
        raise AttributeError(_unknown(name))
    config._values[name] = _checked(name, value)


def read_flags(text: str) -> None:
    """Set the flags of a text as THEANO_FLAGS has it: `floatX=float32,mode=FAST_COMPILE`."""
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        if name and (name in MAPPED or name in ACCEPTED):
            _assign(name, value)
        elif name:
            warn_once(f"THEANO_FLAGS.{name}", f"THEANO_FLAGS: {_unknown(name)}")


read_flags(os.environ.get("THEANO_FLAGS", ""))
