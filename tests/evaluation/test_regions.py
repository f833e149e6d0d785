"""`regions`, `region_edges` and `after_shots`: what lies outside counts nowhere, and lengths shrink with it.

The second answer looks at every tenth of a second, counts in fractions, and tries all assignments.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import intersection_oracle as oracle
import pandas as pd
import pytest
from called import REFERENCE, SYSTEM, call
from contract.laws import ALL, FILES, FORMS, cut_by_hand, random_table, rows_of, shuffled, table_of
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from plotted import caption

from sedeval_soft import EvaluationError, Evaluator, InputError, Settings, SettingsError, evaluate, plot
from sedeval_soft.report import render

LABELS = ("car", "dog")
END = 30
"""Tenths of a second that a file has."""

Row = tuple[str, int, int, str, float]
"""File, onset, offset in tenths of a second, class, value."""

Spans = dict[str, list[tuple[int, int]]]
"""Regions by file, in tenths of a second."""


class Case(NamedTuple):
    """Two tables and regions of their files."""

    reference: list[Row]
    system: list[Row]
    regions: Spans


def case(seed: int) -> Case:
    """Return a random case: values of quarters, regions that overlap, touch, and reach over the end."""
    rng = random.Random(seed)  # noqa: S311

    def rows(n: int) -> list[Row]:
        found = []
        for _ in range(n):
            onset = rng.randrange(END - 1)
            offset = min(END, onset + rng.randrange(1, 9))
            value = rng.choice((0.25, 0.5, 0.75, 1.0))
            found.append((rng.choice("ab"), onset, offset, rng.choice(LABELS), value))
        return found

    def spans() -> list[tuple[int, int]]:
        found = []
        for _ in range(rng.randrange(1, 4)):
            begin = rng.randrange(END - 1)
            found.append((begin, begin + rng.randrange(1, 16)))
        return found

    return Case(rows(7), rows(9), {file: spans() for file in "ab"})


def seconds(rows: list[Row]) -> dict[str, list]:
    columns = [list(column) for column in zip(*rows, strict=True)]
    times = [[tick / 10 for tick in column] for column in columns[1:3]]
    names = ("filename", "onset", "offset", "event_label", "value")
    return dict(zip(names, (columns[0], *times, *columns[3:]), strict=True))


def in_seconds(regions: Spans) -> dict[str, list[list[float]]]:
    return {name: [[a / 10, b / 10] for a, b in spans] for name, spans in regions.items()}


def inside(regions: Spans, file: str) -> list[bool]:
    return [any(a <= tick < b for a, b in regions.get(file, [])) for tick in range(END)]


def track(rows: list[Row], file: str, label: str) -> list[float]:
    """The value of every tick."""
    own = [row for row in rows if row[0] == file and row[3] == label]
    return [max((row[4] for row in own if row[1] <= tick < row[2]), default=0.0) for tick in range(END)]


def runs(active: list[bool]) -> list[tuple[int, int]]:
    edges = [tick for tick, (a, b) in enumerate(pairwise([False, *active, False])) if a != b]
    return list(zip(edges[::2], edges[1::2], strict=True))


def events(rows: list[Row], case: Case, level: float, edges: str, form: str) -> list[oracle.Event]:
    """The events at a level: those of rows or of touching rows, cut to regions or chosen by their onset."""
    found = []
    for file, label in ((file, label) for file in "ab" for label in LABELS):
        counts = inside(case.regions, file)
        if form == "merge":
            spans = runs([value >= level for value in track(rows, file, label)])
        else:
            spans = [
                (row[1], row[2]) for row in rows if (row[0], row[3]) == (file, label) and row[4] >= level
            ]
        for onset, offset in spans:
            if edges == "onset":
                found += [(file, label, onset, offset)] * counts[onset]
                continue
            pieces = runs([counts[tick] and onset <= tick < offset for tick in range(END)])
            found += [(file, label, a, b) for a, b in pieces]
    return found


def matched(reference: list[oracle.Event], system: list[oracle.Event]) -> int:
    """The most pairs, of all assignments that there are."""
    near = []
    for file, label, onset, offset in reference:
        late = max(Fraction(2), Fraction(offset - onset, 2))
        near.append(
            {
                k
                for k, other in enumerate(system)
                if other[:2] == (file, label)
                and abs(onset - other[2]) <= 2
                and abs(offset - other[3]) <= late
            }
        )

    def most(at: int, free: frozenset[int]) -> int:
        if at == len(near):
            return 0
        return max([most(at + 1, free), *(1 + most(at + 1, free - {k}) for k in near[at] & free)])

    near = [each for each in near if each]
    return most(0, frozenset(range(len(system))))


def of_class(found: list[oracle.Event], label: str) -> list[oracle.Event]:
    return [event for event in found if event[1] == label]


Counts = tuple[Fraction, Fraction, Fraction]
"""TP, N_ref and N_sys."""


def levels(*tables: list[Row]) -> list[float]:
    return sorted({row[4] for rows in tables for row in rows})


def event_counts(case: Case, label: str, ours: float, theirs: float, edges: str, form: str) -> Counts:
    sides = [
        of_class(events(rows, case, level, edges, form), label)
        for rows, level in ((case.reference, ours), (case.system, theirs))
    ]
    return tuple(map(Fraction, (matched(*sides), *map(len, sides))))


def intersection_counts(case: Case, label: str, ours: float, theirs: float, edges: str, form: str) -> Counts:
    reference, system = (
        events(rows, case, level, edges, form)
        for rows, level in ((case.reference, ours), (case.system, theirs))
    )
    found = oracle.count(system, reference, LABELS, dtc=0.5, gtc=0.5, cttc=0.3)
    # Of what is not a false positive all that is no true one counts nothing.
    tp = Fraction(found.tp[label])
    return tp, Fraction(len(of_class(reference, label))), tp + found.fp[label]


def cells(rows: list[Row], case: Case, label: str, step: int, pool: str) -> list[Fraction]:
    """The values of all evaluated segments, each looked at where it lies in a region."""
    values = []
    for file in "ab":
        of_file, counts = track(rows, file, label), inside(case.regions, file)
        for begin in range(0, END, step):
            own = [Fraction(of_file[t]) for t in range(begin, min(begin + step, END)) if counts[t]]
            if own:
                values.append(max(own) if pool == "max" else sum(own) / len(own))
    return values


def cell_counts(y: list[Fraction], p: list[Fraction], ours: float, theirs: float) -> Counts:
    pairs = [(a >= ours, b >= theirs) for a, b in zip(y, p, strict=True)]
    return tuple(Fraction(sum(each)) for each in zip(*((a and b, a, b) for a, b in pairs), strict=True))


def f1(counts: Counts) -> Fraction | None:
    tp, n_ref, n_sys = counts
    return 2 * tp / (n_ref + n_sys) if n_ref + n_sys else None


def best(counts: list[Counts]) -> Fraction | None:
    return max(f1(each) or Fraction(0) for each in counts)


def integral(of_level, marks: list[float]) -> Counts:
    """The integral of counts over levels, which change at marks only."""
    total = (Fraction(0),) * 3
    for low, high in pairwise([0.0, *marks]):
        width = Fraction(high) - Fraction(low)
        total = tuple(a + width * b for a, b in zip(total, of_level(high), strict=True))
    return total


def expected(case: Case, step: int, pool: str, edges: str, form: str) -> dict[str, Fraction | None]:
    """Scores by name."""
    scores: dict[str, Fraction | None] = {}
    above, marks = 0.6, levels(case.reference, case.system)  # values are quarters: > 0.5 is >= 0.75
    for label in LABELS:
        y, p = (cells(rows, case, label, step, pool) for rows in (case.reference, case.system))
        hard = cell_counts(y, p, above, above) if pool == "max" else _over(y, p)
        scores[f"segment.hard.f1[{label}]"] = f1(hard)
        negatives = len(y) - hard[1]
        if hard[1]:
            scores[f"segment.hard.specificity[{label}]"] = (
                (negatives - (hard[2] - hard[0])) / negatives if negatives else None
            )
        soft = sum(map(min, y, p)), sum(y), sum(p)
        scores[f"segment.soft.f1[{label}]"] = f1(soft)
        positive = [Fraction(a > Fraction(1, 2)) for a in y]
        # A value of 0 is a detection at no threshold.
        cuts = [cell_counts(positive, p, 1, cut) for cut in sorted({*p} - {Fraction(0)})]
        scores[f"segment.optimal.f1[{label}]"] = best([(Fraction(0), sum(positive), Fraction(0)), *cuts])
        for basis, count in (("event", event_counts), ("intersection", intersection_counts)):
            how = edges, form
            scores[f"{basis}.hard.f1[{label}]"] = f1(count(case, label, above, above, *how))
            swept = [count(case, label, above, cut, *how) for cut in (*levels(case.system), 2.0)]
            scores[f"{basis}.optimal.f1[{label}]"] = best(swept)
            soft = integral(lambda a, c=count, h=how, of=label: c(case, of, a, a, *h), marks)
            scores[f"{basis}.soft.f1[{label}]"] = f1(soft)
        clips = [
            [
                max((v for v, c in zip(track(rows, f, label), inside(case.regions, f), strict=True) if c))
                for f in "ab"
            ]
            for rows in (case.reference, case.system)
        ]
        scores[f"clip.hard.f1[{label}]"] = f1(cell_counts(*clips, above, above))
        scores[f"clip.soft.f1[{label}]"] = f1(
            (sum(map(min, *map(_exact, clips))), *map(sum, map(_exact, clips)))
        )
    return scores


def _exact(values: list[float]) -> list[Fraction]:
    return [Fraction(value) for value in values]


def _over(y: list[Fraction], p: list[Fraction]) -> Counts:
    half = Fraction(1, 2)
    return cell_counts([Fraction(a > half) for a in y], [Fraction(b > half) for b in p], 1, 1)


def psds_of(case: Case, edges: str, form: str) -> float | None:
    """PSDS over all thresholds, whose hours are those of the regions."""
    reference = events(case.reference, case, 0.6, edges, form)
    if {event[1] for event in reference} != {*LABELS}:
        return None
    points = [
        oracle.count(
            events(case.system, case, cut, edges, form), reference, LABELS, dtc=0.5, gtc=0.5, cttc=0.3
        )
        for cut in levels(case.system)
    ]
    ticks = sum(sum(inside(case.regions, file)) for file in "ab")
    curves = oracle.staircases(points, reference, LABELS, ticks, ticks_per_second=10)
    return oracle.psds(curves, max_efpr=2000.0)


@pytest.mark.slow
@tried(max_examples=4 * tried.default.max_examples)
@given(
    seed=st.integers(0, 2**30),
    step=st.sampled_from([5, 7, 10]),
    pool=st.sampled_from(["max", "mean"]),
    edges=st.sampled_from(["cut", "onset"]),
    form=st.sampled_from(["merge", "rows"]),
    given_durations=st.booleans(),
)
def test_scores_are_those_of_what_lies_inside(seed, step, pool, edges, form, given_durations):
    drawn = case(seed)
    if not given_durations:
        # Regions say how far files go; here the second answer ends with the file.
        clipped = {name: [(a, min(b, END)) for a, b in spans] for name, spans in drawn.regions.items()}
        drawn = drawn._replace(regions=clipped)
    scores = evaluate(
        seconds(drawn.reference), seconds(drawn.system), classes=LABELS, segment_length=step / 10, pool=pool,
        only=("segment", "event", "intersection", "clip"), events=form, max_efpr=2000.0,
        regions=in_seconds(drawn.regions), region_edges=edges,
        durations=dict.fromkeys("ab", END / 10) if given_durations else None,
    )  # fmt: skip
    values = {name: score.value for name, score in scores.scores.items()}
    for name, value in expected(drawn, step, pool, edges, form).items():
        if ".optimal." in name and values[name.replace("optimal.f1", "hard.recall")] is None:
            continue
        ours = values[name]
        same = ours is None if value is None else ours == pytest.approx(float(value), abs=1e-12)
        assert same, (name, ours, value)
    wanted = psds_of(drawn, edges, form)
    if wanted is not None:
        assert values["intersection.hard.psds"] == pytest.approx(wanted, abs=1e-12)


# Laws.


def with_regions(settings: Settings, regions: Any, **more: Any) -> Settings:
    return Settings.of(
        **{name: getattr(settings, name) for name in settings.__slots__} | {"regions": regions} | more
    )


@pytest.mark.parametrize("edges", ["cut", "onset"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 6))])
def test_regions_of_whole_files_change_no_score(seed, edges):
    fine, settings = FORMS[seed % len(FORMS)]
    settings = replace(settings, pool=("max", "mean")[seed % 2], worst=9)
    sides = random_table(seed, fine=fine), random_table(seed + 100, fine=fine)
    lengths = dict.fromkeys(FILES, 23.0)
    plain = evaluate(*sides, settings=settings, durations=lengths)
    for spans in ([(0, 23)], [(4, 30), (0, 4), (1, 2)]):
        chosen = with_regions(settings, dict.fromkeys(FILES, spans), region_edges=edges)
        scores = evaluate(*sides, settings=chosen, durations=lengths)
        assert dict(scores) == dict(plain)
        assert (scores.worst, scores.per_file().to_json()) == (plain.worst, plain.per_file().to_json())


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 8))])
def test_regions_on_the_grid_are_recordings_cut_by_hand(seed):
    """Segments and rates are those of tables that were cut; so are events where regions are far apart."""
    regions = {"a": [(0, 5), (9, 14)], "b": [(3, 4)], "c": [(2, 9), (12, 20), (22, 25)]}
    more = {"pool": "mean"} if seed % 2 else {}
    # Means over recordings are those of others.
    more["measures"] = tuple(group for group in ALL.measures if group != "grounding")
    settings = replace(ALL, only=("segment", "ranking", "event", "intersection"), **more)
    sides = random_table(seed), random_table(seed + 50)
    lengths = {
        f"{file} {k}": float(b - a) for file, spans in regions.items() for k, (a, b) in enumerate(spans)
    }
    by_hand = evaluate(*(cut_by_hand(each, regions) for each in sides), settings=settings, durations=lengths)
    scores = evaluate(*sides, settings=with_regions(settings, regions))
    assert {*scores} == {*by_hand}
    for name, value in by_hand.items():
        same = scores[name] is None if value is None else scores[name] == pytest.approx(value, abs=1e-9)
        assert same, (name, scores[name], value)


def test_the_order_of_rows_and_regions_and_how_they_are_divided_do_not_matter():
    regions = {"a": [(0, 5), (9.5, 14)], "b": [(3, 21)]}
    divided = {"b": [(3, 8), (7, 21), (9, 10)], "a": [(9.5, 14), (2, 5), (0, 2)]}
    for edges in ("cut", "onset"):
        how = {"region_edges": edges, "only": "all", "measures": "all", "classes": ["car", "dog"], "worst": 5}
        sides = random_table(1), random_table(2)
        scores = evaluate(*sides, regions=regions, **how)
        assert render([evaluate(*sides, regions=divided, **how)], "json") == render([scores], "json")
        again = evaluate(*(shuffled(each, 3) for each in sides), regions=divided, **how)
        assert dict(again) == dict(scores)


def test_batches_are_all_at_once(tmp_path):
    how = {"regions": {"a": [(1.5, 9)], "b": [(3, 21)]}, "only": "all", "measures": "all", "worst": 3}
    how |= {"classes": ["car", "dog"], "region_edges": "cut"}
    sides = random_table(1), random_table(2)
    evaluator = Evaluator(**how)
    for name in FILES:
        evaluator.update(*(table_of([row for row in rows_of(each) if row[0] == name]) for each in sides))
    scores = evaluate(*sides, **how)
    found = evaluator.compute()
    assert (dict(found), found.worst) == (dict(scores), scores.worst)
    evaluator.save(tmp_path / "all.tally")
    loaded = Evaluator.load(tmp_path / "all.tally").compute()
    assert (dict(loaded), loaded.worst) == (dict(scores), scores.worst)
    with pytest.raises(EvaluationError, match="regions"):
        evaluator.merge(Evaluator(**how | {"regions": {"a": [(0, 1)]}}))


@pytest.mark.parametrize("label", ["car", None])
def test_after_some_events_each_recording_begins_where_the_last_of_them_ends(label):
    sides, number = (random_table(5, binary=True, n=30), random_table(6)), 3
    regions = {}
    for name in FILES:
        own = [
            row for row in rows_of(sides[0]) if row[0] == name and row[3] in ([label] if label else LABELS)
        ]
        own = sorted((row[1], row[2]) for row in own)
        if len(own) >= number:
            regions[name] = [(own[number - 1][1], 40)]
    assert 0 < len(regions)
    how = {"only": "all", "classes": LABELS, "events": "rows", "durations": dict.fromkeys(FILES, 25)}
    asked = str(number) if label is None else f" 0{number}  {label} "
    scores = evaluate(*sides, after_shots=asked, **how)
    assert dict(scores) == dict(evaluate(*sides, regions=regions, **how))
    both = evaluate(
        *sides, after_shots=asked, regions={"a": [(0, 12)], "b": [(0, 5), (8, 30)], "c": [(9, 9.5)]}, **how
    )
    begins = {name: spans[0][0] for name, spans in regions.items()}
    inner = {"a": [(0, 12)], "b": [(0, 5), (8, 30)], "c": [(9, 9.5)]}
    cut = {
        name: [(max(a, begins[name]), b) for a, b in inner[name] if b > begins[name]]
        for name in inner
        if name in begins
    }
    assert dict(both) == dict(
        evaluate(*sides, regions={name: spans for name, spans in cut.items() if spans}, **how)
    )


def test_without_durations_what_comes_after_the_reference_are_false_alarms():
    """As of a whole file: they add no true negatives and no time."""
    reference = table_of([("a", 0, 1, "car", 1.0), ("a", 2, 3, "car", 1.0)])
    system = table_of([("a", 2, 3, "car", 1.0), ("a", 7, 8, "car", 1.0)])
    scores = evaluate(reference, system, after_shots=1, only="segment.hard")
    assert (scores["segment.hard.tp[car]"], scores["segment.hard.fp[car]"]) == (1, 1)
    assert scores["segment.hard.tn[car]"] == 1
    assert scores.per_file()["length"].tolist() == [2.0]


def test_wide_tables_are_scored_as_long_ones():
    """Time steps with a value of every class."""
    rng = random.Random(1)  # noqa: S311
    steps = [(name, at / 2, at / 2 + 0.5) for name in "ab" for at in range(40)]
    values = [[rng.randrange(9) / 8 for _ in LABELS] for _ in steps]
    wide = pd.DataFrame(steps, columns=["filename", "onset", "offset"])
    for k, label in enumerate(LABELS):
        wide[label] = [each[k] for each in values]
    long = wide.melt(["filename", "onset", "offset"], var_name="event_label", value_name="value")
    reference = table_of([("a", 1.2, 7.7, "car", 1.0), ("b", 3, 9, "dog", 1.0), ("b", 15, 19, "car", 1.0)])
    how = {
        "regions": {"a": [(1.3, 6.1), (6.6, 12)], "b": [(2.2, 17.9)]},
        "segment_length": 0.3,
        "classes": LABELS,
    }
    for more in ({}, {"median_filter": 1.5, "region_edges": "onset"}, {"psds_median_filters": [0, 1.5]}):
        scores = evaluate(reference, wide, **how, **more)
        assert dict(scores) == pytest.approx(dict(evaluate(reference, long, **how, **more)), abs=1e-12)


def test_the_worst_segments_lie_in_regions():
    regions = {"a": [(2.5, 4.2), (7, 9)], "b": [(0, 3), (10.5, 20)]}
    settings = Settings(regions=regions, worst=200, only=("segment.hard",), classes=LABELS)
    sides = random_table(3), random_table(4)
    scores = evaluate(*sides, settings=settings)
    assert scores.worst.segments
    total = 0
    for each in scores.worst.segments:
        assert any(each.onset < b and each.offset > a for a, b in regions[each.file])
        inside = {
            side: max(
                (row[4] for row in rows_of(table) if row[0] == each.file and row[3] == each.class_name
                 and any(max(row[1], a, each.onset) < min(row[2], b, each.offset)
                         for a, b in regions[each.file])),
                default=0.0,
            )
            for side, table in zip(("reference", "system"), sides, strict=True)
        }  # fmt: skip
        assert inside == {"reference": each.reference, "system": each.system}
        total += each.cost
    assert total == scores["segment.hard.fp.micro"] + scores["segment.hard.fn.micro"]


# How regions are given, and what is refused.

WAYS = {
    "tsv": "filename\tonset\toffset\ncafe.wav\t0\t20.5\ncafe.wav\t30\t40\npark.wav\t5.5\t60\n",
    "another order": "offset,file,onset\n40,cafe.wav,30\n60,park.wav,5.5\n20.5,cafe.wav,0\n",
    "no header": "cafe,0,20.5\n\ncafe,30,40\n# a comment\npark.wav,5.5,60\n",
    "uem": ";; of the test\ncafe 1 30.0 40\ncafe 1 0 20.5\npark 1 5.5 60.0\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_gives_the_same_regions(way, tmp_path):
    path = tmp_path / ("regions.uem" if way == "uem" else "regions.tsv")
    path.write_text(WAYS[way])
    mapping = {"cafe.wav": [(0, 20.5), (30, 40)], "park.wav": [(5.5, 60)]}
    rows = [(name, a, b) for name, spans in mapping.items() for a, b in spans]
    frame = pd.DataFrame(rows, columns=["filename", "onset", "offset"])
    how = {"only": ["segment", "event.hard"], "by": None}
    expected = dict(evaluate(REFERENCE, SYSTEM, regions=mapping, **how))
    for given_as in (path, str(path), frame, frame.to_dict("list")):
        assert dict(evaluate(REFERENCE, SYSTEM, regions=given_as, **how)) == expected
    (tmp_path / "settings.yaml").write_text(f"regions: {path.name}\n")
    (tmp_path / "same.yaml").write_text("regions: {cafe.wav: [[0, 20.5], [30, 40]], park.wav: [[5.5, 60]]}\n")
    name = "segment.soft.f1.micro"
    for options in (
        ("--regions", path),
        ("--config", tmp_path / "settings.yaml"),
        ("--config", tmp_path / "same.yaml"),
    ):
        done = call(REFERENCE, SYSTEM, *options, "--score", name)
        assert (done.code, float(done.out)) == (0, expected[name])


BAD = {
    "": "is empty; expected a table of filename, onset and offset, or a UEM file",
    "filename\tonset\toffset\n": "has no region; expected rows of filename, onset and offset, or a UEM file",
    "hello\tworld\n": ":1: 'hello', 'world' is neither a header nor a row",
    "a\t1\n": ":1: 'a', '1' is neither a header nor a row",
    "filename\tonset\toffset\na\t5\t2\n": ":2:3: offset 2 is not after onset 5",
    "filename\tonset\toffset\na\t5\t5\n": ":2:3: offset 5 is not after onset 5",
    "filename\tonset\toffset\na\tsoon\t5\n": ":2:2: onset 'soon' is not a number of seconds, 0 or more",
    "filename\tonset\toffset\na\t-1\t5\n": ":2:2: onset '-1' is not a number",
    "filename\tonset\toffset\na\t1\tnan\n": ":2:3: offset 'nan' is not a number",
    "filename\tonset\toffset\n\t1\t5\n": ":2:1: filename is empty",
    "filename\tonset\toffset\na\t1\n": ":2: has 2 fields; expected filename, onset and offset",
    "filename\tonset\toffset\na\t1\t1e300\n": ":2:3: offset 1e300",
    "filename\tonset\toffset\tnote\ncafe.wav\t1\t5\tcar\n": ":1:4: column 'note' cannot be",
    "species,offset,file,onset\nowl,40,cafe.wav,30\n": ":1:1: column 'species' cannot be",
    "a 1 0 5 9\n": ":1: 'a 1 0 5 9' is neither a header nor a row; expected filename, onset and offset, or",
    "a 1 0 5\na 1 7\n": ":2: has 3 fields; expected file, channel, begin and end of a region",
    "a 1 0 5\na 1 7 x\n": ":2:4: offset 'x' is not a number",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_table_of_regions_is_refused(text, tmp_path):
    path = tmp_path / "regions.tsv"
    path.write_text(text)
    done = call(REFERENCE, SYSTEM, "--regions", path)
    assert done.code == 2
    assert BAD[text] in done.err
    with pytest.raises(InputError):
        evaluate(REFERENCE, SYSTEM, regions=path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "--set compat=sed_eval --set after_shots=1",
            "compat=sed_eval cannot go with regions and after_shots",
        ),
        ("--set region_edges=onset", "region_edges=onset needs regions or after_shots"),
        ("--set after_shots=0", "such as '5 POS', not 0"),
        ("--set after_shots=POS", "after_shots must be"),
        ("--set after_shots=1.5", "after_shots must be"),
        ("--set region_edges=keep", "keep"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(options, message):
    done = call(REFERENCE, SYSTEM, *options.split())
    assert done.code == 2
    assert message in done.err, done.err


def test_sed_eval_is_not_asked_of_regions():
    done = call("check", REFERENCE, SYSTEM, "--with", "sed_eval", "--set", "after_shots=1")
    assert done.code == 2 and "sed_eval knows no regions" in done.err


@pytest.mark.parametrize(
    "regions",
    [{}, [], {"a": []}, {"a": [1, 2]}, {"a": [[1]]}, {"a": [[1, 2, 3]]}, {"a": [[2, 1]]}, {"a": [[-1, 1]]},
     {"": [[0, 1]]}, {"a": [["0", "1"]]}, {"a": [[0, float("nan")]]}, {"a": [[0, 1e12]]}, 7, {1: [[0, 1]]},
     {"filename": ["a"], "onset": [0, 1], "offset": [1]}],
)  # fmt: skip
def test_regions_in_python_that_are_none_are_refused(regions):
    with pytest.raises(SettingsError, match="regions"):
        evaluate(REFERENCE, SYSTEM, regions=regions)


@pytest.mark.parametrize("name", ["value", "note"])
@pytest.mark.parametrize("form", [pd.DataFrame, dict])
def test_a_column_that_could_limit_regions_to_something_else_is_refused(name, form):
    columns = {"filename": ["cafe.wav"], "onset": [1.0], "offset": [5.0]}
    assert evaluate(REFERENCE, SYSTEM, regions=form(columns)).length == 4
    with pytest.raises(SettingsError, match=f"column '{name}' cannot be in a table of regions"):
        evaluate(REFERENCE, SYSTEM, regions=form({**columns, name: ["car"]}))


def test_files_without_regions_are_left_out_and_said(tmp_path):
    path = tmp_path / "regions.tsv"
    path.write_text("filename\tonset\toffset\ncafe.wav\t0\t9\nPark.wav\t0\t9\nmetro.wav\t70\t90\n")
    durations = str(Path(REFERENCE).with_name("durations.tsv"))
    done = call(REFERENCE, SYSTEM, "--regions", path, "--durations", durations, "--format", "json")
    assert done.code == 0
    # A region that begins after the end of its file is none.
    assert (
        "4 files ('metro.wav', 'night.wav', 'park.wav', 'street.wav') have no region that is evaluated"
        in done.err
    )
    assert "'Park.wav'" in done.err and "meant to be 'park.wav'" in done.err
    assert done.document["settings"]["regions"]["count"] == 3
    assert call(REFERENCE, SYSTEM, "--regions", path, "--strict").code == 2
    path.write_text("x.wav\t0\t9\n")
    done = call(REFERENCE, SYSTEM, "--regions", path)
    assert (done.code, "nothing is left to evaluate" in done.err) == (2, True)
    done = call(REFERENCE, SYSTEM, "--set", "after_shots=999 footstep")
    assert (done.code, "did you mean 'footsteps'" in done.err) == (2, True)


def test_regions_of_the_only_recording_of_tables_without_names():
    reference = {"onset": [0, 5], "offset": [2, 8], "event_label": ["car", "car"]}
    scores = evaluate(reference, reference, regions={"x.wav": [(1, 6)]}, only="segment.hard")
    assert scores["segment.hard.tp[car]"] == 2
    assert scores["segment.hard.tn[car]"] == 3
    with pytest.raises(InputError, match="no column of file names"):
        evaluate(reference, reference, regions={"x.wav": [(1, 6)], "y.wav": [(0, 1)]})


def test_a_figure_of_a_recording_shades_what_is_not_evaluated():
    regions = {"cafe.wav": [(2.5, 20), (30, 40)]}
    figure = plot("timeline", REFERENCE, SYSTEM, file="cafe.wav", regions=regions)
    shaded = [(patch.get_x(), patch.get_width()) for patch in figure.axes[0].patches if patch.get_alpha()]
    assert shaded == [(0, 2.5), (20, 10)]
    assert "Shaded: not evaluated." in caption(figure)
