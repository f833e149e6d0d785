"""Replicates are what evaluating resampled files from scratch gives, each score in each replicate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawn_again import (
    FILES,
    LABELS,
    Tables,
    as_floats,
    key_of,
    random_table,
    random_tables,
    same_numbers,
    sparse_tables,
)
from tables import long_rows

from sedeval_soft.evaluation import resample
from sedeval_soft.evaluation.resample import Replicates, bootstrap
from sedeval_soft.measures import event, matching, thresholds
from sedeval_soft.settings import GROUPS, READINGS, Settings

ALL = Settings(
    classes=LABELS, only=tuple(READINGS), psds="dcase-psds2", measures=GROUPS, satisfice="precision>=0.5"
)
COUNTED = replace(ALL, psds=None, measures=())
"""All that needs no look at each replicate by itself."""

_NOTHING = long_rows([("a", 0.0, 1.0, "car", 0.0)], files=FILES)

TABLES = {
    "tied": lambda: random_tables(1),
    "all tied": lambda: Tables(
        *(replace(side, values=(np.round(side.value) * 0.75,)) for side in _sides(random_tables(2)))
    ),
    "fine": lambda: random_tables(3, "fine"),
    "sure": lambda: random_tables(4, "sure"),
    "sparse": lambda: sparse_tables(5),
    "one class": lambda: Tables(
        *(random_table(np.random.default_rng(seed), labels=["dog"], n=25) for seed in (6, 7))
    ),
    "no reference": lambda: replace(random_tables(8), reference=_NOTHING),
    "empty system": lambda: replace(random_tables(9), system=_NOTHING),
    "nothing": lambda: Tables(_NOTHING, _NOTHING),
    "values on one side": lambda: replace(random_tables(10), reference=random_tables(11, "plain").reference),
}

SETTINGS = {
    "all": ALL,
    "rows are events": replace(ALL, events="rows"),
    "other cuts": replace(
        ALL, threshold=0.25, reference_threshold=0.75, inclusive=True, beta=2.0, t_norm="product", bins=3,
        max_fpr=0.3, max_fnr=0.4, entropy_unit="bits", iou=0.3, psds=None, alpha_ct=0.5, alpha_st=1.0,
    ),
    "other grid": replace(ALL, segment_length=0.7, pool="mean", matching="greedy", offset=False, beta=0.5),
    "sed_eval": replace(ALL, compat="sed_eval", segment_length=0.5),
    "median filters": replace(ALL, psds_median_filters=(0.3, 3.0), psds="dcase-psds1"),
    "post-processed": replace(ALL, median_filter=3.0, min_gap=1.5, min_duration={"dog": 1.5}),
}  # fmt: skip


def _sides(tables):
    return tables.reference, tables.system


def rows_of_weights(n_files: int, count: int = 3, seed: int = 0) -> np.ndarray:
    """Files drawn at random, one left out, only one file, and none."""
    drawn = np.concatenate(list(bootstrap(n_files, count, seed)))
    one, last, every = np.zeros(n_files), np.ones(n_files), np.zeros(n_files)
    one[1], last[-1] = 4.0, 0.0
    return np.stack([*drawn, one, last, every])


def compare(tables, settings, rows, replicates=None):
    """Compare replicates of one evaluation with evaluations of drawn tables; return the names of scores."""
    tally, scores = tables.tally(settings), tables.scores(settings)
    names = list(scores)
    made = replicates or Replicates.of(tally, settings)
    ours = made.values(rows, [key_of(scores.score(name)) for name in names])
    theirs = np.stack([as_floats(tables.drawn(row).scores(settings), names) for row in rows], axis=1)
    same_numbers(ours, theirs, names)
    return names, ours


@pytest.mark.parametrize("made", TABLES)
def test_every_score_of_every_kind_of_table(made):
    names, values = compare(TABLES[made](), ALL, rows_of_weights(len(FILES)))
    assert len(names) > 900
    if made in ("tied", "fine"):
        # Not a comparison of nothing with nothing.
        assert np.isfinite(values).mean() > 0.5


@pytest.mark.parametrize("form", ["tied", pytest.param("fine", marks=pytest.mark.slow)])
@pytest.mark.parametrize("chosen", [name for name in SETTINGS if name != "all"])
def test_every_score_under_other_settings(chosen, form):
    compare(random_tables(20, form), SETTINGS[chosen], rows_of_weights(len(FILES), 2))


@pytest.mark.parametrize("seed", range(30, 36))
def test_best_thresholds_of_many_draws(monkeypatch, seed):
    """What is counted at candidates, one weights at a time or many."""
    monkeypatch.setattr(thresholds, "_AT_ONCE", 1 << (seed % 3 * 8))
    monkeypatch.setattr(resample, "_EVENTS", (1, 7, 1 << 20)[seed % 3])
    only = ("segment.optimal", "clip.optimal", "event.optimal", "intersection.optimal")
    settings = replace(COUNTED, only=only, inclusive=seed % 2 == 0, beta=(1.0, 2.0, 0.3)[seed % 3])
    tables = (
        random_tables(seed, ("tied", "fine", "plain")[seed % 3], n=60) if seed % 4 else sparse_tables(seed)
    )
    made = Replicates.of(tables.tally(settings), settings)
    compare(tables, settings, rows_of_weights(len(FILES), 5, seed), made)


@pytest.mark.parametrize("seed", range(3))
def test_what_one_file_leaves_undefined_is_so_where_it_is_drawn(monkeypatch, seed):
    """Events that overlap too much to be matched whatever their class, in some of the files."""
    monkeypatch.setattr(event, "_MOST_COPIES", 12)
    monkeypatch.setattr(matching, "_COPIES_PER_EDGE", 1)
    settings = replace(COUNTED, only=("event.soft",), events="rows", onset_collar=3.0, offset_collar=3.0)
    tables = random_tables(seed, n=25)
    lost = np.isnan(tables.tally(settings).per_file["event.soft.substitutions"])
    assert lost.any() and not lost.all()
    names, values = compare(tables, settings, rows_of_weights(len(FILES), 12, seed))
    undefined = np.isnan(values[names.index("event.soft.error_rate.micro")])
    assert undefined.any() and not undefined.all()


def at_thresholds(tables, thresholds, *, inclusive):
    """Return the tables with a system that says 1 where its class is detected, else 0."""
    system = tables.system
    cut = np.array([thresholds.get(label, np.inf) for label in system.classes])[system.label]
    found = system.value >= cut if inclusive else system.value > cut
    return replace(tables, system=replace(system, values=(found.astype(np.float64),)))


def with_silence(tables, settings):
    """Return the tables with a system that says 0 of every class at all times, as some thresholds detect."""
    tally, system = tables.tally(settings), tables.system
    length = dict(zip(tally.files, tally.per_file["length"] / 1e6, strict=True))
    rows = zip(system.file, system.onset, system.offset, system.label, system.value, strict=True)
    known = [(system.files[f], on, off, system.classes[label], value) for f, on, off, label, value in rows]
    silence = [(file, 0.0, end, label, 0.0) for file, end in length.items() if end for label in LABELS]
    return replace(tables, system=long_rows([*known, *silence], files=FILES))


def lasting(tables):
    """Return tables with durations, as long as either side goes."""
    ends = dict.fromkeys(FILES, 0.0)
    for side in (tables.reference, tables.system):
        for file, offset in zip(side.file, side.offset, strict=True):
            ends[side.files[file]] = max(ends[side.files[file]], float(offset))
    return replace(tables, durations=tables.durations or ends)


@pytest.mark.parametrize("inclusive", [False, True], ids=["above", "inclusive"])
@pytest.mark.parametrize("made", ["tied", "fine", "sparse", "no reference", "values on one side"])
def test_thresholds_of_all_files_may_be_kept(made, inclusive):
    """The optimal readings of replicates are then the hard ones of a system that was cut before."""
    settings = replace(COUNTED, inclusive=inclusive, reference_threshold=0.5, events="merge", beta=2.0)
    settings = replace(settings, fixed_thresholds=True, satisfice=None)
    tables, rows = lasting(TABLES[made]()), rows_of_weights(len(FILES), 4, 3)
    tally, scores = tables.tally(settings), tables.scores(settings)
    fixed = Replicates.of(tally, settings)
    assert not fixed.optimal
    compared = 0
    silent = with_silence(tables, settings)
    for basis in ("segment", "clip", "event", "intersection"):
        whole = silent if basis in ("segment", "clip") else tables
        for use, prefix in (("threshold", ""), ("best_error_rate_threshold", "best_")):
            stem = f"{basis}.optimal."
            found = {c: scores[f"{stem}{use}[{c}]"] for c in LABELS if f"{stem}{use}[{c}]" in scores}
            thresholds = {label: value for label, value in found.items() if value is not None}
            names = [
                name
                for name in scores
                if name.startswith(stem)
                and ("best_error_rate" in name) == bool(prefix)
                and "threshold" not in name
            ]
            if not names:
                continue
            wanted = [
                name.replace(".optimal.", ".hard.").replace("best_error_rate", "error_rate") for name in names
            ]
            ours = fixed.values(rows, [key_of(scores.score(name)) for name in names])
            theirs = []
            for row in rows:
                cut = at_thresholds(whole.drawn(row), thresholds, inclusive=inclusive)
                theirs.append(as_floats(cut.scores(replace(settings, only=(f"{basis}.hard",))), wanted))
            theirs = np.stack(theirs, axis=1)
            if prefix:
                # Regardless of class, the error rate of the hard reading knows substitutions, this one none.
                kept = [k for k, name in enumerate(names) if not name.endswith(".micro")]
                assert len(kept) == len(names) - 1
                ours, theirs, names = ours[kept], theirs[kept], [names[k] for k in kept]
            same_numbers(ours, theirs, names)
            compared += len(names)
    assert compared > 200


@pytest.mark.parametrize("fixed", [False, True], ids=["retuned", "fixed"])
def test_every_file_once_gives_the_scores_themselves(fixed):
    for tables in (random_tables(63), random_tables(64, "fine"), sparse_tables(65)):
        # Under a constraint thresholds are never fixed: there are no values, then.
        settings = replace(ALL, fixed_thresholds=fixed, satisfice=None if fixed else ALL.satisfice)
        scores = tables.scores(settings)
        names = list(scores)
        made = Replicates.of(tables.tally(settings), settings)
        ours = made.values(np.ones((1, len(FILES))), [key_of(scores.score(name)) for name in names])
        same_numbers(ours, as_floats(scores, names)[:, None], names)
