"""The picture of the front page: an expression, the database and a profile as they look."""

from __future__ import annotations

import re
from html import escape

import numpy as np

import arignote as ag
from arignote import ops as T

MARK = "## Install\n"
EXPRESSION = """p = T.sigmoid(X @ w + b)
loss = -(t * T.log(p) + (1 - t) * T.log(1 - p)).mean()
ag.grad(loss + 0.01 * (w**2).sum(), w)"""
QUERY = "fast_run &stabilize"
SHOWN = ("log1pexp_to_softplus", "log1msigm_to_softplus", "local_log_of_ndtr", "local_log_sum_exp", "local_expm1")
CALLS, ROWS, COLUMNS = 200, 1000, 50


def with_picture(text: str) -> str:
    """Return the front page with the picture in front of the section that says how to install."""
    X, w, b, t = T.matrix("X"), T.vector("w"), T.scalar("b"), T.vector("t")
    p = T.sigmoid(X @ w + b)
    loss = -(t * T.log(p) + (1 - t) * T.log(1 - p)).mean() + 0.01 * (w**2).sum()
    gradient = ag.grad(loss, w)
    f = ag.function([X, w, b, t], [loss, gradient], profile=True, name="loss")
    rng = np.random.default_rng(0)
    for _ in range(CALLS):
        f(rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=COLUMNS), 0.0, np.ones(ROWS))
    figures = [
        _figure("Build an expression", EXPRESSION, gradient._repr_html_(), "howto/read-an-expression.html"),
        _figure("Filter by tag", f'ag.optdb.table("{QUERY}")', _rules(), "howto/filter-by-tag.html"),
        _figure("Read the profile", "f.profile", f.profile._repr_html_(), "howto/read-a-profile.html"),
    ]
    return text.replace(MARK, '<div class="things">\n' + "\n".join(figures) + f"\n</div>\n\n{MARK}", 1)


def _figure(title: str, code: str, shown: str, page: str) -> str:
    html = re.sub(r"\n\s*\n", "\n", shown.strip())
    return (
        f'<section class="thing"><h3><a href="{page}">{escape(title)}</a></h3><pre>{escape(code)}</pre>'
        f'<div class="output">{html}</div></section>'
    )


def _rules() -> str:
    rows = [row for row in ag.optdb.table(QUERY) if row.taken]
    shown = [row for row in rows if row.name in SHOWN] or rows[: len(SHOWN)]
    cells = "".join(
        f"<tr><td>{escape(row.name)}</td><td><code>{escape(row.contract)}</code></td></tr>" for row in shown
    )
    return f"<table>{cells}</table><p>{len(rows)} of {len(ag.optdb.table())} rules and passes</p>"
