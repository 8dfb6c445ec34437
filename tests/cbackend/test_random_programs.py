"""The random programs of the campaign: they print as code that builds them, and failing ones are made small."""

import numpy as np
import pytest
from program_trials import differs, shrunk, trouble, used
from random_programs import Input, Program, random_program

PROGRAM = Program(
    lengths=(2, 3, 4),
    inputs=(
        Input("x", "float32", "nm", (True, False), "apart", (1.5, -2.0)),
        Input("w", "float64", "m", (False,), "", (0.5,), shared=True),
    ),
    steps=(("a", "T.exp({0})", ("x",)), ("b", "{0} + {1}", ("x", "w")), ("c", "T.sum({0})", ("a",))),
    outputs=("b", "c"),
    updates=(("w", "w"),),
)


def test_a_program_is_its_code(capsys):
    assert trouble(PROGRAM) is None
    exec(PROGRAM.code(), {})
    printed = capsys.readouterr().out
    assert printed.count("-1.5") == 6  # both ways


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_gives_one_program(seed):
    program = random_program(seed)
    assert program == random_program(seed)
    assert program.steps


@pytest.mark.parametrize("layout", ["", "by columns", "apart", "backwards", "broadcast", "read-only"])
def test_layouts_are_those_of_their_names(layout):
    made = Input("x", "int8", "nm", (False, False), layout, (1, 2, 3))
    array = Program((2, 4, 0), (made,), (), ()).arrays((2, 4, 0))["x"]
    assert array.shape == (2, 4)
    assert array.flags.c_contiguous == (layout in ("", "read-only"))
    assert (0 in array.strides) == (layout == "broadcast")


def test_a_failing_program_is_made_small():
    seen = []

    def fails(program):
        seen.append(program)
        return any("exp" in form for _, form, _ in used(program).steps)

    found = shrunk(PROGRAM, fails)
    assert [form for _, form, _ in found.steps] == ["T.exp({0})"]
    assert (found.outputs, found.updates) == (("a",), ())
    assert [(i.name, i.layout, i.known, i.numbers) for i in found.inputs] == [("x", "", (False, False), (1.5,))]
    assert len(seen) < 100


def test_what_is_wrong_is_seen():
    one, moved = np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-15])
    assert differs(one.copy(), [one, moved]) is None
    assert differs(np.add(one, [0, 1e-12]), [one, moved]).startswith("2.000")
    assert differs(one.astype("f4"), [one, moved]) == "float32, not float64"
    assert differs(one[:1], [one, moved]) == "shape (1,), not (2,)"
    assert differs(np.array([3, 4]), [np.array([3, 5]), np.array([3, 5])]) == "4, not 5 at (1,); 1 of 2 are wrong"
    assert differs(np.array([3, 4]), [np.array([3, 5]), np.array([3, 6])]) is None  # it hangs on a rounding
    assert differs(np.array([np.nan]), [np.array([1.0]), np.array([1.0])]) is not None
