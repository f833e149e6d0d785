"""The interface of a published evaluator, and the list of all evaluators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module

import numpy as np

from sedeval_soft.arrays import Index
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation import finite
from sedeval_soft.names import meant
from sedeval_soft.settings import in_form
from sedeval_soft.tables import EventTable, Limits, Origin, decode, is_number, open_source

NAMES = (
    "few-shot", "biodcase2025-task2", "biodcase2025-task2-ranking", "dcase2024-task4", "birdnet-analyzer",
    "lat-bench", "pyannote-vad", "dcase2026-task6",
)  # fmt: skip
"""The names of all published evaluators; the module of each, with underscores in its name, has it as
`EVALUATOR`."""

EXPLAINED = "page 'Official evaluators' of the documentation"
"""The page on differences between rules and code, and their reasons."""

Number = float | int | None
"""One number of a script; None if it prints none, or NaN."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The input of an evaluator.

    - reference, system: the rows as they were read, in their order. durations: seconds by file, if given.
    - options: the values of the script's own options, by their names.
    - scenes: the scene, or subset, of each file of the reference, if given.
    - texts: of both files, for a script that reads them with its own code: rows are empty then.
    """

    reference: EventTable
    system: EventTable
    durations: Mapping[str, float] | None = None
    options: Mapping[str, float | str] = field(default_factory=dict)
    scenes: Mapping[str, str] | None = None
    texts: tuple[str, str] = ("", "")

    @classmethod
    def of_texts(cls, names: Sequence[str], limits: Limits) -> Inputs:
        """Return the texts of the files of both sides; raises InputError where one cannot be read."""
        sources = [open_source(name, limits=limits) for name in names]
        sides = [EventTable.empty(Origin(source.name, source.sha256, "text")) for source in sources]
        ours, theirs = (decode(source) for source in sources)
        return cls(sides[0], sides[1], texts=(ours, theirs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """An evaluator that was published.

    - name: as the command and `published` call it. title: the challenge and its years.
    - project: its repository at GitHub, as owner/name, or its package. version: the commit, or the version of
      the package.
    - script: the file, or the function, that was followed. ranking: the name of the number that ranks
      systems.
    - preset: the one with the rules as they are written; empty without one.
    - same: the name of our score beside each of its numbers that has the same meaning with that preset.
    - percent: the numbers of these that are percentages, and to how many decimals they are rounded, None for
      not at all.
    - options: its options with their defaults. label: the class of rows of a table without labels, if the
      script reads such.
    - compute: the numbers by their names, in the order of the script.
    - reads_text: whether it receives texts and no rows. takes: durations and scenes, if it uses them.
    """

    name: str
    title: str
    project: str
    version: str
    script: str
    ranking: str
    compute: Callable[[Inputs], dict[str, Number]]
    preset: str = ""
    same: Mapping[str, str] = field(default_factory=dict)
    percent: Mapping[str, int | None] = field(default_factory=dict)
    options: Mapping[str, float | str] = field(default_factory=dict)
    label: str = ""
    reads_text: bool = False
    takes: tuple[str, ...] = ()

    def compared(self, label: str, ours: Number, number: Number) -> tuple[Number, Number]:
        """Return a score of ours and the number beside it, both as scores; ours rounded if the number is."""
        if label not in self.percent:
            return ours, number
        digits = self.percent[label]
        if ours is not None and digits is not None:
            ours = round(100 * ours, digits) / 100
        return ours, None if number is None else number / 100

    def numbers(self, inputs: Inputs) -> dict[str, Number]:
        """Return its numbers; raises SettingsError for an option that it does not have."""
        for name in inputs.options:
            if name not in self.options:
                known = f"expected one of {', '.join(self.options)}" if self.options else "it has none"
                raise SettingsError(
                    f"{self.name} has no option {name!r}; {known}{meant(str(name), list(self.options))}"
                )
        given = {name: self._option(name, value) for name, value in inputs.options.items()}
        numbers = self.compute(replace(inputs, options={**self.options, **given}))
        return {name: None if number is None else finite(number) for name, number in numbers.items()}

    def _option(self, name: str, value: object) -> float | str:
        """Return the value of an option, of the type that its default has; raises SettingsError."""
        called, is_text = f"the option {name} of {self.name}", isinstance(value, str)
        if isinstance(self.options[name], str):
            if not is_text:
                raise SettingsError(f"{called} must be a text, not {value!r}")
            return str(value)
        number = float(str(value)) if is_text and is_number(str(value)) else value
        return float(in_form(called, number, [{"type": "number", "minimum": 0}]))


def published_evaluator(name: str) -> Published:
    """Return a published evaluator by its name; raises SettingsError, with what could be meant."""
    if name not in NAMES:
        known = f"expected one of {', '.join(NAMES)}{meant(name, NAMES)}"
        raise SettingsError(f"there is no published evaluator {name!r}; {known}")
    module = import_module(f"sedeval_soft.apps.published.{name.replace('-', '_')}")
    evaluator: Published = module.EVALUATOR
    return evaluator


# Rows of lists of events as scripts walk through them: in their order, times as floats, none joined.


def check_lists(reference: EventTable, system: EventTable) -> None:
    """Raise SettingsError if the rows of a table are not events, but time steps of every class."""
    for role, table in (("reference", reference), ("system", system)):
        if table.has_steps:
            raise SettingsError(
                f"the {role} has a column for each class; expected a list of events, as this script reads"
            )


def rows_by_file(table: EventTable) -> dict[str, Index]:
    """Return the positions of the rows of each file, in the order of the table."""
    order = np.argsort(table.file, kind="stable")
    first = np.searchsorted(table.file[order], np.arange(1, len(table.files)))
    return dict(zip(table.files, np.split(order, first), strict=False))
