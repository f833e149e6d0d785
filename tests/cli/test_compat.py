"""A preset that computes hard scores as sed_eval does says nothing of other scores, tuning and figures."""

from __future__ import annotations

import pytest
from called import REFERENCE, SYSTEM, call

from sedeval_soft import evaluate

PRESET = ("--preset", "dcase2019-2022-task4", "-q")
COLLARS = {"offset_collar_rate": 0.2}


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("intersection.hard.psds", {"psds": "dcase-psds1"}),
        ("segment.soft.f1.macro", {}),
        ("event.optimal.f1.macro", {}),
        ("event.soft.f1.harmonic", {"means": "harmonic"}),
    ],
)
def test_other_scores_are_those_without_it(name, more):
    psds = ("--psds", more["psds"]) if "psds" in more else ()
    done = call(REFERENCE, SYSTEM, *PRESET, *psds, "--score", name)
    found = evaluate(
        REFERENCE,
        SYSTEM,
        only=name.rsplit(".", 2)[0] if "psds" not in name else "intersection.hard",
        **COLLARS,
        **more,
    )
    assert float(done.out) == found[name]


def test_it_can_be_turned_off():
    name = "segment.hard.f1.macro"
    plain, without = (
        float(call(REFERENCE, SYSTEM, *PRESET, *options, "--score", name).out)
        for options in ((), ("--set", "compat=none"))
    )
    assert plain == evaluate(REFERENCE, SYSTEM, compat="sed_eval", **COLLARS)[name]
    assert without == evaluate(REFERENCE, SYSTEM, **COLLARS)[name]
    assert plain != without


def test_what_it_does_not_have_is_said():
    done = call(REFERENCE, SYSTEM, *PRESET, "--score", "event.hard.f1.harmonic")
    assert (done.code, done.out) == (2, "") and "is none of sed_eval's" in done.err


def test_tuning_and_figures_work(tmp_path):
    tuned = call("tune", REFERENCE, SYSTEM, *PRESET, "--objective", "event.f1")
    plain = call("tune", REFERENCE, SYSTEM, "--offset-collar-rate", "0.2", "--objective", "event.f1", "-q")
    assert tuned.out.split("signature")[0] == plain.out.split("signature")[0]
    for kind in ("psd-roc", "f-thresholds", "pr"):
        assert call("plot", kind, REFERENCE, SYSTEM, *PRESET, "-o", tmp_path / "x.svg").code == 0, kind
