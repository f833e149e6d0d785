"""Best thresholds lie in the middle between two scores, so that they cut other files where it is meant."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from called import call
from hypothesis import assume, given
from hypothesis import strategies as st
from tuning_oracle import BASES, sides

from sedeval_soft import evaluate
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.measures.thresholds import threshold_between
from sedeval_soft.settings import Settings
from sedeval_soft.settings_files import load_thresholds

SCORES = st.one_of(st.floats(0.0, 1.0), st.integers(0, 10**6).map(lambda k: k / 10**6), st.just(5e-324))


def test_of_two_scores_it_is_their_middle():
    """A segment of 0 and one of 0.11: 0.1 would part them, too, but lies elsewhere."""
    scores = evaluate(np.array([[0.0], [1.0]]), np.array([[0.0], [0.11]]), only="segment.optimal")
    assert scores["segment.optimal.threshold[0]"] == 0.055


@given(SCORES, SCORES, st.booleans())
def test_it_is_the_exact_middle_rounded_once_and_parts_the_two(one, other, inclusive):
    assume(one != other)
    low, high = sorted((one, other))
    threshold = float(threshold_between(low, high, inclusive))
    assert low < threshold <= high if inclusive else low <= threshold < high
    apart = np.nextafter(low, 2.0) < high
    assert threshold == float((Fraction(low) + Fraction(high)) / 2) if apart else threshold in (low, high)
    assert float(repr(threshold)) == threshold


@pytest.mark.parametrize("inclusive", [False, True])
def test_between_scores_without_a_number_between_it_is_the_one_that_parts_them(inclusive):
    for low in (0.0, 5e-324, 0.1, 0.5, float(np.nextafter(0.5, 0.0)), float(np.nextafter(1.0, 0.0))):
        high = float(np.nextafter(low, 2.0))
        assert threshold_between(low, high, inclusive) == (high if inclusive else low)
    # Below all scores is 0, the value of what has none; 0 itself is only reached from below.
    assert threshold_between(np.nan, 0.3, inclusive) == 0.15
    assert threshold_between(np.nan, 0.0, inclusive) == (0.0 if inclusive else -1.0)


VARIANTS = {
    "optimal": {},
    "at or above": {"inclusive": True},
    "joint": {"measures": ("joint",)},
    "constrained": {"satisfice": "precision>=0.6"},
    "on the other folds": {"cross_tune": 3},
    "for fewest errors": {"cross_tune": 2, "objective": "event.error_rate"},
    "by the prior": {"thresholds": "prior"},
    "by the middle of the range": {"thresholds": "midpoint"},
}


def decimals(system, seed):
    """Scores of three decimals, few of them equal."""
    values = np.stack(system.values, axis=1)
    drawn = np.random.default_rng(seed).integers(0, 120, values.shape)
    return replace(system, values=tuple(((values > 0) * (values * 800 + drawn) / 1000).clip(0, 1).T.copy()))


def scores_at(reference, system, share, settings):
    """Scores of the optimal and tuned readings, thresholds divided by what the system was multiplied by."""
    system = replace(system, values=tuple(column * share for column in system.values))
    settings = Settings.of(only=BASES, threshold=share / 2, reference_threshold=0.5, **settings)
    # Everything, nothing, and nothing at or above.
    beyond = (None, -1.0, 1.0, 2.0)
    return {
        name: value if "threshold" not in name or value in beyond else value / share
        for name, value in evaluate_rows(reference, system, settings).items()
        if name.split(".")[1] in ("optimal", "tuned")
    }


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
@pytest.mark.parametrize("seed", range(2))
def test_a_system_that_is_multiplied_keeps_its_scores(seed, variant):
    """Powers of two multiply all middles exactly; other numbers do so but for rounding."""
    reference, system = sides(seed)
    system = decimals(system, seed)
    once = scores_at(reference, system, 1.0, variant)
    assert any("threshold[" in name for name in once)
    for share in (0.5, 2.0**-20):
        assert scores_at(reference, system, share, variant) == once
    third = scores_at(reference, system, 1 / 3, variant)
    assert {n: v for n, v in third.items() if "threshold" not in n} == {
        n: v for n, v in once.items() if "threshold" not in n
    }
    known = {n: v for n, v in once.items() if v is not None}
    assert {n: third[n] for n in known} == pytest.approx(known, rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-5, 1e-9, 1 / 3])
@pytest.mark.parametrize("inclusive", [False, True])
def test_a_file_of_thresholds_reads_back_to_the_bit(tmp_path, scale, inclusive):
    rng = np.random.default_rng(3)
    lines = [(k, f"c{k % 3}", (0.5 * rng.random() + 0.4 * (k % 2)) * scale) for k in range(60)]
    reference, system = tmp_path / "ref.tsv", tmp_path / "sys.tsv"
    head = "filename\tonset\toffset\tevent_label"
    reference.write_text(
        f"{head}\n" + "".join(f"a.wav\t{k}\t{k + 1}\t{label}\n" for k, label, _ in lines if k % 2)
    )
    system.write_text(
        f"{head}\tvalue\n" + "".join(f"a.wav\t{k}\t{k + 1}\t{label}\t{v!r}\n" for k, label, v in lines)
    )
    files = str(reference), str(system)
    options = ["--inclusive"] if inclusive else []
    made = tmp_path / "thresholds.yaml"
    for basis in BASES:
        assert call("tune", *files, "-o", str(made), "--objective", f"{basis}.f1", *options).code == 0
        scores = evaluate(*files, only=(f"{basis}.optimal",), inclusive=inclusive)
        found = load_thresholds(str(made), inclusive=inclusive)
        assert found == {label: scores[f"{basis}.optimal.threshold[{label}]"] for label in ("c0", "c1", "c2")}
        again = evaluate(*files, only=(f"{basis}.tuned",), inclusive=inclusive, thresholds=found)
        assert again[f"{basis}.tuned.f1.macro"] == scores[f"{basis}.optimal.f1.macro"]
