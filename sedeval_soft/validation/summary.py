"""What many lines that cannot be scored have in common: one mistake that explains them all."""

from __future__ import annotations

from collections.abc import Iterator

from sedeval_soft.core.codes import problem
from sedeval_soft.errors import Problem
from sedeval_soft.formats.careful import Found
from sedeval_soft.formats.sniff import Sniffed
from sedeval_soft.formats.source import Source

_MANY = 2
"""One line alone explains nothing."""


def explained(source: Source, sniffed: Sniffed, found: Found) -> Iterator[Problem]:
    """Yield what explains the problems of a table, if anything does."""
    facts, layout = found.facts, sniffed.layout
    header = sniffed.skip or None
    place = layout.position("offset")
    if facts["backwards"] >= _MANY and not found.numbers and facts["backwards"] == facts["lines"]:
        message = f"all {facts['backwards']} rows have their offset before their onset"
        yield problem("swapped-times", source.name, message, header, None if place is None else place + 1)
    value, label = layout.position("soft_value"), layout.position("event_label")
    if facts["swapped"] >= _MANY and value is not None and label is not None and not found.numbers:
        message = f"{layout.names[label]} holds numbers, {layout.names[value]} does not"
        yield problem("swapped-columns", source.name, message, header, label + 1)
    # Rows without a problem have their values in [0, 1].
    beyond, values = facts["below"] + facts["above"], facts["values"] + len(found.numbers)
    column = None if layout.wide or value is None else value + 1
    if facts["below"] and facts["above"] and 4 * beyond > values:
        message = f"{beyond} of {values} values are outside [0, 1], on both sides: these could be logits"
        yield problem("values-are-logits", source.name, message, header, column)
    elif facts["above"] and not facts["below"] and not facts["beyond percent"] and 2 * beyond > values:
        message = f"{beyond} of {values} values are above 1, none above 100: these could be percentages"
        yield problem("values-in-percent", source.name, message, header, column)
