"""Figures draw the numbers of the evaluator, and nothing between them."""

from collections import defaultdict

import numpy as np
import pytest
from called import OTHER, REFERENCE, SYSTEM
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.legend import Legend
from plotted import caption, table
from scipy.special import ndtri
from tables import columns_of

from sedeval_soft import SettingsError, compare, diagnose, evaluate, plot, threshold_curves
from sedeval_soft.report.outcomes import FALSE_ALARM, HIT, MISS

BASES, READINGS = ("segment", "event", "intersection"), ("hard", "optimal", "soft")


def lines_of(figure, n):
    """Return the first n lines of the only visible axes, without lines in the background."""
    (axes,) = [axes for axes in figure.axes if axes.axison]
    return [line for line in axes.get_lines() if line.get_zorder() >= 2][:n]


def legend_of(figure):
    (legend,) = figure.findobj(Legend)
    return [text.get_text() for text in legend.get_texts()]


def rows_of(axes):
    return [tick.get_text() for tick in axes.get_yticklabels()]


def dots_of(axes):
    """Return the values of dots, series by series, and the ends of their intervals."""
    lines = [line for line in axes.get_lines() if line.get_color() != "black"]
    dots = [x for line in lines if line.get_marker() in ("o", "s", "^") for x in line.get_xdata()]
    return dots, [tuple(line.get_xdata()) for line in lines if line.get_marker() in ("none", "None")]


@pytest.fixture(scope="module")
def curves():
    return threshold_curves(REFERENCE, SYSTEM, only=["segment", "event"])


@pytest.fixture(scope="module")
def scores():
    return evaluate(REFERENCE, SYSTEM, only=["segment"], measures=["curves", "calibration"])


SHAPES = {
    ("pr", "segment"): ("steps-pre", "average_precision", lambda curve: (curve.recall, curve.precision)),
    ("pr", "event"): ("default", None, lambda curve: (curve.recall, curve.precision)),
    ("roc", "segment"): ("default", "roc_auc", lambda curve: (curve.false_positive_rate, curve.recall)),
    ("det", "segment"): ("steps-post", None, lambda curve: curve.det),
}


@pytest.mark.parametrize(("kind", "basis"), SHAPES)
def test_lines_are_the_columns_of_curves_with_the_area_that_stands_beside_them(curves, scores, kind, basis):
    """Curves start at the highest threshold; a dotted step without one leads to all segments active."""
    drawstyle, measure, columns = SHAPES[kind, basis]
    figure = plot(kind, REFERENCE, SYSTEM, only=basis)
    drawn = {f"[{name}]": curve for name, curve in getattr(curves, basis).items()}
    drawn |= {".micro": curves.pooled["segment.hard"]} if basis == "segment" else {}
    drawn = {name: curve for name, curve in drawn.items() if np.isfinite(np.add(*columns(curve))).any()}
    dotted = kind in ("pr", "roc") and basis == "segment"
    lines = iter(lines_of(figure, len(drawn) * (1 + dotted)))
    for name, curve in drawn.items():
        line, wanted = next(lines), np.array(columns(curve))[:, ::-1]
        assert (line.get_drawstyle(), line.get_linestyle() == "None") == (drawstyle, basis == "event")
        np.testing.assert_array_equal(line.get_data(), wanted[:, :-1] if dotted else wanted)
        if dotted:
            np.testing.assert_array_equal(next(lines).get_data(), wanted[:, -2:])
            assert np.isnan(curve.threshold[0])
        if measure:
            value, (x, y) = scores[f"segment.hard.{measure}{name}"], wanted
            label = "all classes" if name == ".micro" else name[1:-1]
            assert f"{label}  {value:.3f}" in legend_of(figure)
            area = {"roc": np.trapezoid(y, x), "pr": np.nansum(np.diff(x) * y[1:])}[kind]
            assert area == pytest.approx(value)
    assert ("no threshold detects values of 0" in caption(figure)) == dotted


def test_axes_of_misses_and_false_alarms_are_normal_deviates_and_have_all_points():
    figure = plot("det", REFERENCE, SYSTEM)
    axes = figure.axes[0]
    ticks = {t.get_text(): at for t, at in zip(axes.get_xticklabels(), axes.get_xticks(), strict=True)}
    assert {"5", "20", "80", "95"} <= {*ticks}
    assert [*ticks.values()] == pytest.approx([ndtri(float(text) / 100) for text in ticks])
    points = [xy for line in lines_of(figure, None) for xy in line.get_xydata() if np.isfinite(xy).all()]
    low, high = axes.get_xlim()
    assert axes.get_ylim() == (low, high) and low <= np.min(points) <= np.max(points) <= high
    assert "no threshold with misses and false alarms): birds singing, car," in caption(figure)


@pytest.mark.parametrize(("wrong", "text"), [(1, "\u2013"), (3, "20.0")])
def test_an_equal_error_rate_that_no_threshold_reaches_is_not_written(wrong, text):
    """The system misses 2 of ten active segments, and detects 1 or 3 of ten others."""
    reference, system = np.repeat((1.0, 0.0), 10), np.repeat((0.9, 0.0, 0.8, 0.0), (8, 2, wrong, 10 - wrong))
    lines = legend_of(plot("det", reference[:, None], system[:, None], segment_length=1.0))
    assert {line.split()[-1] for line in lines} == {text}


def test_f_over_thresholds_marks_the_best(curves, scores):
    (axes,) = plot("f-thresholds", REFERENCE, SYSTEM).axes
    steps = [line for line in axes.get_lines() if line.get_drawstyle() == "steps-post"]
    *marks, (at, best) = [line.get_xydata()[0] for line in axes.get_lines() if line.get_marker() == "o"]
    pooled = curves.pooled["segment.hard"]
    for line, curve in zip(steps, [*curves.segment.values(), pooled], strict=True):
        # No threshold detects values of 0, so the point at which all cells are detected is not drawn.
        assert np.isnan(curve.threshold[0])
        np.testing.assert_array_equal(line.get_xydata()[:-1].T, (curve.threshold[1:], curve.f1[1:]))
    optimal = [
        [scores[f"segment.optimal.{name}[{c}]"] for name in ("threshold", "f1")] for c in scores.classes
    ]
    # A class that is never detected has a best F of 0, and gets no mark.
    assert [mark.tolist() for mark in marks] == [each for each in optimal if each[0] is not None]
    assert len(marks) == 5 == len(optimal) - 1
    assert {"door opens  0.000", "threshold 0.5"} <= {*legend_of(axes.figure)}
    # The mark of all classes is also a threshold, and F at this threshold is as drawn.
    whole = evaluate(REFERENCE, SYSTEM, threshold=at, reference_threshold=0.5, only=["segment.hard"])
    assert whole["segment.hard.f1.micro"] == pytest.approx(best) == pooled.f1[1:].max()


def test_the_area_under_the_psd_roc_is_the_number_beside_it():
    figure = plot("psd-roc", REFERENCE, SYSTEM, OTHER, psds="dcase-psds1", names=["ours", "theirs"])
    both = lines_of(figure, 2)
    assert len({line.get_color() for line in both}) == 2 == len({str(line._dash_pattern) for line in both})
    for line, path, name, text in zip(
        both, (SYSTEM, OTHER), ("ours", "theirs"), legend_of(figure), strict=True
    ):
        value = evaluate(REFERENCE, path, only=["intersection"], psds="dcase-psds1")["intersection.hard.psds"]
        x, y = line.get_data()
        assert line.get_drawstyle() == "steps-post" and (x[0], x[-1]) == (0, 100)
        assert (np.diff(x) * y[:-1]).sum() / 100 == pytest.approx(value)
        assert text.startswith(f"{name} ") and text.endswith(f"PSDS {value:.3f}")


def test_reliability_has_the_means_of_bins_of_ten_segments_and_larger_dots_for_more():
    bins = threshold_curves(REFERENCE, SYSTEM, only=["segment.soft"], measures=["calibration"]).reliability
    figure = plot("reliability", REFERENCE, SYSTEM, class_names=list(bins["segment.soft"])[:5])
    panels = [axes for axes in figure.axes if axes.axison]
    most = max(each[0].size.max() for each in bins["segment.soft"].values())
    assert f"up to {most}" in caption(figure) and len(panels) == 5
    for axes, (name, found) in zip(panels, bins["segment.soft"].items(), strict=False):
        assert axes.get_title().startswith(f"{name}  0.")
        many = found[0].size >= 10
        assert many.any() and (not many.all() or name != "car")
        points = found[0].score[many], found[0].reference[many]
        np.testing.assert_array_equal(axes.get_lines()[-1].get_data(), points)
        (dots,) = axes.collections
        np.testing.assert_array_equal(dots.get_offsets(), np.transpose(points))
        np.testing.assert_allclose((dots.get_sizes() / 64) ** 2, found[0].size[many] / most)


def test_classes_without_reference_are_named_and_no_more_systems_drawn_than_can_be_told_apart():
    figure = plot("det", table(("a", "b")), table(("a", "b", "never there")))
    assert "never there." in caption(figure) and "never there" not in " ".join(legend_of(figure))
    with pytest.raises(SettingsError, match="29 systems"):
        plot("roc", *[table(("a",))] * 30)


@pytest.mark.parametrize(
    ("kind", "measure"),
    [("pr", "hard.average_precision"), ("f-thresholds", "optimal.f1")],
)
def test_from_seven_classes_on_all_together_the_best_and_the_worst_have_names(kind, measure):
    classes, rng = tuple(f"class {k}" for k in range(7)), np.random.default_rng(5)
    reference = (rng.random((60, 7)) < 0.4).astype(float)
    system = np.clip(0.6 * reference + rng.random((60, 7)) * np.linspace(0.6, 1.4, 7), 0, 1)
    asked = {"classes": classes, "segment_length": 1.0}
    found = evaluate(reference, system, **asked, only=["segment"], measures=["curves"])
    values = {name: found[f"segment.{measure}[{name}]"] for name in classes}
    ends = {"best": max(values, key=values.get), "worst": min(values, key=values.get)}
    first, *texts = legend_of(plot(kind, reference, system, **asked))
    lines = [*(f"{end}: {name}  {values[name]:.3f}" for end, name in ends.items()), "5 other classes"]
    assert texts == lines + ["best threshold", "threshold 0.5"] * (kind == "f-thresholds")
    # Six classes may have a line each; curves without a line of all classes have panels.
    assert first.startswith("all classes  ")
    assert len(legend_of(plot("pr", reference, system, **asked, max_classes=6))) == 7
    panels = plot("pr", reference, system, **asked, only="event").axes
    assert [axes.get_title() for axes in panels if axes.axison] == list(classes)


def test_a_matrix_has_a_dot_for_each_basis_and_reading_and_its_interval():
    asked = {"ci": "bootstrap", "replicates": 50}
    (axes,) = plot("matrix", REFERENCE, SYSTEM, **asked).axes
    scores = evaluate(REFERENCE, SYSTEM, only=BASES, **asked)
    found = [scores.score(f"{b}.{r}.f1.macro") for r in READINGS for b in BASES]
    assert dots_of(axes) == ([s.value for s in found], [(s.low, s.high) for s in found])
    assert (legend_of(axes.figure), rows_of(axes)) == ([*READINGS], [*BASES])


def test_several_systems_are_a_leaderboard():
    asked = {"only": ["segment", "event"], "replicates": 50}
    board = compare(REFERENCE, {"weak": OTHER, "good": SYSTEM}, **asked)
    figure = plot("matrix", REFERENCE, OTHER, SYSTEM, names=["weak", "good"], **asked)
    first, second = figure.axes
    assert rows_of(first) == [f"{entry.place}  {entry.system}" for entry in board.entries]
    assert board.entries[0].system == "good" and "1, 2." in caption(figure)
    assert dots_of(second)[0] == [s[f"event.{r}.f1.macro"] for r in READINGS for s in board.systems]


def test_dots_of_classes_are_scores_with_their_intervals():
    asked = {"ci": "bootstrap", "replicates": 50}
    scores, done = evaluate(REFERENCE, SYSTEM, only=["segment"], **asked), []
    (axes,) = plot("classes", REFERENCE, SYSTEM, **asked, progress=lambda *each: done.append(each)).axes
    rows = [*(f"[{label}]" for label in scores.classes), ".macro"]
    named = [scores.score(f"segment.{r}.f1{row}") for r in READINGS for row in rows]
    known = [s for s in named if s.value is not None]
    assert dots_of(axes) == ([s.value for s in known], [(s.low, s.high) for s in known if s.low is not None])
    assert (rows_of(axes), done[-1]) == ([*scores.classes, "macro average"], (50, 50))
    assert (axes.get_xlabel(), legend_of(axes.figure)) == ("Segment-based F1", list(READINGS))
    figure = plot("classes", REFERENCE, SYSTEM, scores=["segment.hard.recall", "event.soft.f1"])
    assert len(legend_of(figure)) == 2


@pytest.mark.parametrize(("sort", "name"), [("score", "f1"), ("size", "n_ref"), ("name", None)])
def test_classes_are_sorted(scores, sort, name):
    (axes,) = plot("classes", REFERENCE, SYSTEM, sort=sort).axes
    order = {label: -scores[f"segment.hard.{name}[{label}]"] if name else label for label in scores.classes}
    assert rows_of(axes)[:-1] == sorted(scores.classes, key=order.get)
    assert axes.yaxis_inverted(), "the first is at the top"


@pytest.mark.parametrize("basis", ["segment", "event"])
def test_a_confusion_has_its_counts(basis):
    scores = evaluate(REFERENCE, SYSTEM, only=[basis], measures=["confusion"])
    (counts,), n = scores.confusion, len(scores.classes)
    axes = plot("confusion", REFERENCE, SYSTEM, only=f"{basis}.hard").axes[0]
    shares = np.asarray(axes.images[0].get_array().filled(np.nan))
    written = {tuple(map(round, text.get_position())): text.get_text() for text in axes.texts}
    assert shares.shape == (n + 1, n + 1) and np.isnan(shares[n, n])
    for i, label in enumerate(scores.classes):
        recall, size = (scores[f"{basis}.hard.{name}[{label}]"] for name in ("recall", "n_ref"))
        assert (shares[i, i], shares[i, n]) == pytest.approx((recall, counts.missed[i] / size))
        assert [written[j, i] for j in range(n + 1)] == list(map(str, (*counts.pairs[i], counts.missed[i])))
        assert written.get((i, n)) in (str(counts.inserted[i]), None)
    assert rows_of(axes) == [*scores.classes, "inserted"]


def test_dots_of_errors_are_shares_of_what_is_lost_the_costliest_kind_first():
    kinds = diagnose(REFERENCE, SYSTEM, only=["event"], suggestions=False).table("event", "hard")
    found = sorted((each for each in kinds if each.count), key=lambda each: -each.share)
    (axes,) = plot("errors", REFERENCE, SYSTEM).axes
    assert len(found) > 3 and rows_of(axes) == [each.kind.replace("_", " ") for each in found]
    assert dots_of(axes)[0] == [each.share for each in found]


def strips_of(axes):
    return [c.get_array().ravel().tolist() for c in axes.collections if isinstance(c, QuadMesh)]


def test_a_timeline_shows_values_and_events_of_one_file():
    values = ("a", 0, 1, 0.2), ("a", 1, 2, 0.9), ("a", 3, 5, 0.7), ("b", 0, 5, 0.1)
    reference = columns_of([("x.wav", onset, offset, label, value) for label, onset, offset, value in values])
    system = columns_of([("x.wav", 1.5, 4.0, "a", 0.8), ("y.wav", 0.0, 9.0, "c", 1.0)])
    figure = plot("timeline", reference, system, file="x.wav")
    axes, spans = figure.axes[0], defaultdict(list)
    assert strips_of(axes)[:2] == [[0.2, 0.9, 0.0, 0.7], [0.0, 0.8, 0.0]]
    assert rows_of(axes) == ["a", "b"] and axes.get_xlim() == (0, 5)
    for boxes in axes.collections:
        if isinstance(boxes, PolyCollection) and boxes.get_zorder() > 1.5:
            colour = to_hex(boxes.get_edgecolor()[0]) if len(boxes.get_facecolor()) else "events"
            spans[colour] += [
                (path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in boxes.get_paths()
            ]
    assert spans == {
        HIT.light: [(1.5, 2.0), (3.0, 4.0)],
        MISS.light: [(1.0, 1.5), (4.0, 5.0)],
        FALSE_ALARM.light: [(2.0, 3.0)],
        "events": [(1.0, 2.0), (3.0, 5.0), (1.5, 4.0)],
    }
    assert "Silent on both sides: c." in caption(figure)
    assert legend_of(figure) == ["hit", "miss", "false alarm", "hard event"]
    assert {box.get_hatch()[0] for box in axes.collections if box.get_hatch()} == {
        MISS.pattern,
        FALSE_ALARM.pattern,
    }
    asked = {"file": "cafe.wav", "start": 10, "end": 20.5, "class_names": ["footsteps"]}
    axes = plot("timeline", REFERENCE, SYSTEM, OTHER, **asked).axes[0]
    assert len(strips_of(axes)) == 3 and axes.get_xlim() == (10, 20.5)
    assert [text.get_text() for text in axes.texts] == ["reference", "sys", "sys_b"]


def test_a_timeline_of_very_many_pieces_is_drawn_as_pixels():
    values = np.random.default_rng(2).random((8000, 1))
    for times, many in (({}, True), ({"start": 1000, "end": 1200.5}, False)):
        figure = plot("timeline", values, values[::-1], **times)
        assert ("too many" in caption(figure)) == many
        meshes = [mesh for mesh in figure.axes[0].collections if isinstance(mesh, QuadMesh)]
        assert [bool(mesh.get_rasterized()) for mesh in meshes] == [many] * 2
    assert strips_of(figure.axes[0])[0] == values[1000:1201, 0].tolist()
