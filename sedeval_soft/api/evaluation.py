"""Score one system: tables in, scores out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from sedeval_soft import __version__
from sedeval_soft.api.sources import (
    Durations,
    Parted,
    check_object,
    check_text,
    is_points,
    limits_from,
    read_lengths,
    read_parts,
    settings_from,
    sides_of,
    to_rows,
    with_points,
)
from sedeval_soft.arrays import processors
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.evaluation.shard import Shard, count_rows, is_large
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.fields import DEFAULT_ONLY, Keywords
from sedeval_soft.measures.registry import ScoreName, group_of
from sedeval_soft.memory import memory_limited
from sedeval_soft.settings import GROUPS, MEANS, Settings, means_in, split_name
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits, size_of
from sedeval_soft.timeline.recordings import Recordings, align

if TYPE_CHECKING:
    from sedeval_soft.evaluation.ordered import Curves
    from sedeval_soft.evaluation.partition import Execute
    from sedeval_soft.evaluation.resample import Progress
    from sedeval_soft.tables.file_groups import Partition


def evaluate(
    reference: Any,  # noqa: ANN401 - see the docstring
    system: Any,  # noqa: ANN401
    *,
    durations: Durations | None = None,
    name: str | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    jobs: int | str | None = None,
    memory_limit: int | str | None = None,
    execute: Execute | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Scores:
    """Score a system's output against a reference.

    reference, system: each in one of these forms:

    - a path (a table, a directory of tables, `-` for standard input), a pattern of paths such as
      `ref/*.parquet` for the shards of one table, a URL or a pattern of URLs;
    - a pandas or other Arrow-compatible data frame, a mapping of columns, or a list of rows that are mappings
      (as dcase_util's event lists);
    - an array of shape (n_segments, n_classes) with values in [0, 1], one row per segment of
      `segment_length`, of any library on the CPU with `__array__` or `__dlpack__` (NumPy, PyTorch, JAX ...).
      A batch of shape (n_files, n_segments, n_classes) has files named "0", "1" ...; both sides must have one
      shape.
    - A mapping of file names to data frames, arrays or lists of (onset, offset, label) has one table for each
      file, as sed_scores_eval takes them.
    - A system known at some thresholds only is a mapping of these, as floats, to lists of events, each in one
      of the other forms; it has no segment-based scores.
    - A directory of tables with the same recordings and names such as `out_0.1.tsv` is read as such a system,
      with a warning; `operating_points` returns the mapping.

    The other arguments:

    - durations: seconds by file name, or the path of a table of them.
    - name: the system's name; its path if it has one.
    - folds: the fold of each file, as a mapping or the path of a table; files of all folds are pooled, and
      the differences between folds are reported as well.
    - by: the scene of each file, likewise, or a pattern of file names in which `{}` stands for the scene;
      each scene is also scored separately.
    - progress: called with the numbers of replicates done and of all, if intervals are computed.
    - limits: the most that each input may have; the defaults of `Limits` if none are given.
    - jobs: the number of processes that count large tables in files (0 or "all": one for each processor); in
      a script below `if __name__ == "__main__":`, as for any processes.
    - memory_limit: the most memory in use, in bytes or as "4G"; tables in files that need more are counted in
      parts.
    - execute: the workers that count, as `sedeval_soft.apps.cluster.workers` yields them. No
      choice of `jobs`, `memory_limit` or `execute` changes the scores.
    - settings: an object of `Settings`, or its fields as keywords, which override the fields of a challenge
      if the keyword `preset` names one; class names of arrays come from `classes`.

    Other keywords control how tables are read, also beside an object of `Settings`:

    - columns: the roles of columns with unusual names, as "filename=segment_id,value=p" or a mapping of roles
      (filename, onset, offset, event_label, value) to names; `ignore` names columns to ignore. A table
      without such a column is read as ever.
    - label: the class of all rows of a table without labels.
    - sample_rate: in Hz, of tables whose times are in samples.
    - source_form: the required form of tables, by name, or names by side (reference, system).

    Raises InputError for input that cannot be scored, SettingsError for settings.
    """
    chosen = settings_from(settings, values, limits=limits)
    if name is not None:
        check_text("name", name)
    count = 0 if jobs == "all" else jobs
    if count is not None and not (type(count) is int and 0 <= count < 10_000):
        raise SettingsError(f"jobs must be a number of processes or 'all', not {jobs!r:.60}")
    with nullcontext() if memory_limit is None else memory_limited(_bytes(memory_limit)):
        limits = limits_from(limits, values)
        system = with_points(system, limits)
        return evaluation_of(
            reference, system, with_folds(settings_of_points(chosen, [system]), folds),
            durations=durations, name=name, folds=folds, by=by, limits=limits, jobs=count, execute=execute,
            progress=progress,
        ).scores  # fmt: skip


def _bytes(limit: object) -> int:
    """Return a limit of memory in bytes, from these or a text such as `4G`; raises SettingsError."""
    size = size_of(limit) if isinstance(limit, str) else limit
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        raise SettingsError(f"memory_limit must be bytes, or a size such as '4G', not {limit!r:.60}")
    return size


class Evaluation(NamedTuple):
    """The scores of a system, with its statistics and rows.

    shard: the statistics. sides: the rows of reference and system, None if they are not in memory. folds,
    scenes: of the files.
    """

    scores: Scores
    shard: Shard
    sides: tuple[EventTable, EventTable] | None
    folds: Partition | None
    scenes: Partition | None = None

    @property
    def rows(self) -> tuple[EventTable, EventTable]:
        """The rows of both sides; they must be in memory."""
        if self.sides is None:
            raise ValueError("rows that were counted in parts are not kept")
        return self.sides

    @property
    def pair(self) -> Recordings:
        """The rows of both sides on one list of files and classes."""
        return align(*self.rows, self.shard.settings, self.shard.durations)


def save_tally(path: str, shard: Shard) -> None:
    """Write the statistics of a system for `merge`."""
    from sedeval_soft.evaluation.tally_file import pack_shard
    from sedeval_soft.report.write import write_atomic

    write_atomic(path, pack_shard(shard, __version__))


def evaluation_of(
    reference: Any,  # noqa: ANN401 - as for evaluate
    system: Any,  # noqa: ANN401
    settings: Settings,
    *,
    durations: Durations | None = None,
    name: str | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    limits: Limits,
    jobs: int | None = None,
    execute: Execute | None = None,
    rows_in_memory: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Score a system as `evaluate` does, and keep its statistics and rows.

    settings: complete, also for folds and operating points. jobs: processes that count large tables in
    files, 0 for one for each processor. rows_in_memory: whether all rows are needed there.
    """
    if settings.means:
        from sedeval_soft.evaluation.resample import check_means

        check_means(settings, scenes=by is not None or bool(settings.scenes))
    files = all(isinstance(side, str | os.PathLike) for side in (reference, system))
    if execute is not None:
        from sedeval_soft.evaluation.partition import Execute

        check_object("execute", execute, Execute)
        for wrong, message in (
            (not files, "need tables in files; expected their paths, patterns or URLs"),
            (settings.files is not None, "cannot go with files, which are chosen among all rows at once"),
            (limits.forms, "cannot go with --from: they find out the form of a table themselves"),
        ):
            if wrong:
                raise SettingsError(f"workers of a cluster {message}")
    jobs = processors() if jobs == 0 else jobs
    whole = rows_in_memory or settings.files is not None or bool(limits.forms)
    paths = (os.fspath(reference), os.fspath(system)) if files and not whole else None
    sides: tuple[EventTable, EventTable] | None = None
    if paths is not None and (execute is not None or is_large(*paths, jobs or 1)):
        from sedeval_soft.evaluation.partition import count_tables, processes

        with processes(jobs or 1) if execute is None else nullcontext(execute) as who:
            shard = count_tables(*paths, settings, lambda: read_lengths(durations, limits), limits, who)
        shard = shard if name is None else shard._replace(system=name)
    else:
        ours = to_rows(reference, "reference", settings, limits)
        sides = ours, to_rows(system, "system", settings, limits)
        shard = count_rows(*sides, settings, read_lengths(durations, limits), name)
    parts = read_parts(folds, by, shard.tally.files, limits)
    points = sides is not None and sides[1].born is not None
    scores = score_shard(shard, __version__, **parts, points=points, progress=progress)
    return Evaluation(scores, shard, sides, parts["folds"], parts["by"])


def threshold_curves(
    reference: Any,  # noqa: ANN401 - as for evaluate
    system: Any,  # noqa: ANN401
    *,
    durations: Durations | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Curves:
    """Return precision, recall, F and error rate over all thresholds, by class, and the PSD-ROC: for plots.

    Arguments and errors as for `evaluate`. The result has curves for the bases that `only` names; the PSD-ROC
    has the `psds` settings, or its weights. Undefined values are NaN in their arrays. `evaluate` with
    `measures="curves"` keeps them in its scores.
    """
    from sedeval_soft.evaluation.ordered import curves_of

    limits = limits_from(limits, values)
    system = with_points(system, limits)
    chosen = settings_of_points(settings_from(settings, values, limits=limits), [system])
    if "curves" not in chosen.measures:
        chosen = replace(chosen, measures=(*chosen.measures, "curves"))
    sides = sides_of(reference, system, chosen, limits)
    pair = align(*sides, chosen, read_lengths(durations, limits))
    return curves_of(tally_pair(pair), chosen)


def with_folds(settings: Settings, folds: object) -> Settings:
    """Return the settings for files in folds: by default, thresholds are tuned over the folds."""
    if folds is None or settings.tunes:
        return settings
    return replace(settings, cross_tune="folds")


def settings_for_scores(
    names: Sequence[str],
    settings: Settings | None,
    values: Mapping[str, Any],
    *,
    below: Mapping[str, Any] | None = None,
    averages: Sequence[str] = (),
    limits: Limits | None = None,
) -> Settings:
    """Return settings that also compute some scores beyond the default ones.

    below: settings for fields that `values` lacks. A preset, or these, keep what they evaluate if they choose
    it; their measures and means are widened. averages: means that are shown, such as `harmonic`.
    """
    plain = [name for name in names if not split_name(name)[1]]
    more = [
        f"{name.basis}.{name.reading}"
        for name in map(ScoreName.parse, plain)
        if name.basis not in DEFAULT_ONLY and "psds" not in name.measure
    ]
    defaults = {"only": (*DEFAULT_ONLY, *dict.fromkeys(more)), **(below or {})}
    chosen = settings_from(settings, values, defaults, limits)
    chosen = with_names(chosen, plain, averages)
    more = [str(ScoreName.parse(name)) for name in names if name not in plain]
    chosen = replace(chosen, variants=tuple(dict.fromkeys((*chosen.variants, *more))))
    if settings is not None or "measures" in values:
        return chosen
    groups = {*chosen.measures, *map(group_of, plain)}
    return replace(chosen, measures=tuple(group for group in GROUPS if group in groups))


def with_names(settings: Settings, names: Sequence[str], averages: Sequence[str] = ()) -> Settings:
    """Return settings with the means that scores of some names are, and those among averages."""
    means = {*settings.means, *averages, *(mean for name in names for mean in means_in(name))}
    return replace(settings, means=tuple(mean for mean in MEANS if mean in means))


def evaluate_rows(
    reference: EventTable,
    system: EventTable,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    name: str | None = None,
) -> Scores:
    """Score rows that were read already; arguments as for `evaluate`."""
    shard = count_rows(reference, system, settings, durations, name)
    return score_shard(shard, __version__, points=is_points(system))


def settings_of_points(settings: Settings, systems: Iterable[Any]) -> Settings:
    """Return the settings for systems; operating points have events only.

    Raises SettingsError for settings that lists of events cannot follow.
    """
    points = [system for system in systems if is_points(system)]
    if not points:
        return settings
    # Who gave a folder must know first what it was taken for.
    rows = [system for system in points if not isinstance(system, Mapping)]
    assumed = [f"{table.origin.name}: {text}" for table in rows for text in table.origin.assumed][:1]
    only_events = ("event", "intersection")
    only = tuple(part for part in settings.only if part.startswith(only_events))
    rule = settings.thresholds if isinstance(settings.thresholds, str) else None
    objective = settings.objective if settings.cross_tune is not None else None
    of_cells = rule or (objective if objective and not objective.startswith(only_events) else None)
    names = ", ".join(settings.measures)
    for wrong, message in (
        (
            settings.events == "merge" or settings.postprocesses or settings.psds_median_filters,
            "are lists of events, which cannot be merged or post-processed",
        ),
        (not only, "have no scores of segments or clips; evaluate event or intersection"),
        (
            settings.measures and not {"curves", "confusion"} & {*settings.measures},
            f"have no values for measures={names}; only confusion and curves can be had of them",
        ),
        (of_cells, f"have no values of segments or clips for {of_cells}"),
    ):
        if wrong:
            raise SettingsError("; ".join([f"operating points {message}", *assumed]))
    # Average precision ranks single events by their values, which these have none of.
    measures = tuple(each for each in settings.measures if each == "confusion")
    return replace(settings, only=only, measures=measures)
