"""The rule catalogue of the site: one card for each rule, with a filter by tag, contract and text."""

from __future__ import annotations

import sys
from collections import Counter
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
try:
    from make_rules import RulePage, rules
finally:
    sys.path.pop(0)

HEAD = """# Rule catalogue

Each row is one rewrite rule and its formula. It opens to an example before and after, its position and database, its
contract and its tags. Choose tags or type to filter. A rule with the tag `unsafe` runs only if a query selects it.
"""
FILTER = """
<div class="rule-filter" hidden>
<label>Search <input type="search" id="rule-text" placeholder="name, op or formula"></label>
<div class="rule-tags" role="group" aria-label="Tags">{buttons}</div>
<p><output id="rule-count"></output> <button type="button" id="rule-clear">Clear</button></p>
</div>
"""
MORE = '<p><button type="button" id="rule-more" hidden>Show more</button></p>\n'


def page() -> str:
    """The page, as Markdown whose body is HTML."""
    found = rules()
    counts = Counter(tag for rule in found for tag in _tags(rule))
    shown = [tag for tag, count in counts.most_common() if count > 1]
    buttons = "".join(
        f'<button type="button" class="rule-tag" data-tag="{escape(tag)}" aria-pressed="false">{escape(tag)}'
        f" <small>{counts[tag]}</small></button>"
        for tag in shown
    )
    cards = "\n".join(_card(rule) for rule in found)
    return f'{HEAD}{FILTER.format(buttons=buttons)}\n<div class="rules">\n{cards}\n</div>\n{MORE}'


def _tags(rule: RulePage) -> list[str]:
    """Tags, databases and words of the contract: everything that a query selects the rule by, but its name."""
    databases = {place.split(" ", 1)[1].split("/")[0] for place in rule.places}
    return sorted({*rule.tags, *databases, *rule.contract_tags})


def _card(rule: RulePage) -> str:
    example = ""
    if rule.example:
        before, after = map(escape, rule.example)
        example = f"<dt>before</dt><dd><code>{before}</code></dd><dt>after</dt><dd><code>{after}</code></dd>"
    tags = " ".join(f'<span class="rule-chip">{escape(tag)}</span>' for tag in _tags(rule))
    return (
        f'<details class="rule" id="{escape(rule.name)}" data-tags="{escape(" ".join(_tags(rule)))}">'
        f"<summary><strong>{escape(rule.name)}</strong> <code>{escape(rule.formula)}</code></summary>"
        f"<dl>{example}<dt>position</dt><dd>{escape(', '.join(rule.places))}</dd>"
        f"<dt>contract</dt><dd><code>{escape(rule.contract)}</code></dd></dl><p>{tags}</p></details>"
    )
