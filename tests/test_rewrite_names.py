"""Names that Theano's users know are entries or tags of the database, and no name is wrongly listed as absent."""

from itertools import chain

import pytest
import rewrite_names as names
from rewriting import graph_of
from rule_rows import x

from arignote import ops as T
from arignote.optdb.rules import default_db

DB = default_db()
ENTRIES = {e.name for e in DB.entries()} | {type(e.object).__name__ for e in DB.entries()}
TAGS = frozenset().union(*(e.tags for e in DB.entries())) - ENTRIES
ABSENT = [*chain(*names.AWAITED.values(), *names.UNNEEDED.values())]


def test_each_name_stands_once():
    listed = [*names.PRESENT, *names.TAGS, *ABSENT]
    assert len(listed) == len(set(listed)) == 213


def test_names_are_present_as_they_are_said_to_be():
    assert set(names.PRESENT) <= ENTRIES
    assert set(names.TAGS) <= TAGS


def test_what_is_absent_is_absent():
    assert not (ENTRIES | TAGS) & set(ABSENT)


@pytest.mark.parametrize("name", [*names.PRESENT, *names.TAGS])
def test_a_query_can_leave_it_out(name):
    everything = "fast_run unsafe approximate"
    taken = [row.taken for row in DB.table(everything, f"-{name}")]
    assert sum(taken) < sum(row.taken for row in DB.table(everything))


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("local_one_minus_erf2", 1 + (-1) * T.erf(x), T.erfc(x)),
        ("local_one_plus_neg_erf", 1 + (-T.erf(x)), T.erfc(x)),
        ("local_one_minus_erfc2", 1 + (-T.erfc(x)), T.erf(x)),
        ("local_one_minus_erfc3", 1 + (-1) * T.erfc(x), T.erf(x)),
        ("local_erf_neg_minus_one", -1 + T.erfc(-x), -T.erf(-x)),
        ("local_erf_neg_minus_one2", -1 + T.erfc(-1 * x), -T.erf(-x)),
    ],
)
def test_a_form_that_had_a_rewrite_of_its_own_ends_as_another_does(name, before, after):
    assert DB.query("fast_run -fusion -inplace")(graph_of(before))[0] == graph_of(after)
    assert DB.query("fast_run -fusion -inplace", f"-{name}")(graph_of(before))[0] != graph_of(after)
