"""`--check NAME` of an evaluator that a challenge published: its numbers beside our scores."""

from __future__ import annotations

from collections.abc import Mapping

from sedeval_soft.errors import SettingsError
from sedeval_soft.interop.second_opinion import Comparison, Value, comparison_text
from sedeval_soft.published.base import Inputs, published_evaluator
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.file_groups import Partition, part_by_file
from sedeval_soft.tables.limits import LIMITS


def check_published(
    name: str,
    sides: tuple[EventTable, EventTable],
    durations: Mapping[str, float] | None,
    ours: Mapping[str, Value],
    scenes: Partition | None = None,
) -> str:
    """Return a table of our scores beside the numbers of a published evaluator, and where to read why.

    sides: the rows of reference and system, as they were read. ours: our scores by name. scenes: of the
    files. Raises SettingsError
    where none of ours has a number beside it.
    """
    evaluator = published_evaluator(name)
    if not evaluator.same:
        raise SettingsError(
            f"{name} has no number beside ours; soft-sed-eval published {name} prints those that it has"
        )
    inputs = Inputs(*sides, durations, scenes=part_by_file(scenes, sides[0].files))
    if evaluator.reads_text:
        inputs = Inputs.of_texts([side.origin.name for side in sides], LIMITS)
        for side, again in zip(sides, (inputs.reference, inputs.system), strict=True):
            if side.origin.sha256 != again.origin.sha256:
                raise SettingsError(f"--check {name} reads files; {side.origin.name} is none, or has changed")
    numbers = evaluator.numbers(inputs)
    compared = [
        Comparison(score, ours[score], numbers[label])
        for label, score in evaluator.same.items()
        if score in ours
    ]
    if not compared:
        preset = f"; --preset {evaluator.preset} computes those" if evaluator.preset else ""
        raise SettingsError(f"--check {name} has numbers beside {', '.join(evaluator.same.values())}{preset}")
    notes = [
        f"{name}: {evaluator.script} of {evaluator.project} ({evaluator.version[:8]}).",
        "What differs, and why: docs/reference/official-evaluators.md",
    ]
    return comparison_text(name, compared, {}, notes, explained=False)
