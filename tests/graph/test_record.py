"""A record is a frozen dataclass: each test holds for both, so that what is said of one is true of the other."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property, partial
from typing import ClassVar

import pytest

from arignote.record import record

frozen = partial(dataclass, frozen=True)


@record(slots=True)
class Slotted:
    x: int
    y: tuple = ()


@record
class Plain:
    x: int


@pytest.fixture(params=[record, frozen], ids=["record", "dataclass"])
def make(request):
    """The decorator with its options, as `record(...)` is written."""
    return request.param


@pytest.fixture
def point(make):
    @make()
    class Point:
        x: int
        y: int = 2
        name: str = field(default="", compare=False, repr=False)
        kind: ClassVar[str] = "point"

    return Point


def test_fields_are_arguments_with_defaults(point):
    assert (point(1).x, point(1).y, point(1, y=5).y, point.kind) == (1, 2, 5, "point")
    assert [f.name for f in fields(point)] == ["x", "y", "name"] == list(point.__match_args__)
    assert list(inspect.signature(point).parameters) == ["x", "y", "name"]
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required positional argument: 'x'"):
        point()


def test_equal_by_the_fields_that_compare(point):
    assert point(1, name="a") == point(1, name="b") and hash(point(1, name="a")) == hash(point(1, name="b"))
    assert point(1) != point(2) and point(1) != (1, 2) and len({point(1), point(1), point(2)}) == 2


@pytest.mark.parametrize("names", [(), ("x",), ("x", "y")])
def test_fields_are_compared_as_tuples(names):
    """So a NaN that is the same object is equal to itself.  Dataclasses did so too before Python 3.13."""
    cls = record(type("Some", (), {"__annotations__": dict.fromkeys(names, float)}))
    nan = float("nan")
    assert cls(*[nan] * len(names)) == cls(*[nan] * len(names))


def test_nothing_can_be_assigned_or_deleted(point):
    for change in (lambda p: setattr(p, "x", 3), lambda p: delattr(p, "x"), lambda p: setattr(p, "z", 3)):
        with pytest.raises(FrozenInstanceError):
            change(point(1))


def test_repr_names_the_fields(point):
    assert repr(point(1, name="a")).endswith("Point(x=1, y=2)")


def test_functions_of_dataclasses(point):
    assert is_dataclass(point) and asdict(point(1)) == {"x": 1, "y": 2, "name": ""}
    assert replace(point(1), y=3) == point(1, 3)
    match point(4, 5):
        case point(x, y=5):
            assert x == 4


def test_keyword_only(make):
    @make(kw_only=True)
    class Options:
        a: int
        b: int = 1

    assert Options(a=2) == Options(b=1, a=2)
    with pytest.raises(TypeError):
        Options(2)


def test_inheritance(make, point):
    @make()
    class Point3(point):
        z: int = 7

    assert Point3(1, z=4) == Point3(1, 2, "", 4) != point(1)
    assert [f.name for f in fields(Point3)] == ["x", "y", "name", "z"]


def test_own_methods_stay(make):
    @make()
    class Even:  # noqa: PLW1641  # the decorator gives it a hash
        """Compared by parity."""

        n: int

        def __post_init__(self):
            object.__setattr__(self, "n", self.n % 10)

        def __eq__(self, other):
            return self.n % 2 == other.n % 2

        def __repr__(self):
            return f"even {self.n}"

        @cached_property
        def double(self):
            return 2 * self.n

    assert Even(12) == Even(4) and Even(13).double == 6 and repr(Even(12)) == "even 2"
    assert hash(Even(12)) == hash(Even(2)) and Even.__doc__ == "Compared by parity."


def test_without_equality_and_repr(make):
    class Base:
        def __repr__(self):
            return "base"

    @make(eq=False, repr=False)
    class Node(Base):
        x: int

    assert Node(1) != Node(1) and len({Node(1), Node(1)}) == 2 and repr(Node(1)) == "base"


@pytest.mark.parametrize("value", [Slotted(1, (2,)), Plain(3)])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickled(value, protocol):
    assert pickle.loads(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("slots", [False, True])
def test_any_number_of_fields_with_and_without_slots(slots):
    names = [f"f{k}" for k in range(20)]
    made = record(slots=slots)(type("Wide", (), {"__annotations__": dict.fromkeys(names, int), "f19": 19}))
    value = made(*range(18), f18=18)
    assert [getattr(value, name) for name in names] == list(range(20))
    assert hasattr(value, "__dict__") is not slots
    assert value == made(*range(20)) and hash(value) == hash(made(*range(20)))


def test_slots():
    assert not hasattr(Slotted(1), "__dict__") and Slotted(1).y == ()


def test_a_default_that_could_be_edited_is_refused():
    with pytest.raises(TypeError, match="items: a record has no default factories"):

        @record
        class Listed:
            items: list = field(default_factory=list)


def test_a_record_without_fields_has_one_instance():
    @record
    class Bare:
        pass

    @record
    class Full(Bare):
        x: int

    class Plain(Bare):
        pass

    assert Bare() is Bare() and Plain() is Plain() and Bare() != Plain()
    assert copy.copy(Bare()) is Bare() and replace(Bare()) is Bare() and hash(Bare()) == hash(Bare())
    assert Full(1) is not Full(1) and Full(1) == Full(1) != Full(2) and Full(1) != Bare()
    with pytest.raises(TypeError):
        Bare(1)


@pytest.mark.parametrize("keywords", range(3))
@pytest.mark.parametrize("count", range(10))
def test_any_number_of_fields_by_position_and_by_name(make, count, keywords):
    names = [*"bacdefghi"[:count], *("k", "l")[:keywords]]
    options = {name: field(kw_only=name in "kl", **({"default": 7} if name in "hil" else {})) for name in names}
    made = make()(type("Made", (), {"__annotations__": dict.fromkeys(names, int), **options}))
    needed = [name for name in names if name not in "hil"]
    positional = [needed.index(name) for name in needed if name not in "kl"]
    named = {name: needed.index(name) for name in needed if name in "kl"}
    values = {name: needed.index(name) if name in needed else 7 for name in names}
    assert asdict(made(*positional, **named)) == values == asdict(made(**{n: values[n] for n in reversed(needed)}))
    assert list(inspect.signature(made.__init__).parameters) == ["self", *names]
    if named:
        with pytest.raises(TypeError, match=r"Made.__init__\(\) missing 1 required keyword-only argument: 'k'"):
            made(*positional)
    with pytest.raises(TypeError, match=r"Made.__init__\(\) got an unexpected keyword argument 'other'"):
        made(**values, other=1)


@pytest.mark.parametrize("count", [1, 3, 9])
def test_post_init_is_called_once_with_all_fields_set(make, count):
    seen = []
    body = {"__post_init__": lambda self: seen.append(asdict(self))}
    names = list("abcdefghi"[:count])
    made = make()(type("Made", (), {"__annotations__": dict.fromkeys(names, int), **body}))
    made(*range(count))
    assert seen == [dict(zip(names, range(count)))]
