"""`theano.gof.graph`, `theano.clone`: walks over expressions, copies of them, comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ....graph import Constant, rebuild
from ....ops.core.shared import SharedVariable as CoreShared
from ..tensors.dtypes import autocast
from ..tensors.variables import TensorConstant, Variable, as_tensor_variable, lower, wrap, wrapped


def as_list(value: Any) -> list[Any]:
    """Return a list or tuple as a list; any other value as its only element."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def ancestors(variable_list: Iterable[Any], blockers: Iterable[Any] | None = None) -> list[Any]:
    """The given values and all values they depend on; `blockers` stop the traversal."""
    stops, found = set(blockers or ()), {}  # type: set[Any], dict[Any, None]
    waiting = list(variable_list)  # the last one first, as Theano goes
    while waiting:
        v = waiting.pop()
        if v in found:
            continue
        found[v] = None
        if v.owner is not None and v not in stops:
            waiting += [i for i in reversed(v.owner.inputs) if i not in found]
    return list(found)


def inputs(variable_list: Iterable[Any], blockers: Iterable[Any] | None = None) -> list[Any]:
    """The leaves that values are computed from, constants included."""
    stops = set(blockers or ())
    return [v for v in ancestors(variable_list, stops) if v.owner is None or v in stops]


def variables(i: Iterable[Any], o: Iterable[Any]) -> list[Any]:
    """All values between inputs and outputs."""
    return ancestors(o, blockers=i)


def ops(i: Iterable[Any], o: Iterable[Any]) -> set[Any]:
    """All nodes between inputs and outputs."""
    stops = set(i)
    return {v.owner for v in ancestors(o, stops) if v.owner is not None and v not in stops}


def io_toposort(i: Iterable[Any], o: Iterable[Any], orderings: Any = None) -> list[Any]:
    """The nodes between inputs and outputs, producers before users."""
    order: dict[Any, None] = {}
    stops = set(i)
    waiting = [(v, False) for v in reversed(list(o))]
    while waiting:
        v, ready = waiting.pop()
        node = v.owner
        if node is None or v in stops or node in order:
            continue
        if ready:
            order[node] = None
        else:
            waiting.append((v, True))
            waiting += [(u, False) for u in reversed(node.inputs)]
    return list(order)


def orphans(i: Iterable[Any], o: Iterable[Any]) -> list[Any]:
    """Leaves that outputs are computed from and that are no inputs."""
    given = set(i)
    return [v for v in inputs(o, given) if v not in given]


def view_roots(r: Any) -> list[Any]:
    """The variable itself: views are found when a function is compiled."""
    return [r]


def equal_computations(xs: Sequence[Any], ys: Sequence[Any], in_xs: Any = (), in_ys: Any = ()) -> bool:
    """Whether two lists of expressions compute the same, inputs standing for one another in order."""
    pairs = dict(zip(in_xs, in_ys, strict=True))
    known: dict[tuple[int, int], bool] = {}
    if len(xs) != len(ys):
        return False
    return all(_same(lower(x), lower(y), lower(pairs), known) for x, y in zip(xs, ys, strict=True))


def _same(x: Any, y: Any, pairs: Mapping[Any, Any], known: dict[tuple[int, int], bool]) -> bool:
    """Whether two values of the core are computed alike; a graph deeper than the stack is walked without recursion."""
    waiting = [(x, y)]
    while waiting:
        a, b = waiting.pop()
        if a is b or pairs.get(a) is b or known.get((id(a), id(b))):
            continue
        if isinstance(a, Constant) and isinstance(b, Constant) and a.key == b.key:
            continue
        one, other = a.owner, b.owner
        if one is None or other is None or a in pairs or a.index != b.index or one.op != other.op:
            return False
        if len(one.inputs) != len(other.inputs):
            return False
        known[id(a), id(b)] = True
        waiting += zip(one.inputs, other.inputs, strict=True)
    return True


def is_same_graph(var1: Any, var2: Any, givens: Any = None, debug: bool = False) -> bool:
    """Whether two expressions compute the same, with `givens` in the place of variables."""
    pairs = dict(givens or {})
    if not pairs:
        return equal_computations([var1], [var2])
    both = clone([var1, var2], pairs, strict=False)
    return equal_computations([both[0]], [both[1]])


def clone(
    output: Any, replace: Any = None, strict: bool = True, share_inputs: bool = True, copy_inputs: Any = None
) -> Any:
    """Expressions with others in the place of some of their values.

    `strict`: a replacement has the type of what it replaces; otherwise it is cast.  Without `share_inputs` leaves that
    are no shared variables are new ones.
    """
    pairs = replace.items() if isinstance(replace, Mapping) else replace or ()
    known = {}
    for old, new in pairs:
        value = new if isinstance(new, Variable) else as_tensor_variable(autocast(new, old.dtype))
        if value.dtype != old.dtype and not strict:
            value = value.astype(old.dtype)
        if value.dtype != old.dtype or value.ndim != old.ndim:
            raise TypeError(f"clone: {old} is {old.type}, and its replacement {value} is {value.type}; cast it")
        known[lower(old)] = value.core
    roots = as_list(output)
    if not share_inputs:
        for leaf in inputs(roots):
            if not isinstance(leaf, TensorConstant) and not isinstance(leaf.core, CoreShared):
                known.setdefault(leaf.core, leaf.clone().core)
    found = [wrap(v) for v in rebuild([v.core for v in roots], known)]
    return found if isinstance(output, list) else tuple(found) if isinstance(output, tuple) else found[0]


def clone_get_equiv(i: Sequence[Any], o: Sequence[Any], copy_inputs: bool = True, **options: Any) -> dict[Any, Any]:
    """A mapping from the values of a graph to those of its copy."""
    known = {v: v.clone() if copy_inputs else v for v in i}
    found = clone(list(o), known)
    return {**known, **dict(zip(o, found, strict=True))}


def as_string(i: Any, o: Sequence[Any], **options: Any) -> list[str]:
    """Expressions as text."""
    return [str(wrapped(lower(v))) for v in o]
