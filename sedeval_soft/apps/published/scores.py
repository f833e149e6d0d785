"""Scores as the evaluators that challenges published print them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sedeval_soft.api.sources import (
    Durations,
    Parted,
    check_object,
    check_text,
    limits_from,
    read_lengths,
    read_parts,
    sides_of,
)
from sedeval_soft.apps.published.base import Inputs, Number, published_evaluator
from sedeval_soft.errors import SettingsError
from sedeval_soft.settings import Settings
from sedeval_soft.tables.limits import Limits


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

    They follow its script to the last bit, whatever the rules of the challenge say; `evaluate` with a preset
    follows the rules.

    name: one of `soft-sed-eval published`. reference, system, durations, by, limits: as for `evaluate`.
    options: of the script, by their names. Raises SettingsError for a name or an option that there is not,
    InputError for a table that cannot be read.
    """
    check_text("name", name)
    evaluator = published_evaluator(name)
    limits = limits_from(limits)
    if options is not None:
        check_object("options", options, Mapping)
    if evaluator.reads_text:
        if not all(isinstance(side, str | os.PathLike) for side in (reference, system)):
            raise SettingsError(f"{name} reads files; expected a path for the reference and the system")
        for called, given in (("durations", durations), ("scenes", by)):
            if given is not None:
                raise SettingsError(f"{name} has no use for {called}: its script does not look at them")
        paths = os.fspath(reference), os.fspath(system)
        return evaluator.numbers(Inputs.of_texts(paths, limits, options))
    if evaluator.label and not limits.label:
        limits = replace(limits, label=evaluator.label)
    rows = sides_of(reference, system, Settings(), limits)
    scenes = None
    if by is not None:
        from sedeval_soft.tables.file_groups import part_by_file

        scenes = part_by_file(read_parts(None, by, rows[0].files, limits)["by"], rows[0].files)
    return evaluator.numbers(Inputs(*rows, read_lengths(durations, limits), options or {}, scenes))
