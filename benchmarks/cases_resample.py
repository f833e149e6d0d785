"""Cases of resampling: replicates of all scores against one evaluation, and against sed_scores_eval's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import inputs
from case import COMMAND, FULL, Bench, Result, check, hour, megabytes, processes, seconds, within
from timing import call, in_turn

SAMPLE = Path(__file__).parents[1] / "sample_data"
PEER = "sed_scores_eval"
THEIRS = 10
"""Replicates of sed_scores_eval: each takes as long as any other."""

FILES, SECONDS = 49, 232
"""As many recordings as the development set of MAESTRO Real has, of their mean length, in segments of 1 s."""


def intervals(bench: Bench) -> Iterator[Result]:
    """Give hard and soft scores intervals, against evaluating once; and peak memory of more replicates."""
    n_files = max(2, FILES * bench.size.hour // 3600)
    tables = inputs.soft_tables(n_files * SECONDS, frames_per_second=1, file_seconds=SECONDS)
    only = ("segment.hard", "segment.soft", "event.hard", "event.soft")
    case = f"1000 bootstrap replicates of hard and soft scores, {n_files} files of {SECONDS} segments"
    replicated = _Replicated(tables, only=only)
    costs = in_turn(call(replicated.intervals), call(replicated.once), bench.runs)
    yield within(case, costs, "one evaluation", 1.0)
    yield from _families(bench)
    yield from _memory(bench)
    yield from _retuned(bench)


_READINGS = ("segment.hard", "segment.soft", "event.hard")
FAMILIES: dict[str, dict[str, Any]] = {
    "best F": {"only": ("event.optimal", "intersection.optimal")},
    "best F of segments and clips": {"only": ("segment.optimal", "clip.optimal")},
    "jointly best F": {"only": ("event.optimal",), "measures": ("joint",)},
    "best F at a precision of 0.5": {"only": ("event.optimal",), "satisfice": "precision>=0.5"},
    "PSDS1": {"only": ("intersection.hard",), "psds": "dcase-psds1"},
    "PSDS2": {"only": ("intersection.hard",), "psds": "dcase-psds2"},
    "soft PSDS1": {"only": ("intersection.soft",), "psds": "dcase-psds1"},
    "soft events and intersections": {"only": ("event.soft", "intersection.soft")},
    "curves of segments": {"only": _READINGS[:2], "measures": ("curves",)},
    "curves of clips": {"only": ("clip.hard", "clip.soft"), "measures": ("curves",)},
    "average precision of events": {"only": ("event.hard",), "measures": ("curves",)},
    "calibration": {"only": _READINGS[:2], "measures": ("calibration",)},
    "divergence and correlation": {"only": _READINGS[:2], "measures": ("divergence",)},
    "rankings": {"only": ("ranking",)},
    "confusions": {"only": _READINGS, "measures": ("confusion",)},
    "grounding": {"only": ("segment.hard",), "measures": ("grounding",)},
}
"""What has intervals, and the settings by which it is scored."""


def _families(bench: Bench) -> Iterator[Result]:
    """Give each family of scores intervals, against evaluating once; then all of them, as whole processes."""
    n_clips = 692 if bench.size is FULL else 8
    size = f"{n_clips} clips x 10 classes x 62.5 ms"
    clips = inputs.clip_tables(bench.folder, n_clips, n_classes=10, frames_per_second=16)
    tables = [str(path) for path in (clips.reference, clips.system)]
    for what, settings in FAMILIES.items():
        replicated = _Replicated(tables, **settings)
        costs = in_turn(call(replicated.intervals), call(replicated.once), bench.runs)
        yield within(f"1000 bootstrap replicates of {what}, {size}", costs, "one evaluation", 60.0)
    everything = ["--only", "all", "--psds", "dcase-psds1"]
    other = inputs.clip_tables(bench.folder, n_clips, 10, 16, name="others", shift=7).system
    once = [COMMAND, *tables, *everything]
    costs = processes(bench, [*once, other, "--ci"], once, "segment")
    yield within(f"two systems, {size}, all scores with intervals", costs, "one without", 60.0)
    ours = [COMMAND, SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", *everything]
    costs = processes(bench, [*ours, "--ci"], ours, "people talking")
    yield within("the sample, `--only all --psds dcase-psds1 --ci`", costs, "without --ci", 60.0)


class _Replicated:
    """One evaluation, and what its replicates add to it."""

    def __init__(self, tables: Sequence[Any], **settings: Any) -> None:  # noqa: ANN401 - any settings
        """Evaluate once, to have what is counted."""
        from sedeval_soft.api.sources import to_rows
        from sedeval_soft.evaluation.scores import score_tally
        from sedeval_soft.evaluation.shard import count_rows
        from sedeval_soft.settings import Settings

        self.tables, self.asked = tables, settings
        self.settings = Settings.of(**settings, ci="bootstrap")
        ours, theirs = (to_rows(table, "table", self.settings) for table in tables)
        self.tally = count_rows(ours, theirs, self.settings).tally
        self.scores = score_tally(self.tally, self.settings)

    def once(self) -> Any:  # noqa: ANN401 - Scores
        """Evaluate the tables without intervals."""
        from sedeval_soft import evaluate

        return evaluate(*self.tables, **self.asked)

    def intervals(self) -> Any:  # noqa: ANN401 - a mapping of scores
        """Find the intervals of all scores of what was counted."""
        from sedeval_soft.evaluation.resample import with_intervals

        return with_intervals(self.scores, self.tally, self.settings)


def _memory(bench: Bench) -> Iterator[Result]:
    """Compare the peak memory of processes with few and with many replicates."""
    rows = bench.size.small_rows
    tables = inputs.long_tables(bench.folder, rows, file_seconds=60)
    few, many = (
        [COMMAND, tables.reference, tables.system, "--ci", "--replicates", n] for n in ("1000", "10000")
    )
    costs = processes(bench, many, few, "class", runs=min(bench.runs, 5))
    # Which arrays of two threads are there at once changes a tenth from run to run.
    peak, floor = (median(run.peak_bytes for run in side) for side in (costs.ours, costs.other))
    case = f"{rows:,} + {rows:,} rows, all tables with intervals: peak memory of 10000 replicates"
    yield Result(case, megabytes(peak), f"of 1000, {megabytes(floor)}", peak / floor, 1.1)


def _retuned(bench: Bench) -> Iterator[Result]:
    for length in (1.0, 0.2):
        size = f"{hour(bench)} (minutes) x {inputs.N_CLASSES} classes x 0.2 s frames, {length} s segments"
        case = f"a bootstrap replicate of best F, {size}"
        if find_spec(PEER) is None:
            yield Result(case, "-", f"{PEER} is not installed")
        else:
            yield _against_peer(bench, case, length)


def _against_peer(bench: Bench, case: str, length: float) -> Result:
    from sed_scores_eval import segment_based
    from sed_scores_eval.base_modules.bootstrap import bootstrap_from_deltas
    from sed_scores_eval.base_modules.scores import create_score_dataframe
    from sed_scores_eval.segment_based.intermediate_statistics import intermediate_statistics_deltas

    from sedeval_soft import evaluate

    made = inputs.recordings(max(5, bench.size.hour // 60), 60, frames_per_second=5)
    frames = {
        name: create_score_dataframe(scores, made.edges, list(inputs.CLASSES))
        for name, scores in made.scores.items()
    }
    data = {"ground_truth": made.truth, "audio_durations": made.durations, "segment_length": length}
    deltas = intermediate_statistics_deltas(scores=frames, **data)
    settings: dict[str, Any] = {"only": ("segment.optimal",), "segment_length": length}
    ours = THEIRS * 100

    def replicated() -> None:
        evaluate(*made.tables, durations=made.durations, ci="bootstrap", replicates=ours, **settings)

    def peer() -> None:
        best, iterations = segment_based.best_fscore, THEIRS // 5
        bootstrap_from_deltas(best, deltas, n_folds=5, n_iterations=iterations, scores=None, **data)

    costs = in_turn(call(replicated), call(peer), bench.runs, once=True)
    one, other = (taken / count for taken, count in zip(costs.seconds, (ours, THEIRS), strict=True))
    name = "segment.optimal.f1.macro"
    theirs = segment_based.best_fscore(scores=frames, **data)[0]["macro_average"]
    check(case, evaluate(*made.tables, durations=made.durations, **settings)[name], theirs)
    return Result(case, seconds(one), f"{PEER}, {seconds(other)}", other / one, 100, at_least=True)
