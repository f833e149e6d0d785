"""Curves: what is drawn are the numbers of `threshold_curves`, and nothing is put between them."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.legend import Legend
from plotted import OTHER, REFERENCE, SYSTEM, said, table
from scipy.special import ndtri

from sedeval_soft import SettingsError, evaluate, plot, threshold_curves

CLASSES = ("birds singing", "car", "children voices", "door opens", "footsteps", "people talking")


def axes_of(figure):
    return [axes for axes in figure.axes if axes.axison]


def lines_of(axes, n):
    """Return the last lines of axes: those before them are what lies behind."""
    return axes.get_lines()[-n:]


def legend_of(figure):
    (legend,) = figure.findobj(Legend)
    return [text.get_text() for text in legend.get_texts()]


@pytest.fixture(scope="module")
def curves():
    return threshold_curves(REFERENCE, SYSTEM, only=["segment", "event"])


@pytest.fixture(scope="module")
def scores():
    return evaluate(REFERENCE, SYSTEM, only=["segment"], measures=["curves", "calibration"])


def check(lines, curves, drawstyle, columns):
    """Hold lines against the columns of curves, which go from the highest threshold down."""
    for line, curve in zip(lines, curves, strict=True):
        for drawn, values in zip(line.get_data(), columns(curve), strict=True):
            np.testing.assert_array_equal(drawn, values[::-1])
        assert line.get_drawstyle() == drawstyle


def test_precision_over_recall_is_drawn_as_steps_with_the_area_of_average_precision(curves, scores):
    figure = plot("pr", REFERENCE, SYSTEM)
    (axes,) = axes_of(figure)
    lines = lines_of(axes, 7)
    drawn = [*curves.segment.values(), curves.pooled["segment.hard"]]
    check(lines, drawn, "steps-pre", lambda curve: (curve.recall, curve.precision))
    of_rows = {label: f"[{label}]" for label in CLASSES} | {"all classes": ".micro"}
    beside = {label: scores[f"segment.hard.average_precision{row}"] for label, row in of_rows.items()}
    assert legend_of(figure) == [f"{label}  {value:.3f}" for label, value in beside.items()]
    for line, label in zip(lines, CLASSES, strict=False):
        # The path as it is drawn: horizontal and vertical pieces, and below it the average precision.
        x, y = line.get_path().vertices.T
        assert np.all((np.diff(x) == 0) | (np.diff(y) == 0) | np.isnan(np.diff(y)))
        steps = line.get_xydata()
        assert np.nansum(np.diff(steps[:, 0]) * steps[1:, 1]) == pytest.approx(beside[label])


def test_events_are_points_with_nothing_between_them(curves):
    (axes,) = axes_of(plot("pr", REFERENCE, SYSTEM, only="event"))
    found = [curve for curve in curves.event.values() if np.isfinite(curve.precision + curve.recall).any()]
    lines = lines_of(axes, 5)
    check(lines, found, "default", lambda curve: (curve.recall, curve.precision))
    assert {line.get_linestyle() for line in lines} == {"None"}
    assert axes.get_xlabel() == "recall (event-based)"


def test_roc_is_straight_between_thresholds_as_its_area_is(curves, scores):
    figure = plot("roc", REFERENCE, SYSTEM)
    (axes,) = axes_of(figure)
    assert legend_of(figure)[1] == f"car  {scores['segment.hard.roc_auc[car]']:.3f}"
    lines = lines_of(axes, 7)[:6]
    check(lines, curves.segment.values(), "default", lambda curve: (curve.false_positive_rate, curve.recall))
    for line, label in zip(lines, CLASSES, strict=True):
        x, y = line.get_data()
        assert np.trapezoid(y, x) == pytest.approx(scores[f"segment.hard.roc_auc[{label}]"])
    assert axes.get_box_aspect() == 1


def test_det_has_axes_of_normal_deviates_with_ticks_in_percent(curves):
    figure = plot("det", REFERENCE, SYSTEM)
    (axes,) = axes_of(figure)
    has_both = [c for c in curves.segment.values() if np.isfinite(np.add(*c.det)).any()]
    lines = lines_of(axes, 3)
    check(lines, [*has_both, curves.pooled["segment.hard"]], "steps-post", lambda curve: curve.det)
    ticks = {t.get_text(): at for t, at in zip(axes.get_xticklabels(), axes.get_xticks(), strict=True)}
    assert {"5", "20", "80", "95"} <= {*ticks}
    for text, at in ticks.items():
        assert at == pytest.approx(ndtri(float(text) / 100))
    assert axes.get_xlim() == axes.get_ylim()
    low, high = axes.get_xlim()
    for line in lines:
        inside = line.get_xydata()[np.isfinite(line.get_xydata()).all(axis=1)]
        assert np.all((inside >= low) & (inside <= high))
    assert "no threshold has errors of both kinds: birds singing, car," in said(figure)


def test_f_over_thresholds_marks_the_best(curves, scores):
    figure = plot("f-thresholds", REFERENCE, SYSTEM)
    (axes,) = axes_of(figure)
    steps = [line for line in axes.get_lines() if line.get_drawstyle() == "steps-post"]
    marks = [line.get_xydata()[0] for line in axes.get_lines() if line.get_marker() == "o"]
    for line, curve in zip(steps, [*curves.segment.values(), curves.pooled["segment.hard"]], strict=True):
        np.testing.assert_array_equal(line.get_xdata()[:-1], curve.threshold)
        np.testing.assert_array_equal(line.get_ydata()[:-1], curve.f1)
    for mark, label in zip(marks, CLASSES, strict=False):
        assert mark[0] == max(scores[f"segment.optimal.threshold[{label}]"], 0)
        assert mark[1] == scores[f"segment.optimal.f1[{label}]"]
    # That of all classes is a threshold, too, at which F is as it is drawn.
    at, best = marks[-1]
    pooled = curves.pooled["segment.hard"]
    assert best == pooled.f1.max()
    whole = evaluate(REFERENCE, SYSTEM, threshold=at, reference_threshold=0.5, only=["segment.hard"])
    assert whole["segment.hard.f1.micro"] == pytest.approx(best)
    assert "threshold 0.5" in legend_of(figure)


def test_the_area_under_the_psd_roc_is_the_number_beside_it():
    figure = plot("psd-roc", REFERENCE, SYSTEM, OTHER, psds="dcase-psds1")
    (axes,) = axes_of(figure)
    for line, path, text in zip(lines_of(axes, 2), (SYSTEM, OTHER), legend_of(figure), strict=True):
        value = evaluate(REFERENCE, path, only=["intersection"], psds="dcase-psds1")["intersection.hard.psds"]
        x, y = line.get_data()
        assert line.get_drawstyle() == "steps-post"
        assert x[0] == 0 and x[-1] == 100
        assert (np.diff(x) * y[:-1]).sum() / 100 == pytest.approx(value)
        assert text.endswith(f"PSDS {value:.3f}")
    assert axes.get_xlim() == (0, 100)


@pytest.mark.parametrize(("binning", "kind"), [(None, 0), ("mass", 1)])
def test_reliability_has_the_means_of_bins(binning, kind):
    bins = threshold_curves(REFERENCE, SYSTEM, only=["segment.soft"], measures=["calibration"]).reliability
    (axes,) = axes_of(plot("reliability", REFERENCE, SYSTEM, binning=binning))
    for line, found in zip(lines_of(axes, 6), bins["segment.soft"].values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), found[kind].score)
        np.testing.assert_array_equal(line.get_ydata(), found[kind].reference)


def test_a_sweep_has_the_scores_at_each_threshold():
    found = evaluate(REFERENCE, SYSTEM, reference_sweep=True).sweep
    figure = plot("sweep", REFERENCE, SYSTEM)
    (axes,) = axes_of(figure)
    names = [name for name in found.scores if name.endswith("f1.macro")]
    assert legend_of(figure) == names
    for line, name in zip(lines_of(axes, len(names)), names, strict=True):
        assert list(line.get_xdata()) == list(found.thresholds)
        assert list(line.get_ydata()) == list(found.scores[name])
        assert line.get_marker() != "None"
    figure = plot("sweep", REFERENCE, SYSTEM, OTHER, scores="segment.optimal.recall.micro")
    assert legend_of(figure) == ["sys", "sys_b"]
    assert axes_of(figure)[0].get_ylabel() == "segment.optimal.recall.micro"


def test_several_systems_are_overlaid_one_line_each(curves):
    other = threshold_curves(REFERENCE, OTHER, only=["segment"])
    figure = plot("pr", REFERENCE, SYSTEM, OTHER, names=["ours", "theirs"])
    (axes,) = axes_of(figure)
    lines = lines_of(axes, 2)
    for line, each in zip(lines, (curves, other), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), each.pooled["segment.hard"].recall[::-1])
    assert [text.split()[0] for text in legend_of(figure)] == ["ours", "theirs"]
    assert lines[0].get_color() != lines[1].get_color()
    assert lines[0]._dash_pattern != lines[1]._dash_pattern


def test_classes_without_reference_are_named():
    reference, system = table(("a", "b")), table(("a", "b", "never there"))
    for kind in ("pr", "roc", "det", "f-thresholds"):
        figure = plot(kind, reference, system)
        assert "No reference: never there." in said(figure), kind
        assert not any(text.startswith("never there") for text in legend_of(figure))


def test_no_more_lines_than_can_be_told_apart():
    classes = tuple(f"class {k:02}" for k in range(30))
    figure = plot("pr", table(classes), table(classes, shift=1), class_names=classes)
    assert "Not drawn: the 2 classes" in said(figure)
    (axes,) = axes_of(figure)
    assert len({(line.get_color(), str(line._dash_pattern)) for line in lines_of(axes, 28)}) == 28
    with pytest.raises(SettingsError, match="up to 28 lines can be told apart; found 29 systems"):
        plot("roc", table(("a",)), *(table(("a",), shift=k) for k in range(29)))


@pytest.mark.parametrize("kind", ["reliability", "surface"])
def test_classes_that_are_named_have_panels_and_every_column_numbers_below_it(kind):
    names = list(CLASSES[:5])
    systems = (SYSTEM,) if kind == "surface" else (SYSTEM, OTHER)
    figure = plot(kind, REFERENCE, *systems, class_names=names)
    panels = [axes for axes in figure.axes if axes.axison and axes.get_title()]
    assert [axes.get_title() for axes in panels] == names
    numbered = [bool(axes.get_xlabel()) and axes.xaxis.get_tick_params()["labelbottom"] for axes in panels]
    columns = len({round(axes.get_position().x0, 2) for axes in panels})
    assert columns < 5
    assert numbered == [k + columns >= 5 for k in range(5)]
