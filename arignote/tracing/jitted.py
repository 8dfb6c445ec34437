"""`ag.jit`: the decorator form of `function`; traces once for each combination of dtypes, ranks and static values."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from ..function.compilation import FunctionOptions
from ..function.compiled import NATIVE_AFTER, Function
from ..graph.provenance import SourceLine
from ..notices import notice
from ..ops.core.checks import shown
from ..ops.core.namespace import no_attribute
from ..ops.core.tracing import comparing, outside
from ..record import lazy
from ..record.cached import cached_property
from ..record.forks import ProcessLock
from ..record.frames import OWN
from ..record.spelling import counted
from ..tree import Form
from .arguments import Arguments, static
from .integers import LARGE
from .scopes import Scope
from .traces import Traced, arrays_of, same_objects, signature_of, traced
from .views import read_again
from .writing import Chosen, Writing

divided: Any = lazy.module("..divided", __name__)
entries: Any = lazy.module("..entries", __name__)

if TYPE_CHECKING:
    from typing_extensions import Unpack


def jit(
    python_function: Callable[..., Any] | None = None, *, static_argnames: str | Iterable[str] = (),
    static_argnums: int | Iterable[int] = (), strict: bool = True,
    donate: str | int | Iterable[str | int] = (), write_back: bool = True, **options: Unpack[FunctionOptions],
) -> Any:  # fmt: skip
    """Compile the expression of a function: `@ag.jit` or `@ag.jit(mode=..., static_argnames="axis")`.

    Arguments are arrays and numbers, also in nested lists, tuples and dicts; the result has the form that the Python
    function gives it.  The first call for a combination of dtypes and ranks traces the function with symbolic
    variables and compiles it; other lengths use the same code, unless the function asks for a length: `len(x)`, a
    branch on `x.shape`.  Python numbers take the dtype that arrays decide, as in NumPy.

    None, bool, text and whatever else can be hashed is static: the function is traced for each value.  Attributes of
    objects, such as those of `self`, and global variables are read at each call: arrays are arguments, other values
    are static, and a number that often changes becomes an argument.  Attributes that the function assigns are assigned
    after each call.

    In the traced function `==` is elementwise, `x.shape` is a tuple of the lengths of the call, and a comparison of
    elements has no truth value.  With variables as arguments the function builds an expression.

    Args:
        static_argnames: names of arguments that are static though they are numbers, such as an axis.
        static_argnums: the same by position.
        strict: False: a statement that cannot be traced, or that has effects such as printing, runs in Python, and
            the rest is compiled in parts.  The result has `.parts` and `.python_lines`.
        donate: names or positions of arguments whose memory a call may overwrite: a result of the dtype, rank and
            lengths of such an array may be that array.  What its elements are after the call is not specified.
        write_back: False: arrays that the function writes to stay as they are, and a call returns the pair of the
            result and a dict: the name of each written array, and its elements at the end.
        options: the keywords of `ag.function`.

    The result has `.traces`: the compiled functions by what they were traced for.

    Raises TypeError for an option or an argument name that does not exist, and for what is no function.
    """
    known = FunctionOptions.__annotations__
    for name in options:
        if name not in known:
            raise TypeError(f"jit: no option is called {name!r}; expected one of {', '.join(known)}")
    chosen: dict[str, Any] = {
        "static_argnames": static_argnames, "static_argnums": static_argnums, "strict": strict, "donate": donate,
        "write_back": write_back, **options,
    }  # fmt: skip
    if not strict and not write_back:
        raise TypeError("jit: write_back=False needs strict=True: statements that run in Python write to the arrays")
    if python_function is None:
        return lambda f: jit(f, **chosen)
    if isinstance(python_function, (classmethod, staticmethod)):
        return type(python_function)(jit(python_function.__func__, **chosen))
    if isinstance(python_function, MethodType):
        return MethodType(jit(python_function.__func__, **chosen), python_function.__self__)
    if isinstance(python_function, property):
        raise TypeError("jit: got a property; write @property above @ag.jit")
    if not callable(python_function):
        raise TypeError(f"jit: expected a function of arrays, got {shown(python_function)}")
    call = inspect.getattr_static(type(python_function), "__call__", None)
    if isinstance(call, FunctionType) and not isinstance(python_function, Jitted):
        return MethodType(jit(call, **chosen), python_function)  # an object that can be called: its attributes change
    kind = Jitted if strict else divided.Divided
    several = (donate,) if isinstance(donate, (str, int)) else tuple(donate)
    names, numbers = [d for d in several if isinstance(d, str)], [d for d in several if not isinstance(d, str)]
    donated = _names_of(python_function, names, numbers, "donate", "donate")
    static_ones = _names_of(python_function, static_argnames, static_argnums, "static_argnames", "static_argnums")
    return kind(python_function, static_ones, options, writing=Writing(donated, write_back))


def _names_of(
    f: Callable[..., Any], names: str | Iterable[str], numbers: int | Iterable[int], by_names: str, by_numbers: str
) -> Chosen:
    """Return the arguments that options choose.  Raises TypeError for one that the function does not have."""
    by_name = (names,) if isinstance(names, str) else tuple(names)
    by_number = (numbers,) if isinstance(numbers, int) else tuple(numbers)
    if not by_name and not by_number:
        return Chosen()
    parameters = list(inspect.signature(f).parameters.values())
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_any = {p.kind for p in parameters}
    unknown = [n for n in by_name if n not in (p.name for p in parameters)]
    if unknown and inspect.Parameter.VAR_KEYWORD not in takes_any:
        expected = ", ".join(p.name for p in parameters)
        raise TypeError(f"jit: {by_names}: {_name(f)} has no argument {unknown[0]!r}; expected one of {expected}")
    for n in by_number:
        if not -len(positional) <= n < len(positional) and inspect.Parameter.VAR_POSITIONAL not in takes_any:
            raise TypeError(f"jit: {by_numbers}: {_name(f)} has no argument {n}; it has {len(positional)}")
    places = {n + len(positional) if n < 0 else n for n in by_number}
    chosen = {*by_name, *(positional[n] for n in places if n < len(positional))}
    places |= {positional.index(n) for n in chosen if n in positional}
    return Chosen(frozenset(chosen), frozenset(places))


def _name(f: Any) -> str:
    return str(getattr(f, "__name__", type(f).__name__))


class Entered:
    """Base of callable objects: Python finds the function that makes the calls of one without a frame of its own."""

    __slots__ = ("_entry",)
    _entry: Callable[..., Any]


class Jitted(Entered):
    """The result of `jit`: callable as the function it wraps, also as a method of a class."""

    __call__ = Entered._entry  # type: ignore[misc]
    stands_for: Any = None
    """The user's function of which this one computes a derivative or the like."""

    def __init__(
        self, python_function: Callable[..., Any], chosen: Chosen, options: FunctionOptions, keeps: bool = False,
        writing: Writing | None = None,
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, python_function)
        self._function = python_function
        self._scope = Scope(python_function)
        self._static = chosen if chosen.names or chosen.numbers else None
        self._given = options
        self._writing = writing
        self._keeps = keeps
        """Whether results are what Python would have: the arrays that were given, Python numbers, other values."""
        self._options: dict[str, Any] = {"name": _name(python_function), "on_unused_input": "ignore", **options}
        self._lock = ProcessLock()
        self._found: dict[Any, tuple[Traced, ...]] = {}
        self._entries: dict[int, Any] = {}
        """By identity of a trace its native entry, None if it can have none, or the calls until it gets one."""
        self._entry = self._call

    @property
    def traces(self) -> dict[Any, Traced]:
        """The compiled functions, by structure, dtypes and ranks of the arguments and the guards of the trace."""
        return {(*key, t.guards, t.readings): t for key, several in self._found.items() for t in several}

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        """Make any call; the trace that serves it makes the next ones natively, if it can."""
        try:
            found = self._traced(args, kwargs)
        except OverflowError:  # of an integer that is larger than those of C, or of the function itself
            if self._is_own():
                raise
            return self._in_python(args, kwargs)
        if found is None:
            with comparing() as trace:
                return (trace.inlined or _unchanged)(self._scope)(*args, **kwargs)
        made, values, objects = found
        if made.catches:
            result = self._caught(made, values, objects, args, kwargs)
        else:
            result = made.result(values, objects)
        entry = self._entries.get(id(made), NATIVE_AFTER)
        if entry is not None:
            self._enter(made, entry, args)
        return result

    def compiled(self, *args: Any, **kwargs: Any) -> Function:
        """Return the compiled function that serves a call with these arguments: its graph, C, profiles and remarks.

        Nothing is computed; a call of new dtypes or ranks is traced and compiled.  Without arguments: the only one so
        far.

        Raises ValueError without arguments if there are several, TypeError for symbolic arguments.
        """
        made = list(self.traces.values())
        if args or kwargs or not made:
            return self._serving(args, kwargs)[0].function
        if len(made) > 1:
            kinds = " and ".join(f"({', '.join(str(v.type) for v in t.function.inputs)})" for t in made)
            raise ValueError(f"{self._options['name']}: give arguments; there are functions of {kinds}")
        return made[0].function

    def __getattr__(self, name: str) -> Any:
        raise no_attribute(self, name, "JITTED")

    def trace_of(self, args: Sequence[Any]) -> tuple[Traced, list[Any]]:
        """Return the trace that serves a call with these arguments, and the arrays that its function takes.

        Raises TypeError for symbolic arguments, and for integers that do not fit 64 bits.
        """
        return self._serving(tuple(args), {})

    def _serving(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Traced, list[Any]]:
        try:
            found = self._traced(args, kwargs)
        except OverflowError:
            raise TypeError(f"{self._options['name']}: a call with these integers runs in Python") from None
        if found is None:
            raise TypeError(f"{self._options['name']}: expected arrays and numbers, got symbolic arguments")
        return found[:2]

    def exchange(self, made: Traced, function: Function) -> None:
        """Let another compiled function with the same results serve the calls of a trace."""
        with self._lock:
            key, several = next((k, v) for k, v in self._found.items() if made in v)
            self._found[key] = tuple(t._replace(function=function) if t is made else t for t in several)
            self._entries.pop(id(made), None)
            self._entry = self._call

    def _enter(self, made: Traced, entry: Any, args: tuple[Any, ...]) -> None:
        """Use the native entry of a trace from now on; build it after some calls."""
        if type(entry) is int:
            key, several = next((k, v) for k, v in self._found.items() if made in v)
            entry = entry - 1 or entries.native(made, several[: several.index(made)], key[0], args, self._call)
            self._entries[id(made)] = entry
        if entry is not None and type(entry) is not int:
            self._entry = entry

    def _is_own(self) -> bool:
        """Whether the function is one of this library, such as a gradient, or has no code in Python."""
        code = getattr(self._function, "__code__", None)
        return code is None or OWN[code.co_filename]

    def _in_python(self, args: Any, kwargs: Any) -> Any:
        """Return the result of a call with an integer that does not fit 64 bits."""
        found = self._function(*args, **kwargs)
        notice(f"{self._options['name']}: the call ran in Python, since {LARGE}")
        return found

    def _caught(self, made: Traced, values: Any, objects: Any, args: Any, kwargs: Any) -> Any:
        """Return the result of a call of a function that catches errors: in Python, if the compiled one raises one."""
        try:
            return made.result(values, objects)
        except Exception as error:
            handler = next((c for c in made.catches if c.catches(error)), None)
            if handler is None or self._is_own():
                raise
            kind = type(error).__name__
            caught = f"{handler.line} catches {kind}, which a compiled function cannot; test before, as by `if`"
            reason = handler.reason or caught
            if not handler.raises:
                notice(f"{self._options['name']}: the call ran in Python, since {reason}")
        return self._function(*args, **kwargs)

    def _traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Traced, list[Any], list[Any]] | None:
        """Return the trace that serves a call, its arrays and objects; None for symbolic arguments."""
        arguments = Arguments()
        try:
            structure = self._read(arguments, args, kwargs)
        except TypeError as error:
            raise TypeError(f"{self._options['name']}: {error}") from None
        if arguments.symbolic:
            return None
        arrays = arrays_of(arguments.leaves)
        key = structure, signature_of(arrays)
        found = self._lookup(key, arrays, arguments)
        if found is None:
            with self._lock, outside():
                found = self._lookup(key, arrays, arguments) or self._new(key, structure, arguments)
        return (*found, arguments.objects)

    def _read(self, arguments: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Form:
        chosen = self._static
        if chosen is None:
            return arguments.read_call(args, kwargs)
        several = [static(a) if n in chosen.numbers else arguments.read(a) for n, a in enumerate(args)]
        named = [(k, static(v) if k in chosen.names else arguments.read(v)) for k, v in kwargs.items()]
        return tuple, ((tuple, tuple(several)), (dict, tuple(named)))

    def _lookup(self, key: Any, arrays: list[Any], arguments: Arguments) -> tuple[Traced, list[Any]] | None:
        """Return the trace that serves a call, and the arrays that it takes; None if there is none so far."""
        for trace in self._found.get(key, ()):
            values = arrays if not trace.readings else _with_attributes(trace, arrays, arguments)
            if values is not None and (trace.holds is None or trace.holds(values)) and (
                not trace.stores or trace.same == same_objects(values)
            ):
                return trace, values
        return None

    def _new(self, key: Any, structure: Form, arguments: Arguments) -> tuple[Traced, list[Any]]:
        known = self._found.get(key, ())
        found = traced(self._scope, self._options, structure, arguments, known, self._keeps, self._writing)
        self._found[key] = (*known, found)
        return found, arrays_of(arguments.leaves)

    # --- as a method, in pickles, in copies
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        name = getattr(self._function, "__qualname__", "")
        plain = self._plain if name and _named(self.__module__, name) is self else self._function
        return _restored, (plain, self._static or Chosen(), self._given, type(self), self._writing)

    @cached_property
    def _plain(self) -> Any:
        """The function under a name by which pickle finds it: the decorator has taken its own."""
        f = self._function
        plain = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)  # type: ignore[attr-defined]
        functools.update_wrapper(plain, f)
        del plain.__wrapped__  # type: ignore[attr-defined]
        plain.__kwdefaults__ = f.__kwdefaults__  # type: ignore[attr-defined]
        plain.__qualname__ = f.__qualname__ + _PLAIN
        return plain

    def __copy__(self) -> Jitted:
        return self

    def __deepcopy__(self, memo: Any) -> Jitted:
        return self

    def __repr__(self) -> str:
        code = getattr(self.stands_for or self._function, "__code__", None)
        at = f" at {SourceLine(code.co_filename, code.co_firstlineno)}" if code is not None else ""
        return f"<jitted {self._options['name']}{at}, {counted(len(self.traces), 'trace')}>"



_PLAIN = "._plain"


def _named(module: str | None, name: str) -> Any:
    """Return what a module calls by a dotted name; None if there is no such name."""
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _unchanged(scope: Scope) -> Any:
    return scope.function


def _restored(
    f: Any, chosen: Chosen, options: FunctionOptions, kind: type[Jitted] | None = None, writing: Writing | None = None
) -> Jitted:
    """Return the jitted function of this process that has the name of the pickled one, or a new one."""
    name = getattr(f, "__qualname__", "")
    if name.endswith(_PLAIN):
        known = _named(f.__module__, name.removesuffix(_PLAIN))
        if isinstance(known, Jitted) and known._plain is f:
            return known
        f.__qualname__ = name.removesuffix(_PLAIN)
    return (kind or Jitted)(f, chosen, options, writing=writing)


def _with_attributes(trace: Traced, arrays: list[Any], arguments: Arguments) -> list[Any] | None:
    """Return the arrays of a call and of the attributes that a trace reads; None if these are of another structure."""
    leaves, objects = len(arguments.leaves), len(arguments.objects)
    if read_again(trace.readings, arguments):
        attributes = arrays_of(arguments.leaves[leaves:])
        if signature_of(attributes) == trace.signature:
            return [*arrays, *attributes]
    arguments.forget(leaves, objects)
    return None
