"""`check --with NAME` of an evaluator that a challenge published: its numbers beside our scores."""

from __future__ import annotations

from collections.abc import Mapping

from sedeval_soft.errors import SettingsError
from sedeval_soft.interop.second_opinion import Comparison, Value, comparison_text
from sedeval_soft.published.base import EXPLAINED, Inputs, published_evaluator
from sedeval_soft.settings import POSTPROCESSING, Settings
from sedeval_soft.settings_files import load_preset
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.file_groups import Partition, part_by_file
from sedeval_soft.tables.limits import LIMITS

_OF_PARTS = ("classes", "files", "regions", "after_shots", "ignore_class")
"""Settings by which a part of the rows is not evaluated."""


def check_published(
    name: str,
    sides: tuple[EventTable, EventTable],
    durations: Mapping[str, float] | None,
    ours: Mapping[str, Value],
    scenes: Partition | None = None,
    *,
    settings: Settings,
) -> str:
    """Return a table of our scores beside the numbers of a published evaluator, and where to read why.

    sides: the rows of reference and system, as they were read. ours: our scores by name. scenes: of the
    files. settings: of our scores. Raises SettingsError where none of ours has a number beside it, and where
    ours are of a part of the rows: a script is given all of them.
    """
    evaluator = published_evaluator(name)
    if not evaluator.same:
        raise SettingsError(
            f"{name} has no number beside ours; soft-sed-eval published {name} prints those that it has"
        )
    rules = load_preset(evaluator.preset) if evaluator.preset else {}
    parts = [each for each in _OF_PARTS if getattr(settings, each) is not None and rules.get(each) is None]
    parts += [each for each in POSTPROCESSING if getattr(settings, each) and not rules.get(each)]
    if parts:
        raise SettingsError(f"{name} cannot go with {', '.join(parts)}: its script gets all rows")
    inputs = Inputs(
        *sides,
        durations if "durations" in evaluator.takes else None,
        scenes=part_by_file(scenes, sides[0].files) if scenes and "scenes" in evaluator.takes else None,
    )
    if evaluator.reads_text:
        inputs = Inputs.of_texts([side.origin.name for side in sides], LIMITS)
        for side, again in zip(sides, (inputs.reference, inputs.system), strict=True):
            if side.origin.sha256 != again.origin.sha256:
                raise SettingsError(f"{name} reads files; {side.origin.name} is none, or has changed")
    numbers = evaluator.numbers(inputs)
    compared = [
        Comparison(score, *evaluator.compared(label, ours[score], numbers.get(label)))
        for label, score in evaluator.same.items()
        if score in ours
    ]
    if not compared:
        preset = f"; --preset {evaluator.preset} computes those" if evaluator.preset else ""
        raise SettingsError(f"{name} has numbers beside {', '.join(evaluator.same.values())}{preset}")
    notes = [
        f"{name}: {evaluator.script} of {evaluator.project} ({evaluator.version[:8]}).",
        f"What differs, and why: {EXPLAINED}.",
    ]
    return comparison_text(name, compared, {}, notes, explained=False)
