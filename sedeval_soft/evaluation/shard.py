"""What some files add to an evaluation: shards of all files together are the evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.scores import Input
from sedeval_soft.fields import STEERING
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.alignment_report import AlignmentReport

Tables = dict[tuple[str, str], Any]
"""Measures by basis and reading."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Statistics of some files, and what is said of where they are from.

    settings: what shaped the statistics. system: the system's name. tally: of all classes. groups: of the
    classes of each group alone. findings: what a reader should know. inputs: what was read, by role and name.
    durations: seconds by file name; None where none were given. tables: what was counted at best thresholds
    part by part, of the whole (None) and of groups and scenes by their names; empty where tallies have all
    segments and events.
    """

    settings: Settings
    system: str
    tally: Tally
    groups: Mapping[str, Tally]
    findings: AlignmentReport
    inputs: tuple[Input, ...]
    durations: Mapping[str, float] | None = None
    tables: Mapping[str | None, Tables] = field(default_factory=dict)

    def systems(self) -> list[str]:
        """Return the names of what was merged, if the system's name was made of them; else that."""
        names = sorted({item.name for item in self.inputs if item.role == "system"})
        return names if self.system == ", ".join(names) else [self.system]

    def slim(self) -> Shard:
        """Return the same shard in less memory, where there are many classes and few of them in each file."""
        groups = {name: tally.slim() for name, tally in self.groups.items()}
        return replace(self, tally=self.tally.slim(), groups=groups)

    def check_whole(self) -> None:
        """Raise EvaluationError where segments and events are not kept: only scores are made of that."""
        if self.tables:
            raise EvaluationError(
                "these statistics were too large to keep: they can be scored, but not saved, merged or parted"
            )

    @staticmethod
    def merge(shards: Sequence[Shard]) -> Shard:
        """Return the shard of all files of some, at least one, whatever their order.

        Raises EvaluationError where a file occurs twice, or where settings differ, which it names.
        """
        first = shards[0]
        if len(shards) == 1:
            return first
        for shard in shards:
            shard.check_whole()
            refuse_other_settings(first.settings, shard.settings)
        durations = [shard.durations for shard in shards if shard.durations is not None]
        findings = AlignmentReport.merge(shard.findings for shard in shards)
        systems = sorted({name for shard in shards for name in shard.systems()})
        return Shard(
            settings=first.settings,
            system=", ".join(systems),
            tally=Tally.merge(shard.tally for shard in shards),
            groups={name: Tally.merge(shard.groups[name] for shard in shards) for name in first.groups},
            findings=findings,
            inputs=_joined([item for shard in shards for item in shard.inputs], findings),
            durations={name: own[name] for own in durations for name in own} if durations else None,
        )


def refuse_other_settings(ours: Settings, theirs: Settings) -> None:
    """Raise EvaluationError for statistics shaped by different settings; names all that differ."""
    mine, other = ours.to_dict(), theirs.to_dict()
    different = [name for name in mine if name not in STEERING and mine[name] != other[name]]
    if different:
        said = "; ".join(f"{name} is {mine[name]!r} and {other[name]!r}" for name in different)
        raise EvaluationError(f"tallies of different settings cannot be merged: {said}")


def in_memory(item: Input) -> Input:
    """Return what is said of data in memory so that batches of it can be told of as one."""
    return item if item.sha256 is not None else replace(item, name=item.role, form="in memory")


def _joined(inputs: Sequence[Input], findings: AlignmentReport) -> tuple[Input, ...]:
    """Return what was read, each file once, and data in memory as one input for each role."""
    files = {(item.role, item.name, item.sha256): item for item in inputs if item.sha256 is not None}
    kept = [files[key] for key in sorted(files)]
    for role in dict.fromkeys(item.role for item in inputs):
        own = [item for item in inputs if item.role == role and item.sha256 is None]
        if own:
            named = findings.reference_classes if role == "reference" else findings.system_classes
            kept.append(_summed(own, len(named)))
    # The reference first, as where there is one of each.
    return tuple(sorted(kept, key=lambda item: (item.role, item.name)))


def _summed(inputs: Sequence[Input], n_classes: int) -> Input:
    forms = {item.form for item in inputs}
    return Input(
        name=", ".join(sorted({item.name for item in inputs})),
        role=inputs[0].role,
        sha256=None,
        rows=sum(item.rows for item in inputs),
        files=sum(item.files for item in inputs),
        classes=n_classes,
        form=forms.pop() if len(forms) == 1 else "in memory",
        has_values=any(item.has_values for item in inputs),
        events="merge" if any(item.events == "merge" for item in inputs) else "rows",
        ignored=tuple(sorted({name for item in inputs for name in item.ignored})),
    )
