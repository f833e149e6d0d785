"""Laws of simulated systems."""

from dataclasses import replace

import numpy as np
import pytest
from called import OTHER, REFERENCE, SYSTEM, call
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tables import columns_of

from sedeval_soft import EvaluationError, evaluate, simulate
from sedeval_soft.apps.simulate.run import KINDS, Betas, perturbed, shuffled
from sedeval_soft.cli import tables as command
from sedeval_soft.tables import EventTable, read_rows

NEEDED = {
    "beta-noise": {"r": 0.5},
    "perturb": {"noise": 0.1, "jitter": 1.0, "drop": 0.2, "merge": 0.2},
    "annotator": {"labels": [SYSTEM, OTHER]},
}

seeds = st.integers(0, 2**63 - 1)


def of_files(lengths, classes="abc"):
    """Return a reference whose files last some whole seconds and have every class throughout."""
    return columns_of([(f"f{i}", 0.0, float(n), label) for i, n in enumerate(lengths) for label in classes])


def grid(rows, n):
    """Return the values of segments of one second, (n_classes, n), one file after the other."""
    lengths = [rows.offset[rows.file == f].max(initial=0) for f in range(len(rows.files))]
    values = np.zeros((len(rows.classes), n))
    values[rows.label, (np.append(0, np.cumsum(lengths))[rows.file] + rows.onset).astype(int)] = rows.value
    return values


def drawn(fitted, n):
    """Return values that a fitted distribution draws for each class."""
    return np.stack([fitted.draw(np.random.default_rng(0), k, n) for k in range(len(fitted.mean))])


def rows_of(table: EventTable) -> list[tuple[float, ...]]:
    return [*zip(table.file, table.label, table.onset, table.offset, table.value, strict=True)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_system_and_another_gives_another(kind):
    made = [simulate(kind, REFERENCE, seed=seed, **NEEDED.get(kind, {})) for seed in (3, 3, 4, 5, 6)]
    first, again, *others = map(rows_of, made)
    assert first == again and (kind == "constant" or any(other != first for other in others))
    assert made[0].files == tuple(sorted(read_rows(REFERENCE).files))
    assert np.all((made[0].value > 0) & (made[0].value <= 1))


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"annotator"}))
def test_the_order_of_rows_and_of_names_does_not_matter(kind):
    rows = read_rows(REFERENCE)
    mixed = rows.take(np.random.default_rng(0).permutation(len(rows)))
    turned = replace(
        mixed,
        files=rows.files[::-1],
        classes=rows.classes[::-1],
        file=(len(rows.files) - 1 - mixed.file).astype(np.int32),
        label=(len(rows.classes) - 1 - mixed.label).astype(np.int32),
    )
    made, of_turned = (simulate(kind, each, seed=1, **NEEDED.get(kind, {})) for each in (rows, turned))
    assert rows_of(made) == rows_of(of_turned)


@given(seeds, st.lists(st.integers(1, 9), min_size=2, max_size=4))
@settings(max_examples=20)
def test_other_files_and_classes_change_nothing(seed, lengths):
    whole, part = (
        simulate("beta-noise", of_files(*which), r=0.3, seed=seed)
        for which in ((lengths,), (lengths[:-1], "b"))
    )
    inside = (whole.file < len(part.files)) & (whole.label == 1)
    assert np.array_equal(whole.value[inside], part.value)


def test_distributions_have_the_moments_of_the_data_or_are_the_likeliest():
    shapes = [[0.3], [2.0], [30.0]], [[1.2], [5.0], [9.0]]
    values = np.random.default_rng(0).beta(*shapes, (3, 400)).clip(1e-7, 1 - 1e-7)
    moments, found = (
        np.stack([fitted.mean * fitted.size, (1 - fitted.mean) * fitted.size])
        for fitted in (Betas.fitted(values), Betas.likeliest(values))
    )
    assert np.allclose(stats.beta.stats(*moments, moments="mv"), [values.mean(axis=1), values.var(axis=1)])
    assert np.allclose(found.T, [stats.beta.fit(row, floc=0, fscale=1)[:2] for row in values], rtol=1e-4)


@pytest.mark.parametrize("fit", [Betas.fitted, Betas.likeliest])
def test_classes_without_variance_and_binary_ones_are_decided(fit):
    values = np.array([[0.3] * 8, [0.0] * 8, [1.0] * 8, [0.1] * 8])
    assert np.array_equal(drawn(fit(values), 8), values)
    tossed = drawn(Betas.fitted(np.array([[0.0, 1.0, 1.0, 1.0]])), 4000)
    assert {*np.unique(tossed)} == {0.0, 1.0} and abs(tossed.mean() - 0.75) < 0.03
    assert not drawn(fit(np.zeros((3, 0))), 2).any()


@given(seeds, st.integers(1, 7))
def test_shuffled_classes_have_the_distribution_of_another(seed, n_classes):
    means = (np.arange(n_classes) + 1) / 10
    turned = shuffled(Betas(means, np.full(n_classes, np.inf)), "abcdefg"[:n_classes], seed).mean
    assert sorted(turned) == sorted(means)
    assert n_classes == 1 or np.all(turned != means)


@given(seeds, st.integers(1, 9))
@settings(max_examples=20)
def test_sampled_steps_are_whole_steps_of_the_data(seed, n_steps):
    values = np.random.default_rng(n_steps).uniform(0.1, 1, (3, n_steps))
    train = columns_of([("t", k, k + 1, "abc"[c], values[c, k]) for c in range(3) for k in range(n_steps)])
    sampled = grid(simulate("data-sampling", of_files((4, 5)), train=train, seed=seed), 9)
    assert {tuple(step) for step in sampled.T} <= {tuple(step) for step in values.T}


@given(seeds)
@settings(max_examples=20)
def test_one_annotator_speaks_for_a_file(seed):
    labels = [
        columns_of([(file, 0.0, 3.0, label, value) for file in files for label in "abc"])
        for files, value in ((("f0", "f1"), 0.4), (("f0",), 0.2), (("other",), 0.6))
    ]
    said = grid(simulate("annotator", of_files((3, 3, 3)), labels=labels, seed=seed), 9)
    assert said[0, 0] in {0.2, 0.4}
    assert np.array_equal(said, np.repeat([[said[0, 0], 0.4, 0.0]] * 3, 3, axis=1))


soft = st.lists(st.sampled_from([0.0, 0.0, 0.3, 0.7, 1.0]), min_size=1, max_size=40).map(np.array)


def changed(values, seed, **errors):
    result = perturbed(values, seed, "f0", "a", **errors)
    assert result.shape == values.shape and np.all((result >= 0) & (result <= 1))
    return result


@given(soft, seeds, st.floats(0.01, 1.0))
def test_dropping_silences_whole_events(values, seed, share):
    found = changed(values, seed, drop=share)
    assert np.all((found == values) | (found == 0))
    alone = (values[1:] > 0) & (values[:-1] > 0)
    assert not np.any(alone & ((found[1:] > 0) != (found[:-1] > 0)))
    assert not changed(values, seed, drop=1.0).any()


@given(soft, seeds, st.floats(0.01, 1.0))
def test_merging_loses_nothing_and_fills_gaps_only(values, seed, share):
    found, there = changed(values, seed, merge=share), values > 0
    assert np.all(found >= values) and np.array_equal(found[there], values[there])
    inside = np.logical_or.accumulate(there) & np.logical_or.accumulate(there[::-1])[::-1]
    assert not found[~inside].any()
    assert np.all(changed(values, seed, merge=1.0)[inside] > 0)


def test_errors_have_their_share_and_their_deviation():
    dropped = changed(np.tile([0.5, 0.0], 4000), 0, drop=0.3)
    assert abs(np.count_nonzero(dropped) / 4000 - 0.7) < 0.03
    events = np.tile([*[0.0] * 15, 1.0, *[0.0] * 14], 3000)
    shift = (np.flatnonzero(changed(events, 0, jitter=3.0)) % 30) - 15
    assert abs(shift.std() - np.sqrt(9 + 1 / 12)) < 0.15 and abs(shift.mean()) < 0.2
    error = np.abs(changed(np.full(20_000, 0.5), 1, noise=0.1) - 0.5).mean()
    assert abs(error - 0.1 * np.sqrt(2 / np.pi)) < 0.002
    noise = simulate("beta-noise", of_files([4000], "a"), r=0.5, seed=7).value
    assert stats.kstest(noise, stats.beta(0.5, 0.5).cdf).pvalue > 0.01


@given(soft, st.integers(0, 4), st.sampled_from([0.4, 1.5]))
def test_smoothing_is_a_mean_over_what_is_there_and_scaling_ends_at_1(values, half, scale):
    expected = [values[max(i - half, 0) : i + half + 1].mean() for i in range(len(values))]
    assert np.allclose(changed(values, 0, smoothing=2 * half + 1), expected)
    assert np.allclose(changed(values, 0, scale=scale), np.minimum(scale * values, 1.0))


@pytest.mark.parametrize(
    ("kind", "given_", "said"),
    [
        ("beta", {}, "'beta'"),
        ("betas", {"r": 1.0}, r"betas .*\br\b"),
        ("betas", {"fit": "best"}, "fit"),
        ("betas", {"train": columns_of([("x", 0, 1, "barking")])}, "train"),
        ("beta-noise", {}, r"\br\b"),
        ("beta-noise", {"r": float("nan")}, r"\br\b"),
        ("beta-noise", {"r": True}, r"\br\b"),
        ("constant", {"value": 1.5}, "value"),
        ("constant", {"value": "mean"}, "value"),
        ("perturb", {}, "perturb"),
        ("perturb", {"drop": 2}, "drop"),
        ("perturb", {"scale": -1.0}, "scale"),
        ("annotator", {}, "labels"),
        ("betas", {"seed": 1.5}, "seed"),
        ("betas", {"seeds": 1}, "seeds"),
        ("constant", {"classes": ["car", "carr"]}, r"'carr'.*'car'"),
    ],
)
def test_wrong_arguments_are_refused(kind, given_, said):
    with pytest.raises(EvaluationError, match=said):
        simulate(kind, REFERENCE, **given_)


def test_last_segments_end_with_their_file_and_nothing_gives_nothing():
    reference = of_files([2.5], "a")
    rows = simulate("constant", reference)
    assert rows.offset.tolist() == [1.0, 2.0, 2.5] and evaluate(reference, rows).length == 2.5
    empty = columns_of([])
    for kind in KINDS:
        own = NEEDED.get(kind, {}) if kind != "annotator" else {"labels": [empty]}
        assert len(simulate(kind, empty, **own)) == 0


# The command.


def test_any_written_form_holds_the_system(tmp_path):
    assert command.KINDS == KINDS
    values = {
        "drop": 0.3,
        "merge": 0.2,
        "jitter": 1.0,
        "smoothing": 3.0,
        "noise": 0.1,
        "pool": "mean",
        "seed": 4,
    }
    options = [part for name, value in values.items() for part in (f"--{name}", value)]
    scores = evaluate(REFERENCE, simulate("perturb", REFERENCE, **values))
    for path in (tmp_path / "sys.tsv", tmp_path / "sys.parquet"):
        assert "seed 4" in call("simulate", "perturb", REFERENCE, *options, "-o", path).err
        assert dict(evaluate(REFERENCE, path)) == dict(scores)
    done = call("simulate", "constant", REFERENCE, "--classes", "car", "--segment-length", "20", "-q")
    assert (done.err, done.out.splitlines()[:2]) == (
        "",
        ["filename\tonset\toffset\tevent_label\tsoft_value", "cafe.wav\t0\t20\tcar\t0.5"],
    )
