"""What costs most, against a loop over seconds; and how scores spread over folds."""

from __future__ import annotations

import statistics

import pytest
from drawn_again import FILES, LABELS, random_tables
from exchanged import tuples
from tables import long_rows

from sedeval_soft import EvaluationError, InputError, evaluate
from sedeval_soft.report import render
from sedeval_soft.settings import Settings


def seconds_of(rows):
    """The highest value in each (file, class, second); rows are on whole seconds."""
    found = {}
    for file, onset, offset, label, value in tuples(rows):
        for second in range(int(onset), int(offset)):
            found[file, label, second] = max(found.get((file, label, second), 0.0), value)
    return found


def costs(tables, reading, threshold=0.5):
    """Missed and inserted of each (file, class, second)."""
    sides = [seconds_of(side) for side in (tables.reference, tables.system)]
    if reading == "hard":
        sides = [{key: float(value > threshold) for key, value in side.items()} for side in sides]
    y, p = sides
    return {
        key: (max(y.get(key, 0) - p.get(key, 0), 0), max(p.get(key, 0) - y.get(key, 0), 0)) for key in y | p
    }


def summed(cells, key_of):
    """Add up costs by a key, the most costly first, equal ones by their keys; none that cost nothing."""
    found = {}
    for key, (missed, inserted) in cells.items():
        m, i = found.get(key_of(key), (0.0, 0.0))
        found[key_of(key)] = (m + missed, i + inserted)
    ordered = sorted(found, key=lambda key: (-round(sum(found[key]), 9), key))
    return [(key, *found[key]) for key in ordered if sum(found[key]) > 0]


def agree(offenders, wanted, total, name):
    assert len(offenders) == len(wanted)
    for offender, (key, missed, inserted) in zip(offenders, wanted, strict=True):
        assert getattr(offender, name) == key
        assert (offender.missed, offender.inserted) == pytest.approx((missed, inserted), abs=1e-9)
        assert offender.cost == pytest.approx(missed + inserted, abs=1e-9)
        assert offender.share == pytest.approx((missed + inserted) / total, abs=1e-9)


@pytest.mark.parametrize("reading", ["soft", "hard"])
@pytest.mark.parametrize("count", [3, 1000])
@pytest.mark.parametrize("seed", [1])
def test_costs_are_a_loop_over_seconds(reading, count, seed):
    """Quarters of a second's value tie often: of equal ones the first file, class or second stands first."""
    tables = random_tables(seed, n=60)
    worst = evaluate(
        tables.reference, tables.system, worst=count, only=(f"segment.{reading}",), classes=LABELS
    ).worst
    cells = costs(tables, reading)
    total = sum(map(sum, cells.values()))
    assert (worst.basis, worst.reading) == ("segment", reading)
    agree(worst.files, summed(cells, lambda key: key[0])[:count], total, "file")
    agree(worst.classes, summed(cells, lambda key: key[1])[:count], total, "class_name")
    assert all(of.class_name is None and of.onset is None for of in worst.files)
    assert all(of.file is None for of in worst.classes)
    wanted = summed(cells, lambda key: (key[0], key[2]))[:count]
    assert len(worst.segments) == len(wanted)
    y, p = seconds_of(tables.reference), seconds_of(tables.system)
    for offender, ((file, second), missed, inserted) in zip(worst.segments, wanted, strict=True):
        assert (offender.file, offender.onset, offender.offset) == (file, second, second + 1)
        assert (offender.missed, offender.inserted) == pytest.approx((missed, inserted))
        assert offender.cost == pytest.approx(missed + inserted)
        assert offender.share == pytest.approx((missed + inserted) / total)
        most = max(LABELS, key=lambda c: (sum(cells.get((file, c, second), (0, 0))), -LABELS.index(c)))
        assert offender.class_name == most
        assert offender.reference == y.get((file, most, second), 0.0)
        assert offender.system == p.get((file, most, second), 0.0)


def test_times_of_segments_are_those_of_their_files():
    """Each file has its own grid, and its last segment ends where it does."""
    reference = long_rows(
        [("a", 0.0, 0.75, "car", 1.0), ("b", 0.0, 1.3, "car", 0.5), ("c", 0.0, 0.5, "car", 1.0)]
    )
    system = long_rows([("a", 0.0, 0.5, "car", 1.0), ("b", 0.5, 1.0, "car", 0.25)], files="abc")
    lengths = {"a": 0.75, "b": 1.3, "c": 2.0}
    worst = evaluate(reference, system, durations=lengths, worst=9, segment_length=0.5).worst
    rows = [(of.file, of.onset, of.offset, of.cost) for of in worst.segments]
    last = [("b", 0.0, 0.5, 0.5), ("b", 1.0, 1.3, 0.5), ("b", 0.5, 1.0, 0.25)]
    assert rows == [("a", 0.5, 0.75, 1.0), ("c", 0.0, 0.5, 1.0), *last]


def test_nothing_that_costs_nothing_is_listed():
    tables = random_tables(4)
    worst = evaluate(tables.reference, tables.reference, worst=5, only=("segment", "event")).worst
    assert worst.files == worst.classes == worst.segments == ()
    silent = long_rows([], files=("a", "b"))
    scores = evaluate(silent, silent, worst=5, classes=("car",))
    assert scores.worst.files == scores.worst.segments == ()
    assert render([scores], "text") and render([scores], "json")
    assert evaluate(tables.reference, tables.system).worst is None


@pytest.mark.parametrize(
    ("only", "family"),
    [
        (("segment",), ("segment", "soft")),
        (("event", "segment.hard"), ("segment", "hard")),
        (("event",), ("event", "soft")),
        (("event.hard", "clip"), ("event", "hard")),
        (("clip", "intersection"), ("clip", "soft")),
        (("intersection.hard",), ("intersection", "hard")),
        (("segment.optimal",), None),
        (("ranking",), None),
    ],
    ids=str,
)
def test_costs_are_of_the_first_family_that_is_evaluated(only, family):
    tables = random_tables(5)
    scores = evaluate(tables.reference, tables.system, worst=50, only=only, classes=LABELS)
    worst = scores.worst
    if family is None:
        assert worst is None
        return
    assert (worst.basis, worst.reading) == family
    assert (worst.segments == ()) == (family[0] != "segment")
    stem = ".".join(family)
    tp, n_ref, n_sys = (scores[f"{stem}.{name}.micro"] for name in ("tp", "n_ref", "n_sys"))
    for part in (worst.files, worst.classes):
        assert sum(of.missed for of in part) == pytest.approx(n_ref - tp)
        assert sum(of.inserted for of in part) == pytest.approx(n_sys - tp)
        assert sum(of.share for of in part) == pytest.approx(1.0)
        assert [of.cost for of in part] == sorted((of.cost for of in part), reverse=True)


# --- folds ----------------------------------------------------------------------------------------

FOLDS = {"a": "2", "b": "10", "c": "2", "d": "1", "e": "10"}


def test_spread_is_that_of_the_scores_of_each_fold():
    tables = random_tables(7)
    settings = Settings(only=("segment", "event.hard", "clip"), classes=LABELS)
    scores = evaluate(tables.reference, tables.system, folds=FOLDS, **_asked(settings))
    plain = evaluate(tables.reference, tables.system, **_asked(settings))
    # Thresholds are tuned over folds beside, which single folds know nothing of.
    pooled = {name: value for name, value in scores.items() if "@" not in name and ".tuned." not in name}
    assert pooled == dict(plain)
    assert scores.folds.names == ("1", "2", "10") and scores.folds.files == (1, 2, 2)
    parts = [
        tables.drawn([float(FOLDS[file] == fold) for file in FILES]).scores(settings)
        for fold in scores.folds.names
    ]
    spreads = [spread for spread in scores.folds.spreads if ".tuned." not in spread.name]
    assert [spread.name for spread in spreads] == [n for n, s in plain.scores.items() if s.average]
    for spread in spreads:
        values = [part[spread.name] for part in parts]
        assert spread.values == tuple(
            value if value is None else pytest.approx(value, abs=1e-12) for value in values
        )
        known = [value for value in spread.values if value is not None]
        if len(known) < 2:
            assert spread.mean is spread.deviation is None
        else:
            assert spread.mean == pytest.approx(statistics.fmean(known), abs=1e-12)
            assert spread.deviation == pytest.approx(statistics.stdev(known), abs=1e-12)
        for fold, value in zip(scores.folds.names, spread.values, strict=True):
            assert scores[f"{spread.name}@{fold}"] == value


def _asked(settings):
    return {"only": settings.only, "classes": settings.classes}


def test_folds_that_cannot_be():
    tables = random_tables(8)
    sides = tables.reference, tables.system
    with pytest.raises(EvaluationError, match=r"there is one fold, 'x'; expected two or more"):
        evaluate(*sides, folds=dict.fromkeys(FILES, "x"))
    with pytest.raises(InputError, match=r"folds: has no part for 2 files \('d', 'e'\)"):
        evaluate(*sides, folds={"a": "1", "b": "2", "c": "1"})
    with pytest.raises(EvaluationError, match=r"folds and by both have '1'; expected each name once"):
        evaluate(*sides, folds=FOLDS, by=FOLDS)
    with pytest.raises(EvaluationError, match=r"groups and by both have 'x'"):
        evaluate(*sides, groups={"x": ("car",)}, by=dict.fromkeys(FILES, "x"))


def test_a_scene_is_scored_as_if_it_were_all():
    tables = random_tables(9)
    settings = Settings(
        classes=LABELS, psds="dcase-psds2", only=("segment", "clip", "event"), measures=("curves",)
    )
    scores = evaluate(
        tables.reference, tables.system, by={f: "ab" if f in "ab" else "rest" for f in FILES},
        classes=LABELS, psds="dcase-psds2", only=settings.only, measures=("curves",),
    )  # fmt: skip
    for scene, files in (("ab", "ab"), ("rest", "cde")):
        alone = tables.drawn([float(file in files) for file in FILES]).scores(settings)
        for name, value in alone.items():
            ours = scores[f"{name}@{scene}"]
            assert ours == (None if value is None else pytest.approx(value, abs=1e-12)), name
