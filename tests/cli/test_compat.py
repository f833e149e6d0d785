"""A preset that computes hard scores as sed_eval does changes no other score, no tuning and no figure."""

from __future__ import annotations

import pytest
from called import REFERENCE, SYSTEM, call

from sedeval_soft import evaluate

PRESET = ("--preset", "dcase2019-2022-task4", "-q")
COLLARS = {"offset_collar_rate": 0.2}
HARD = "segment.hard.f1.macro"


@pytest.mark.parametrize(
    ("name", "options", "settings"),
    [
        ("intersection.hard.psds", "--psds dcase-psds1", {"psds": "dcase-psds1", "only": "intersection.hard"}),
        ("segment.soft.f1.macro", "", {}),
        ("event.optimal.f1.macro", "", {}),
        ("event.soft.f1.harmonic", "", {"means": "harmonic"}),
        (HARD, "", {"compat": "sed_eval"}),
        (HARD, "--set compat=none", {}),
    ],
)
def test_each_score_is_computed_with_and_without_it(name, options, settings):
    done = call(REFERENCE, SYSTEM, *PRESET, *options.split(), "--score", name)
    assert float(done.out) == evaluate(REFERENCE, SYSTEM, **COLLARS, **settings)[name]


def test_its_scores_differ_and_it_lacks_some():
    assert len({evaluate(REFERENCE, SYSTEM, compat=each, **COLLARS)[HARD] for each in ("sed_eval", None)}) == 2
    done = call(REFERENCE, SYSTEM, *PRESET, "--score", "event.hard.f1.harmonic")
    assert (done.code, done.out) == (2, "") and "is none of sed_eval's" in done.err


def test_tuning_and_figures_work(tmp_path):
    asked = ("tune", REFERENCE, SYSTEM, "--objective", "event.f1", "-q")
    tuned, plain = (call(*asked, *more).out for more in (PRESET[:2], ("--offset-collar-rate", "0.2")))
    assert tuned.split("signature")[0] == plain.split("signature")[0] != ""
    for kind in ("psd-roc", "f-thresholds", "pr"):
        assert call("plot", kind, REFERENCE, SYSTEM, *PRESET, "-o", tmp_path / "x.svg").code == 0, kind
