"""Names that Theano's users know are entries or tags of the database, and no name is wrongly listed as absent."""

from functools import cache

import pytest
import rewrite_names as names
from rewriting import graph_of
from rule_rows import x

import arignote as ag
from arignote import ops as T
from arignote.optdb import UnknownNameError
from arignote.optdb.rules import default_db, known_elsewhere
from arignote.optdb.rules.absent import Absent, absent

DB = default_db()
ENTRIES = {e.name for e in DB.entries()} | {type(e.object).__name__ for e in DB.entries()}
TAGS = frozenset().union(*(e.tags for e in DB.entries())) - ENTRIES
ABSENT = [*absent()]


def test_each_name_stands_once():
    listed = [*names.PRESENT, *names.TAGS, *ABSENT]
    assert len(listed) == len(set(listed))
    assert len(names.PRESENT) + len(names.TAGS) == 142


def test_names_are_present_as_they_are_documented():
    assert set(names.PRESENT) <= ENTRIES
    assert set(names.TAGS) <= TAGS


def test_what_is_absent_is_absent():
    assert not (ENTRIES | TAGS) & set(ABSENT)


FROM_A_PROFILE = {
    "crossentropy_to_crossentropy_with_softmax_with_bias": "cross-entropy is a composition",
    "local_dimshuffle_no_inplace_at_canonicalize": "dimshuffle is always a view",
    "local_fill_cut": "it never fired in Theano either",
    "local_flatten_lift": "flatten is a reshape: local_reshape_lift",
    "local_neg_to_mul": "x * -1 becomes -x here",
    "local_sum_all_to_none": "a reduction always names its axes",
    "use_c_blas": "which BLAS is called is the backend's choice",
}


@pytest.mark.parametrize(("name", "reason"), FROM_A_PROFILE.items())
def test_a_name_of_an_old_profile_is_answered(name, reason):
    assert name in DB and name in ag.optdb
    assert str(DB[name]).startswith(f"{name}: not needed: {reason}") and name in repr(ag.optdb[name])


def test_old_queries_may_name_what_is_absent():
    query = ag.Query.parse("fast_run").excluding(*ABSENT, *names.PRESENT, *names.TAGS, *known_elsewhere())
    assert DB.query(query) == DB.query(query)
    plain = DB.query("fast_run")
    assert DB.query("fast_run", *(f"-{name}" for name in ABSENT)).optimizers == plain.optimizers
    assert DB.query("fast_run", *ABSENT).optimizers == plain.optimizers
    assert [str(row) for row in DB.table("fast_run", "-use_c_blas")] == [str(row) for row in DB.table("fast_run")]
    mode = ag.Mode("fast_run", backend="numpy").excluding("local_fill_cut", "use_c_blas")
    assert ag.function([x], x + 1, mode=mode)([1.0]) == 2.0
    with pytest.raises(UnknownNameError, match="use_c_blas"):
        DB.query("fast_run", "&use_c_blas")  # nothing has it
    with pytest.raises(UnknownNameError, match="use_c_blast"):
        DB.query("fast_run", "-use_c_blast")
    with pytest.raises(UnknownNameError):
        default_db().unregister("use_c_blas")


def test_another_name_says_which_rules_it_means():
    assert str(DB["local_mul_specialize"]) == (
        "local_mul_specialize: the tag of local_mul_by_one, local_mul_by_minus_one"
    )
    assert "local_mul_specialize" in DB
    assert [name for name in names.TAGS if name not in DB] == []
    entries = {e.name for e in DB.entries()}
    for name, known in known_elsewhere().items():
        assert isinstance(known, Absent) or name in entries or set(known.rules) <= entries, name


def test_every_local_entry_has_a_contract():
    assert [e.path for e in DB.entries() if e.name.startswith("local_") and e.contract is None] == []


@pytest.mark.parametrize("name", [*names.PRESENT, *names.TAGS])
def test_a_query_can_leave_it_out(name):
    assert count_taken(f"-{name}") < count_taken()


@cache
def count_taken(*without):
    """Return the number of entries that a query of all takes."""
    return sum(row.taken for row in DB.table("fast_run unsafe approximate", *without))


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
