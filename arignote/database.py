"""The optimization database of this process, `ag.optdb`: users may register their own optimizers and rules in it."""

from __future__ import annotations

from .optdb.kinds import SequenceDB
from .optdb.rules import default_db

optdb: SequenceDB = default_db()

PRISTINE = optdb.state()
"""The state of the unedited database."""
