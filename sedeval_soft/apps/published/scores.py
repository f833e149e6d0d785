"""The numbers that the evaluators of challenges print, alone and beside our scores."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sedeval_soft.api import (
    Durations,
    Parted,
    check_object,
    check_text,
    limits_from,
    read_lengths,
    read_parts,
    sides_of,
)
from sedeval_soft.apps.published.base import EXPLAINED, NAMES, Inputs, Number, published_evaluator
from sedeval_soft.errors import SettingsError, counted
from sedeval_soft.report import Table, decimal, exact, json_document, plain_table
from sedeval_soft.settings import POSTPROCESSING, Settings
from sedeval_soft.settings_files import load_preset
from sedeval_soft.tables import LIMITS, EventTable, Limits, Partition, part_by_file


def published_scores(
    name: str,
    reference: Any,  # noqa: ANN401 - as for evaluate
    system: Any,  # noqa: ANN401
    *,
    durations: Durations | None = None,
    by: Parted | None = None,
    limits: Limits | None = None,
    options: Mapping[str, float | str] | None = None,
) -> dict[str, Number]:
    """Return the numbers that a published evaluator prints of two tables, by its names for them.

    They equal the numbers of its script to the last bit, regardless of the rules of the challenge; `evaluate`
    with a preset follows the rules.

    name: one of `soft-sed-eval published`. reference, system, durations, by, limits: as for `evaluate`.
    options: of the script, by their names. Raises SettingsError for a name or an option that there is not,
    InputError for a table that cannot be read.
    """
    check_text("name", name)
    evaluator = published_evaluator(name)
    limits = limits_from(limits)
    if options is not None:
        check_object("options", options, Mapping)
    for called, given in (("durations", durations), ("scenes", by)):
        if given is not None and called not in evaluator.takes:
            raise SettingsError(f"{name} has no use for {called}: its script does not look at them")
    if evaluator.reads_text:
        if not all(isinstance(side, str | os.PathLike) for side in (reference, system)):
            raise SettingsError(f"{name} reads files; expected a path for the reference and the system")
        inputs = Inputs.of_texts((os.fspath(reference), os.fspath(system)), limits)
    else:
        if evaluator.label and not limits.label:
            limits = replace(limits, label=evaluator.label)
        inputs = Inputs(*sides_of(reference, system, Settings(), limits))
    files = inputs.reference.files
    scenes = None if by is None else part_by_file(read_parts(None, by, files, limits)["by"], files)
    lengths = read_lengths(durations, limits)
    return evaluator.numbers(replace(inputs, durations=lengths, scenes=scenes, options=options or {}))


def list_published() -> str:
    """Return the names and titles of all published evaluators, with the presets of their rules."""
    width = max(map(len, NAMES)) + 2
    lines = ""
    for each in map(published_evaluator, NAMES):
        rules = f"{'':<{width}}its rules: --preset {each.preset}\n" * bool(each.preset)
        lines += f"{each.name:<{width}}{each.title}\n{rules}"
    return f"{lines}\nWhere rules and published code differ: {EXPLAINED}\n"


def published_text(name: str, numbers: Mapping[str, Number], form: str = "text") -> str:
    """Return the numbers of a published evaluator as lines, or as JSON, with their source."""
    each = published_evaluator(name)
    if form == "json":
        source = {"project": each.project, "version": each.version, "script": each.script}
        document = {"published": name, **source, "ranking": each.ranking, "scores": numbers}
        return json_document(document)
    width = max(map(len, numbers), default=0)
    lines = [
        f"{label:<{width}}  {exact(value)}{'   ranks systems' * (label == each.ranking)}\n"
        for label, value in numbers.items()
    ] or ["nothing, as the reference has no event\n"]
    rules = f"\n--preset {each.preset} scores by the rules as they are written.\n" * bool(each.preset)
    return f"{each.script} of {each.project} ({each.version[:8]}) prints\n\n{''.join(lines)}{rules}"


_OF_PARTS = ("classes", "files", "regions", "after_shots", "ignore_class")
"""Settings by which a part of the rows is not evaluated."""


def check_published(
    name: str,
    sides: tuple[EventTable, EventTable],
    durations: Mapping[str, float] | None,
    ours: Mapping[str, Number],
    scenes: Partition | None = None,
    *,
    settings: Settings,
) -> str:
    """Return a table of our scores beside the numbers of a published evaluator, and where to read why.

    sides: the rows of reference and system, as they were read. ours: our scores by name. scenes: of the
    files. settings: of our scores. Raises SettingsError if none of ours has a number beside it, and if ours
    are of a part of the rows: a script receives all of them.
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
    rows, agree = [], 0
    for label, score in evaluator.same.items():
        if score in ours:
            one, other = evaluator.compared(label, ours[score], numbers.get(label))
            same, difference = one is other, ""
            if one is not None and other is not None:
                same = math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
                difference = "0" if one == other else f"{one - other:+.2e}"
            agree += same
            rows.append((score, decimal(one, 6), decimal(other, 6), difference, "" if same else "differs"))
    if not rows:
        preset = f"; --preset {evaluator.preset} computes those" if evaluator.preset else ""
        raise SettingsError(f"{name} has numbers beside {', '.join(evaluator.same.values())}{preset}")
    table = Table(f"Second opinion: {name}", ("score", "ours", name, "difference", ""), tuple(rows))
    return (
        f"\n{plain_table(table)}\n{agree} of {counted(len(rows), 'score')} agree{'s' * (agree == 1)}.\n"
        f"{name}: {evaluator.script} of {evaluator.project} ({evaluator.version[:8]}).\n"
        f"The differences, and why they are: {EXPLAINED}.\n"
    )
