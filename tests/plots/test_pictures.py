"""Heat maps, bars, boards and timelines: what is drawn are the scores."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.legend import Legend
from plotted import OTHER, REFERENCE, SYSTEM, said, table

from sedeval_soft import compare, evaluate, plot, threshold_curves
from sedeval_soft.plots.style import FALSE_ALARM, HIT, MISS

BASES, READINGS = ("segment", "event", "intersection"), ("hard", "optimal", "soft")


def written_in(axes):
    return [text.get_text() for text in axes.texts]


def test_a_matrix_has_a_number_for_each_basis_and_reading():
    scores = evaluate(REFERENCE, SYSTEM, only=BASES)
    (axes,) = plot("matrix", REFERENCE, SYSTEM).axes
    expected = [[scores[f"{b}.{r}.f1.macro"] for r in READINGS] for b in BASES]
    np.testing.assert_array_equal(axes.images[0].get_array(), expected)
    assert written_in(axes) == [f"{value:.3f}" for row in expected for value in row]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == list(READINGS)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == list(BASES)
    assert "macro F1" in axes.get_xlabel()


def test_with_intervals_a_matrix_is_of_dots():
    asked = {"only": BASES, "ci": "bootstrap", "replicates": 50}
    scores = evaluate(REFERENCE, SYSTEM, **asked)
    (axes,) = plot("matrix", REFERENCE, SYSTEM, **asked).axes
    names = [f"{b}.{r}.f1.macro" for b in BASES for r in READINGS]
    found = [scores.score(name) for name in names]
    assert written_in(axes) == [f"{s.value:.3f} [{s.low:.2f}, {s.high:.2f}]" for s in found]
    dots = [line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() != "none"]
    spans = [tuple(line.get_xdata()) for line in axes.get_lines() if line.get_marker() == "none"]
    assert dots == [s.value for s in found]
    assert spans == [(s.low, s.high) for s in found]


def test_several_systems_are_a_leaderboard():
    asked = {"only": ["segment", "event"], "replicates": 50}
    board = compare(REFERENCE, {"weak": OTHER, "good": SYSTEM}, **asked)
    figure = plot("matrix", REFERENCE, OTHER, SYSTEM, names=["weak", "good"], **asked)
    first, second = figure.axes
    ranks = [f"{entry.rank}  {entry.system}" for entry in board.entries]
    assert [tick.get_text() for tick in first.get_yticklabels()] == ranks
    assert ranks[0].endswith("good")
    dots = [line.get_xdata()[0] for line in second.get_lines() if line.get_marker() in "os^D"]
    assert dots == [s[f"event.{r}.f1.macro"] for s in board.systems for r in READINGS]


def test_bars_are_as_long_as_scores():
    asked = {"only": ["segment"], "ci": "bootstrap", "replicates": 50}
    scores = evaluate(REFERENCE, SYSTEM, **asked)
    (axes,) = plot("classes", REFERENCE, SYSTEM, ci="bootstrap", replicates=50).axes
    rows = [*(f"[{label}]" for label in scores.classes), ".macro"]
    expected = [scores[f"segment.{r}.f1{row}"] for r in READINGS for row in rows]
    assert [bar.get_width() for bar in axes.patches] == [value or 0 for value in expected]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [*scores.classes, "macro average"]
    ends = [tuple(segment[:, 0]) for of in axes.collections for segment in of.get_segments()]
    named = (scores.score(f"segment.{r}.f1{row}") for r in READINGS for row in rows)
    wanted = [(s.low, s.high) for s in named if s.value]
    np.testing.assert_allclose(ends, [w for w in wanted if w[0] is not None])


def test_what_is_undefined_and_what_is_zero_are_told_apart():
    reference, system = table(("a", "b")), table(("a", "never there"))
    figure = plot("classes", reference, system, scores="segment.hard.recall")
    assert written_in(figure.axes[0]) == [" 0", " \u2013"]
    assert "No reference: never there." in said(figure)


@pytest.mark.parametrize(
    ("sort", "key"),
    [
        ("name", lambda _, label: label),
        ("score", lambda scores, label: -scores[f"segment.hard.f1[{label}]"]),
        ("size", lambda scores, label: -scores[f"segment.hard.n_ref[{label}]"]),
    ],
)
def test_bars_are_sorted(sort, key):
    scores = evaluate(REFERENCE, SYSTEM)
    (axes,) = plot("classes", REFERENCE, SYSTEM, sort=sort).axes
    named = [tick.get_text() for tick in axes.get_yticklabels()][:-1]
    assert named == sorted(scores.classes, key=lambda label: key(scores, label))
    low, high = axes.get_ylim()
    assert low > high, "the first is at the top"


@pytest.mark.parametrize("of", ["segments", "files", "classes"])
def test_the_worst_are_told_with_what_is_missed_and_inserted(of):
    worst = evaluate(REFERENCE, SYSTEM, only=["segment.soft"], worst=3).worst
    (axes,) = plot("worst", REFERENCE, SYSTEM, of=of, worst=3).axes
    found = getattr(worst, of)
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == pytest.approx([*(o.missed for o in found), *(o.inserted for o in found)])
    named = [tick.get_text() for tick in axes.get_yticklabels()]
    if of == "segments":
        assert named == [f"{o.file} {o.onset:g}\u2013{o.offset:g} s" for o in found]
    else:
        assert named == [o.file or o.class_name for o in found]


@pytest.mark.parametrize("basis", ["segment", "event"])
def test_a_confusion_has_its_counts(basis):
    scores = evaluate(REFERENCE, SYSTEM, only=[basis], measures=["confusion"])
    (table_of,) = scores.confusion
    axes = plot("confusion", REFERENCE, SYSTEM, only=f"{basis}.hard").axes[0]
    shares = np.asarray(axes.images[0].get_array().filled(np.nan))
    n = len(scores.classes)
    assert shares.shape == (n + 1, n + 1)
    assert np.isnan(shares[n, n])
    for i, label in enumerate(scores.classes):
        recall = scores[f"{basis}.hard.recall[{label}]"]
        assert shares[i, i] == pytest.approx(recall), "the diagonal is the recall"
        assert shares[i, n] == pytest.approx(table_of.missed[i] / scores[f"{basis}.hard.n_ref[{label}]"])
    written = {tuple(map(round, text.get_position())): text.get_text() for text in axes.texts}
    for i in range(n):
        assert [written[j, i] for j in range(n)] == [str(count) for count in table_of.pairs[i]]
        assert written[n, i] == str(table_of.missed[i])
        if (i, n) in written:
            assert written[i, n] == str(table_of.inserted[i])
    ticks = [tick.get_text() for tick in axes.get_yticklabels()]
    assert ticks == [*scores.classes, "inserted"]


def test_a_surface_has_f_at_both_thresholds():
    surface = threshold_curves(REFERENCE, SYSTEM, only=["segment"], reference_sweep=True).surfaces["segment"]
    axes = plot("surface", REFERENCE, SYSTEM, reference_threshold=0.3).axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), surface.micro_f)
    assert axes.images[0].get_extent() == pytest.approx([0.005, 0.995, 0.005, 0.995])
    assert axes.images[0].origin == "lower"
    ridge, mark = axes.get_lines()
    best = [surface.thresholds[k] for k in np.nanargmax(surface.micro_f, axis=1)]
    np.testing.assert_array_equal(ridge.get_xdata(), best)
    np.testing.assert_array_equal(ridge.get_ydata(), surface.thresholds)
    assert mark.get_xydata().tolist() == [[0.5, 0.3]]
    panels = plot("surface", REFERENCE, SYSTEM, class_names=["car", "footsteps"]).axes
    assert [axes.get_title() for axes in panels[:2]] == ["car", "footsteps"]
    np.testing.assert_array_equal(panels[0].images[0].get_array(), surface.f[1])


def test_a_timeline_shows_values_and_events_of_one_file():
    reference = {
        "filename": ["x.wav"] * 4, "onset": [0.0, 1.0, 3.0, 0.0], "offset": [1.0, 2.0, 5.0, 5.0],
        "event_label": ["a", "a", "a", "b"], "value": [0.2, 0.9, 0.7, 0.1],
    }  # fmt: skip
    system = {
        "filename": ["x.wav", "y.wav"], "onset": [1.5, 0.0], "offset": [4.0, 9.0], "event_label": ["a", "c"],
        "value": [0.8, 1.0],
    }  # fmt: skip
    figure = plot("timeline", reference, system, file="x.wav")
    axes = figure.axes[0]
    meshes = [c for c in axes.collections if isinstance(c, QuadMesh)]
    assert [list(mesh.get_array().ravel()) for mesh in meshes[:2]] == [[0.2, 0.9, 0.0, 0.7], [0.0, 0.8, 0.0]]
    np.testing.assert_array_equal(meshes[0].get_coordinates()[0, :, 0], [0, 1, 2, 3, 5])
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_xlim() == (0, 5)
    spans = {}
    for bars in axes.collections:
        if isinstance(bars, PolyCollection) and len(bars.get_facecolor()):
            colour = to_hex(bars.get_facecolor()[0]).upper()
            for path in bars.get_paths():
                spans.setdefault(colour, []).append((path.vertices[:, 0].min(), path.vertices[:, 0].max()))
    assert spans[HIT] == [(1.5, 2.0), (3.0, 4.0)]
    assert spans[MISS] == [(1.0, 1.5), (4.0, 5.0)]
    assert spans[FALSE_ALARM] == [(2.0, 3.0)]
    boxes = [
        (path.vertices[:, 0].min(), path.vertices[:, 0].max())
        for c in axes.collections
        if isinstance(c, PolyCollection) and not len(c.get_facecolor()) and c.get_zorder() == 3
        for path in c.get_paths()
    ]
    assert boxes == [(1.0, 2.0), (3.0, 5.0), (1.5, 4.0)]
    assert "Neither side has anything of c there." in said(figure)
    (legend,) = figure.findobj(Legend)
    assert [text.get_text() for text in legend.get_texts()] == ["hit", "miss", "false alarm", "hard event"]


def test_a_timeline_of_several_systems_and_some_seconds():
    axes = plot(
        "timeline", REFERENCE, SYSTEM, OTHER, file="cafe.wav", start=10, end=20.5, class_names=["footsteps"]
    ).axes[0]
    meshes = [c for c in axes.collections if isinstance(c, QuadMesh)]
    assert len(meshes) == 3
    assert axes.get_xlim() == (10, 20.5)
    assert written_in(axes) == ["reference", "sys", "sys_b"]


def test_a_timeline_of_very_many_pieces_is_drawn_as_pixels(tmp_path):
    rng = np.random.default_rng(2)
    values = rng.random((20_000, 2))
    path = tmp_path / "a.pdf"
    figure = plot("timeline", values, rng.random(values.shape), output=path, dpi=100)
    assert path.stat().st_size < 500_000
    assert "Hard events are too many to be seen, and not drawn" in said(figure)
    part = plot("timeline", values, rng.random(values.shape), start=1000, end=1200.5)
    assert "too many" not in said(part)
    meshes = [c for c in part.axes[0].collections if isinstance(c, QuadMesh)]
    np.testing.assert_array_equal(meshes[0].get_array().ravel(), values[1000:1201, 0])
