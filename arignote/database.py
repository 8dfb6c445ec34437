"""The optimization database of this process, `ag.optdb`: users may register their own optimizers and rules in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import later
from .optdb.database import Database
from .optdb.entries import Entry
from .optdb.kinds import SequenceDB
from .optdb.rules import default_db


def _about(entries: Sequence[Entry]) -> Mapping[str, tuple[str, str]]:
    return later.rules_about.about(entries)


Database.about = staticmethod(_about)

optdb: SequenceDB = default_db()

PRISTINE = optdb.state()
"""The state of the unedited database."""
