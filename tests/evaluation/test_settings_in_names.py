"""Scores with settings in their names equal scores of separate evaluations; the names parse back."""

from dataclasses import replace

import numpy as np
import pytest
from called import call, written
from drawn_again import Tables, random_tables
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft import Evaluator, Scores, Settings, SettingsError, compare, evaluate, mean_of_runs
from sedeval_soft.measures.registry import ScoreName
from sedeval_soft.settings import IN_NAMES, settings_in, text_of_settings


def blurred(rows, seed):
    """Return rows with other times and many values, so that nearly every setting has an effect."""
    rng, n = np.random.default_rng(seed), len(rows)
    onset = np.round(rows.onset + rng.uniform(0, 0.7, n), 3)
    length = rows.offset - rows.onset + rng.uniform(0, 0.7, n)
    return replace(rows, onset=onset, offset=np.round(onset + length, 3), values=(rng.random(n).round(3),))


REFERENCE = blurred(random_tables(5, n=60).reference, 0)
SYSTEM = blurred(REFERENCE, 1)

# A score, the settings in its name as a user may type them, and the same settings as arguments.
CASES = [
    ("event.hard.f1.macro", "onset_collar=0.50", {"onset_collar": 0.5}),
    ("event.soft.error_rate.micro", "offset-collar=1.0, onset_collar=.4",
     {"offset_collar": 1.0, "onset_collar": 0.4}),
    ("event.optimal.f1[{}]", "match_by=iou,iou=.75", {"match_by": "iou", "iou": 0.75}),
    ("event.hard.f1.micro", "offset=false,matching=greedy", {"offset": False, "matching": "greedy"}),
    ("event.hard.average_precision.macro", "iou=0.75", {"iou": 0.75, "measures": "curves"}),
    ("intersection.hard.psds", "psds=dcase-psds2", {"psds": "dcase-psds2"}),
    ("intersection.soft.psds", "alpha_st=1,dtc=0.7,max_efpr=60",
     {"alpha_st": 1.0, "dtc": 0.7, "max_efpr": 60.0}),
    ("intersection.hard.f1.macro", "gtc=0.8", {"gtc": 0.8}),
    ("intersection.hard.f1.micro", "psds=dcase-psds1", {"psds": "dcase-psds1"}),
    ("segment.hard.fbeta.macro", "beta=2", {"beta": 2.0}),
    ("segment.hard.recall.micro", "threshold=0.3,inclusive=true", {"threshold": 0.3, "inclusive": True}),
    ("segment.hard.precision.macro", "reference_threshold=0.7", {"reference_threshold": 0.7}),
    ("segment.soft.f1.weighted", "t_norm=product", {"t_norm": "product"}),
    ("segment.soft.f1.harmonic", "segment_length=1/3", {"segment_length": "1/3", "means": "harmonic"}),
    ("segment.hard.f1.macro", "pool=mean,segment_length=0.5", {"pool": "mean", "segment_length": 0.5}),
    ("segment.hard.partial_auc.macro", "max_fpr=0.4", {"max_fpr": 0.4, "measures": "curves"}),
    ("segment.hard.expected_calibration_error.macro", "bins=4", {"bins": 4, "measures": "calibration"}),
    ("segment.soft.kl_divergence.micro", "epsilon=1e-3,entropy_unit=bits",
     {"epsilon": 0.001, "entropy_unit": "bits"}),
    ("segment.hard.recall_at_iou.macro", "iou=0.3,segment_length=0.1",
     {"iou": 0.3, "segment_length": 0.1, "measures": "grounding"}),
    ("clip.hard.f1.macro", "threshold=0.6", {"threshold": 0.6}),
    ("segment.hard.f1.macro@first", "threshold=0.6", {"threshold": 0.6}),
    ("segment.soft.f1.micro@scenes.mean", "pool=mean", {"pool": "mean", "means": "scenes.mean"}),
]  # fmt: skip
NAMES = [(name.format(REFERENCE.classes[0]), text) for name, text, _ in CASES]
PARTS = {
    "scenes": {"low": REFERENCE.files[:2], "high": REFERENCE.files[2:]},
    "groups": {"first": REFERENCE.classes[:2]},
}
SURE = {"ci": "bootstrap", "replicates": 6}


@pytest.fixture(scope="module")
def together() -> Scores:
    return evaluate(REFERENCE, SYSTEM, variants=[f"{n}@{text}" for n, text in NAMES], **PARTS, **SURE)


@pytest.mark.parametrize("k", range(len(CASES)), ids=[f"{name}@{text}" for name, text, _ in CASES])
def test_numbers_and_intervals_are_those_of_a_separate_evaluation(together, k):
    (name, text), values = NAMES[k], CASES[k][2]
    alone = evaluate(REFERENCE, SYSTEM, **PARTS, **SURE, **{"only": ".".join(name.split(".")[:2])} | values)
    own, asked = together.score(f"{name}@{text}"), alone.score(name)
    assert own[6] == asked[6] and own[-2:] == asked[-2:] and own.value is not None
    assert own.name == f"{name}@{text_of_settings(text)}" and str(ScoreName.parse(own.name)) == own.name
    # Under the common settings the score has another value, or none.
    assert together.scores.get(name, own._replace(value=None)).value != own.value or name.startswith("clip")
    parsed = Settings.of(**{key: each for key, each in values.items() if key not in ("measures", "means")})
    assert {key: getattr(parsed, key) for key in settings_in(text)} == settings_in(text)


def test_the_scores_of_the_common_settings_stay(together):
    plain = evaluate(REFERENCE, SYSTEM, **PARTS, **SURE)
    assert {name: score for name, score in together.scores.items() if "=" not in name} == plain.scores
    # Every case has one measure, with all its averages, classes and parts.
    found = {ScoreName.parse(name)[:3] for name in together if "=" in name}
    assert found == {ScoreName.parse(name)[:3] for name, _ in NAMES}
    assert all(name not in plain.signature for name in ("variants", "psds="))
    assert "event.hard.f1.macro@onset_collar=0.5" in together.signature


TEXTS = st.fixed_dictionaries({}, optional={
    "onset_collar": st.floats(0, 1e6), "iou": st.floats(0.001, 1), "threshold": st.floats(0.001, 1),
    "segment_length": st.sampled_from((0.02, 1 / 3, 1024 / 44100, 2.0)), "inclusive": st.booleans(),
    "pool": st.sampled_from(("max", "mean")), "bins": st.integers(1, 10_000), "psds": st.just("dcase-psds1"),
}).filter(bool)  # fmt: skip


@given(
    TEXTS, st.sampled_from((None, "a scene", "scenes.harmonic")), st.sampled_from((None, "x@iou=0.5", "]@["))
)
def test_names_parse_back(values, group, label):
    text = text_of_settings(",".join(f"{name}={value}" for name, value in values.items()))
    name = f"{ScoreName('event', 'hard', 'f1', None if label else 'macro', label, group)}@{text}"
    assert str(ScoreName.parse(name)) == name and text_of_settings(text) == text
    assert ScoreName.parse(name).part == group and ScoreName.parse(name).class_name == label
    assert settings_in(text) == {key: getattr(Settings.of(**values), key) for key in sorted(values)}


BASE = "event.hard.f1.macro"


@pytest.mark.parametrize(
    ("name", "clash"),
    [
        *((f"{BASE}@{text}", {}) for text in (
            "onset_colar=1", "onset_collar=x", "onset_collar", "iou=0", "iou=.5,iou=.5", "map=x",
            "only=event", "median_filter=1", "durations=x", "classes=a", "=1",
        )),
        # Without a setting, or in conflict with the common ones.
        (BASE, {}), (f"{BASE}@threshold=0.4", {"after_shots": 1}),
        (f"{BASE}@onset_collar=1", {"match_by": "iou"}),
        (f"{BASE}@iou=0.5", {"groups": {"a=b": REFERENCE.classes[:1]}}),
        # A setting that cannot change its score.
        *((name, {}) for name in (
            "segment.soft.f1.macro@onset_collar=1", "event.hard.f1.micro@segment_length=2",
            "event.soft.f1.micro@threshold=0.2", "segment.hard.f1.micro@iou=0.5",
        )),
    ],
)  # fmt: skip
def test_other_settings_and_values_are_refused(name, clash):
    with pytest.raises(SettingsError) as refused:
        evaluate(REFERENCE, SYSTEM, variants=name, **clash)
    # If a setting cannot be in a name, the message lists those that can.
    key, _, value = name.partition("@")[2].partition("=")
    assert not value or key in IN_NAMES or all(known in str(refused.value) for known in IN_NAMES)


VARIANT = "event.hard.f1.macro@offset_collar=0.1,onset_collar=0.5"
BOTH = {"onset_collar": 0.5, "offset_collar": 0.1}


def test_systems_are_ranked_as_by_a_separate_evaluation():
    """Entries are equal, as they have no names of scores."""
    systems = {"a": SYSTEM, "b": REFERENCE, "c": random_tables(6, n=60).system}
    how = {"replicates": 10, "only": "event.hard"}
    board = compare(REFERENCE, systems, rank_by=VARIANT, **how)
    assert board.entries == compare(REFERENCE, systems, rank_by=BASE, **how, **BOTH).entries


def test_batches_and_tallies_have_them():
    made = {"variants": VARIANT, "groups": PARTS["groups"], "only": "event"}
    whole, parts = evaluate(REFERENCE, SYSTEM, **made), Evaluator(**made)
    for one in ([1, 1, 0, 0, 0], [0, 0, 1, 1, 1]):
        drawn = Tables(REFERENCE, SYSTEM).drawn(one)
        parts.update(drawn.reference, drawn.system)
    again = Evaluator.of_bytes(parts.to_bytes()).compute()
    assert dict(parts.compute()) == dict(again)
    assert again[VARIANT] == whole[VARIANT] != whole[BASE]


def test_single_files_have_them():
    name = f"{BASE}@onset_collar=0.5"
    both = evaluate(REFERENCE, SYSTEM, only="event.hard", variants=name).per_file(BASE, name)
    alone = evaluate(REFERENCE, SYSTEM, only="event.hard", onset_collar=0.5).per_file(BASE)
    assert both[name].tolist() == alone[BASE].tolist() != both[BASE].tolist()


def test_folds_have_spreads_of_them_also_over_runs():
    name, folds = f"{BASE}@onset_collar=0.5", {file: "12"[k % 2] for k, file in enumerate(REFERENCE.files)}
    runs = {"x": SYSTEM, "y": replace(SYSTEM, values=(SYSTEM.values[0][::-1].copy(),))}
    for how, system in ((evaluate, SYSTEM), (mean_of_runs, runs)):
        own, alone = (
            {spread.name: spread for spread in how(REFERENCE, system, folds=folds, **asked).folds.spreads}
            for asked in ({"variants": name}, {"onset_collar": 0.5})
        )
        assert own[name] == replace(alone[BASE], name=name) and alone[BASE].deviation > 0
        assert sum("=" in each for each in own) == sum(each.startswith("event.hard.f1.") for each in alone)


def test_the_command_requires_and_ranks_by_them(tmp_path):
    paths = written(tmp_path / "ref.tsv", REFERENCE), written(tmp_path / "sys.tsv", SYSTEM)
    typed, own = f"{BASE}@onset-collar=0.50,offset_collar=.1", evaluate(*paths, **BOTH)[BASE]
    required = [call(*paths, "--require", f"{typed}{sign}{own}").code for sign in (">=", ">")]
    assert required == [0, 1]
    ranked = call(*paths, paths[0], "--rank-by", VARIANT, "--replicates", 5, "--format", "json")
    assert ranked.document["board"]["rank_by"] == VARIANT


def test_both_psds_in_one_call_or_in_a_settings_file(tmp_path):
    paths = written(tmp_path / "ref.tsv", REFERENCE), written(tmp_path / "sys.tsv", SYSTEM)
    name, config = "intersection.hard.psds", tmp_path / "mine.yaml"
    config.write_text("psds: [dcase-psds1, dcase-psds2]\n")
    wanted = [evaluate(*paths, psds=psds)[name] for psds in ("dcase-psds1", "dcase-psds2")]
    for how in (("--psds", "dcase-psds1", "--psds", "dcase-psds2"), ("--config", config)):
        found = call(*paths, *how, "--only", "intersection.hard", "--format", "json").scores
        assert [found[name]["value"], found[f"{name}@psds=dcase-psds2"]["value"]] == wanted


@pytest.mark.parametrize(("more", "n_warned"), [({}, 1), ({"value": [0.7]}, 0)])
def test_psds_of_one_threshold_is_warned_of(more, n_warned):
    """Published PSDS use many thresholds: PSDS of one list of events cannot be compared with them."""
    rows = {"filename": ["a.wav"], "onset": [0], "offset": [2], "event_label": ["dog"]}
    scores = evaluate(rows, rows | more, psds="dcase-psds1", durations={"a.wav": 10.0})
    assert sum("--operating-points" in text for text in scores.warnings) == n_warned
