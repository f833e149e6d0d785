"""Score in batches: in training loops, over shards of a data set, on several machines.

evaluator = Evaluator(segment_length=1.0)
for reference, system in batches:
    evaluator.update(reference, system)
scores = evaluator.compute()
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, Unpack

import numpy as np

from sedeval_soft import __version__
from sedeval_soft.api.evaluation import settings_of_points, with_names
from sedeval_soft.api.request import Request
from sedeval_soft.api.sources import (
    Durations,
    Parted,
    check_text,
    limits_from,
    read_lengths,
    read_parts,
    settings_from,
    shown,
    sides_of,
    with_points,
)
from sedeval_soft.errors import EvaluationError, InputError, Problem, SettingsError, counted
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.evaluation.resample import Progress, refuse_jackknife
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.evaluation.shard import Shard, count_rows, refuse_other_settings
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.fields import Keywords
from sedeval_soft.measures.registry import variants_of
from sedeval_soft.settings import Settings
from sedeval_soft.tables.arrays import array_of
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.timeline.recordings import align, check_shapes


class Evaluator:
    """Collects the statistics of batches of files, and scores all of them together.

    However the files are split into batches, and in whatever order those come, the scores are the same to the
    last bit. Each file must be in one batch as a whole. Only what scores need is kept: counts of each file,
    and for what looks at all thresholds (such as optimal readings) the values of its segments and its events.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        name: str = "system",
        limits: Limits | None = None,
        **values: Unpack[Keywords],
    ) -> None:
        """Choose settings, as an object or by keywords, and the name under which the system is scored.

        limits: the most that each batch may have. Keywords on reading tables apply to all batches.
        """
        self.limits = limits_from(limits, values)
        self.settings = settings_from(settings, values, limits=self.limits)
        check_text("name", name)
        self.name = name
        self._shards: list[Shard] = []
        self._files: set[str] = set()

    def update(
        self,
        reference: Any,  # noqa: ANN401 - as for evaluate
        system: Any,  # noqa: ANN401
        *,
        durations: Durations | None = None,
        files: str | Sequence[str] | None = None,
    ) -> Self:
        """Count a batch of files; raises InputError for what cannot be scored, and for a file counted before.

        reference, system: as for `evaluate`. durations: of the files of this batch. files: names for arrays,
        new in each batch: one for arrays of two dimensions, else one for each file.
        """
        system = with_points(system, self.limits)
        if settings_of_points(self.settings, [system]) != self.settings:
            raise SettingsError(
                "operating points have events only; expected an Evaluator with only=('event',), "
                "('intersection',) or both"
            )
        lengths = read_lengths(durations, self.limits)
        sides = self._sides(reference, system, files)
        self._add([count_rows(*sides, self.settings, lengths, self.name, batch=True)])
        return self

    def reset(self) -> Self:
        """Forget all that was counted; settings, limits and name stay."""
        self._shards, self._files = [], set()
        return self

    def merge(self, other: Evaluator) -> Self:
        """Take in all that another one has counted, which must have the same settings."""
        if not isinstance(other, Evaluator):
            raise EvaluationError(f"other must be an Evaluator, not {shown(other)}")
        refuse_other_settings(self.settings, other.settings)
        self._add(other._shards)
        return self

    def __add__(self, other: Evaluator) -> Evaluator:
        """Return an evaluator of all that either has counted; both stay as they are."""
        if not isinstance(other, Evaluator):
            return NotImplemented
        both = type(self)(self.settings, name=self.name, limits=self.limits)
        both._add(self._shards)
        return both.merge(other)

    def compute(
        self, *, folds: Parted | None = None, by: Parted | None = None, progress: Progress | None = None
    ) -> Scores:
        """Return the scores of all files so far; arguments as for `evaluate`."""
        shard = self.shard()
        parts = read_parts(folds, by, shard.tally.files, self.limits)
        return score_shard(shard, __version__, **parts, progress=progress)

    def shard(self) -> Shard:
        """Return all that was counted; raises EvaluationError if nothing was."""
        if not self._shards:
            raise EvaluationError("nothing has been counted yet; call update first")
        # Merged once, not again with every call.
        shard = Shard.merge(self._shards)
        # A reference may declare classes to be ignored by itself.
        settings = replace(self.settings, ignore_class=shard.settings.ignore_class)
        self._shards = [shard._replace(settings=settings, system=self.name)]
        return self._shards[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that was counted to a file, which `load` and `soft-sed-eval merge` read."""
        from sedeval_soft.report.write import write_atomic

        write_atomic(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return all that was counted as the bytes of the file that `save` writes."""
        from sedeval_soft.evaluation.tally_file import pack_shard

        return pack_shard(self.shard(), __version__)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, limits: Limits | None = None) -> Self:
        """Return an evaluator with the statistics of a file; raises InputError if the file has none."""
        return cls._of(read_tally(path, limits), limits)

    @classmethod
    def of_bytes(cls, data: bytes, *, limits: Limits | None = None) -> Self:
        """Return an evaluator with the statistics in bytes of `to_bytes`; InputError for other bytes."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise EvaluationError(f"data must be the bytes of a tally, not {shown(data)}")
        return cls._of(_shard_of("bytes", bytes(data), limits), limits)

    @classmethod
    def _of(cls, shard: Shard, limits: Limits | None) -> Self:
        evaluator = cls(shard.settings, name=shard.system, limits=limits)
        evaluator._add([shard])
        return evaluator

    def _add(self, shards: Sequence[Shard]) -> None:
        """Take in all of some shards, or none of them where a file was counted before."""
        files = Counter(file for shard in shards for file in shard.tally.files)
        both = sorted(file for file, times in files.items() if times > 1 or file in self._files)
        if both:
            raise EvaluationError(f"file {both[0]!r} was counted before; each file must be in just one batch")
        self._shards += shards
        self._files |= {*files}

    def _sides(
        self,
        reference: Any,  # noqa: ANN401
        system: Any,  # noqa: ANN401
        files: str | Sequence[str] | None,
    ) -> tuple[EventTable, EventTable]:
        """Return the rows of both sides; files: the names for arrays."""
        ours, theirs = array_of(reference, "reference"), array_of(system, "system")
        if ours is None or theirs is None:
            if files is not None:
                raise InputError(
                    Problem(
                        "files", "expected arrays with them, not tables, which name their files themselves"
                    )
                )
            return sides_of(reference, system, self.settings, self.limits)
        sides = sides_of(ours, theirs, self.settings, self.limits)
        check_shapes(*(side.origin for side in sides))
        names = [files] if isinstance(files, str) else [*files] if isinstance(files, Sequence) else []
        n_files = len(sides[0].files)
        if len(names) != n_files or not all(isinstance(name, str) and name for name in names):
            raise InputError(
                Problem("files", f"found {shown(files)}; expected {counted(n_files, 'name')}, one for "
                        "each file of the arrays")
            )  # fmt: skip
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise InputError(Problem("files", f"{twice[0]!r} is named twice; expected each file once"))
        return replace(sides[0], files=tuple(names)), replace(sides[1], files=tuple(names))


def read_tally(path: str | os.PathLike[str], limits: Limits | None = None) -> Shard:
    """Return the statistics in a file that `Evaluator.save` or `--save-tally` wrote.

    Raises InputError if the file cannot be read or does not have statistics.
    """
    from sedeval_soft.tables.source import read_bytes

    name, limits = os.fspath(path), limits_from(limits)
    return _shard_of(name, read_bytes(name, limits=limits)[:], limits)


def _shard_of(name: str, data: bytes, limits: Limits | None) -> Shard:
    """Return the statistics of a tally; raises InputError if they do not fit its settings."""
    from sedeval_soft.evaluation.tally_file import unpack_shard

    shard = unpack_shard(name, data, limits_from(limits))
    # The tally of no files has all columns that the settings count.
    code, number = np.zeros(0, dtype=np.int32), np.zeros(0)
    nothing = EventTable((), (), code, number, number, (number,), label=code)
    every = [shard, *(shard.variant(text) for text in variants_of(shard.settings))]
    counted_by = [(each, tally_pair(align(nothing, nothing, each.settings))) for each in every]
    pairs = (
        (tally, expected) for each, expected in counted_by for tally in (each.tally, *each.groups.values())
    )
    for tally, expected in pairs:
        for kind in ("per_class", "per_file", "samples", "events"):
            ours, theirs = (
                {column: str(getattr(of, "dtype", "events")) for column, of in getattr(each, kind).items()}
                for each in (expected, tally)
            )
            for column in sorted(ours | theirs):
                found, wanted = theirs.get(column, "nothing"), ours.get(column, "nothing")
                # Samples may be kept for more than scores.
                if found != wanted and (column in ours or kind != "samples"):
                    raise InputError(
                        Problem(name, f"{kind}/{column} is {found}; its settings count {wanted}, expected a "
                                "file of --save-tally")
                    )  # fmt: skip
    return shard


def merge_tallies(paths: Sequence[str | os.PathLike[str]], limits: Limits | None = None) -> Shard:
    """Return the statistics of all files of some tallies; raises EvaluationError if they do not fit.

    limits: the most that all of them together may have.
    """
    limits = limits_from(limits)
    if not paths or isinstance(paths, str | os.PathLike):
        raise EvaluationError(f"paths must be those of one or more tallies, not {shown(paths)}")
    shards: list[Shard] = []
    owner: dict[str, str] = {}
    for path in paths:
        shard, name = read_tally(path, limits), os.fspath(path)
        if shards:
            try:
                refuse_other_settings(shards[0].settings, shard.settings)
            except EvaluationError as error:
                raise EvaluationError(f"{os.fspath(paths[0])}, {name}: {error}") from error
        for file in shard.tally.files:
            if file in owner:
                raise EvaluationError(f"{name}: file {file!r} is in {owner[file]}, too; expected it once")
            owner[file] = name
        limits.check(name, "files", len(owner), "files, with those of the tallies before it")
        shards.append(shard)
    return Shard.merge(shards)


def score_tallies(
    paths: Sequence[str],
    asked: Request,
    limits: Limits,
    *,
    names: Sequence[str],
    wanted: Sequence[str],
    averages: Sequence[str],
    progress: Progress | None = None,
) -> tuple[Scores, Shard]:
    """Return the scores of tallies together, and their statistics.

    names: of scores that must be there. wanted: of scores whose intervals must be valid. averages: means that
    are shown. Raises EvaluationError if the tallies do not fit, SettingsError for settings.
    """
    shard = merge_tallies(paths, limits)
    shard = shard._replace(settings=with_names(replace(shard.settings, **asked.values), names, averages))
    asked.check(shard.settings, names)
    refuse_jackknife(shard.settings, wanted)
    parts = read_parts(asked.folds, asked.by, shard.tally.files, limits)
    return score_shard(shard, __version__, **parts, progress=progress), shard
