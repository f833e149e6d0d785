"""Ranking of classes within segments, against slow oracles and by published examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from ranking_oracles import expected_ranking
from small_cells import agree, chosen, fine, scored, tied

from sedeval_soft import evaluate

RANKING = {"only": "ranking"}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_classes", [1, 2, 5, 17])
def test_many_classes_and_files(n_classes, seed):
    """A ranking is of one segment, whatever file it is in."""
    for made in (tied, fine):
        reference, system = made(seed, (12, n_classes))
        reference = reference * (np.random.default_rng(seed).random(reference.shape) < 0.3)
        scores = scored(reference, system, RANKING, files=3)
        for reading in ("hard", "soft"):
            agree(
                scores,
                f"ranking.{reading}",
                expected_ranking(reference, system, reading, chosen({}, n_classes)),
            )


GENRES = ("Action", "Comedy", "Drama", "Fantasy")


def of_film(*predictions: list[float], **settings):
    """Films that are action and comedy."""
    truth = np.array([[1.0, 1.0, 0.0, 0.0]] * len(predictions))
    scores = evaluate(truth, np.array(predictions), classes=GENRES, **RANKING, **settings)
    return {name.removeprefix("ranking.hard."): value for name, value in scores.items() if ".hard." in name}


A, B = [0.9238, 0.1234, 0.5801, 0.0025], [0.3355, 0.2486, 0.8824, 0.1870]


def test_a_film_with_one_genre_out_of_order():
    """Comedy (.1234) stands below drama (.5801): one of four pairs, of six pairs of genres at all."""
    got = of_film(A, entropy_unit="bits")
    assert got["one_error"] == 0.0
    assert got["coverage"] == 3.0
    assert got["ranking_loss_all_pairs"] == pytest.approx(1 / 6, abs=1e-12)
    assert got["ranking_loss"] == 0.25
    # (1/1 + 2/3) / 2
    assert got["label_ranking_average_precision"] == pytest.approx(5 / 6, abs=1e-12)
    # -log2 of .9238, .1234, 1 - .5801, 1 - .0025: 0.1143 + 3.0186 + 1.2519 + 0.0036
    assert got["cross_entropy"] == pytest.approx(4.3884, abs=5e-5)
    assert got["exact_match_prefix"] == 0.0
    # The two highest are action and drama.
    assert got["label_wise_precision[Action]"] == 1.0
    assert got["label_wise_precision[Comedy]"] == 0.0
    assert got["label_wise_precision[Drama]"] is None  # of a genre without reference
    assert got["label_wise_precision.macro"] == 0.5
    assert got["label_wise_precision_minimum"] == 0.0
    # Comedy is missed and drama invented.
    assert got["hamming_loss"] == 0.5
    assert got["subset_accuracy"] == 0.0


def test_a_film_whose_first_genre_is_wrong():
    """Drama stands above both: two of four pairs."""
    got = of_film(B, entropy_unit="bits")
    assert got["one_error"] == 1.0
    assert got["coverage"] == 3.0
    assert got["ranking_loss_all_pairs"] == pytest.approx(2 / 6, abs=1e-12)
    assert got["ranking_loss"] == 0.5
    # (1/2 + 2/3) / 2
    assert got["label_ranking_average_precision"] == pytest.approx(7 / 12, abs=1e-12)
    assert got["cross_entropy"] == pytest.approx(6.9704, abs=5e-5)


def test_two_films_are_the_mean_of_both():
    got = of_film(A, B)
    assert got["one_error"] == 0.5
    assert got["coverage"] == 3.0
    assert got["ranking_loss"] == 0.375
    assert got["label_ranking_average_precision"] == pytest.approx(17 / 24, abs=1e-12)
    # Action is in both prefixes, comedy in neither.
    assert got["label_wise_precision.macro"] == 0.5


@pytest.mark.parametrize(
    ("predictions", "match"),
    [
        ([0.7658, 0.8203, 0.5484, 0.1185], 1.0),
        ([0.7658, 0.5484, 0.8203, 0.1185], 0.0),
        ([0.75, 0.5, 0.5, 0.25], 0.0),  # a tie is no order
        ([0.1, 0.2, 0.05, 0.0], 1.0),  # no threshold is looked at
    ],
)
def test_an_exact_match_is_of_the_prefix(predictions, match):
    assert of_film(predictions)["exact_match_prefix"] == match


def test_ties_by_hand():
    """All level: any genre may be first, the last place is 4, every pair is out of order."""
    got = of_film([0.5, 0.5, 0.5, 0.5])
    assert got["one_error"] == 0.5
    assert got["coverage"] == 4.0
    assert got["ranking_loss"] == 1.0
    assert got["ranking_loss_all_pairs"] == pytest.approx(4 / 6, abs=1e-12)
    assert got["label_ranking_average_precision"] == 0.5
    # Each genre is in the prefix by half: action 1/2 of 1/2.
    assert got["label_wise_precision[Action]"] == 1.0
    # Half of a segment where it is not active counts against it.
    truth = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    level = np.array([[0.5, 0.5, 0.5, 0.5], [0.9, 0.1, 0.8, 0.0]])
    scores = evaluate(truth, level, classes=GENRES, **RANKING)
    # In the first by 1/2, in the second, whose one highest it is, whole: 1/2 of 3/2.
    assert scores["ranking.hard.label_wise_precision[Action]"] == pytest.approx(1 / 3, abs=1e-12)
    assert scores["ranking.hard.label_wise_precision[Comedy]"] == 1.0
    # Drama is named by half in the first, where it is silent, and not in the second, where it is active.
    assert scores["ranking.hard.label_wise_precision[Drama]"] == 0.0
    assert scores["ranking.hard.label_wise_precision.weighted"] == pytest.approx((1 / 3 + 1) / 3, abs=1e-12)


def test_a_soft_segment_by_hand():
    """y = 3/4, 1/2, 0 against p = .2, .9, .5: ranks 3, 1, 2."""
    scores = evaluate(np.array([[0.75, 0.5, 0.0]]), np.array([[0.2, 0.9, 0.5]]), **RANKING)
    got = {name.removeprefix("ranking.soft."): value for name, value in scores.items() if ".soft." in name}
    assert got["one_error"] == 0.5
    # At any level the first class, of rank 3, is active.
    assert got["coverage"] == 3.0
    # Out of order: 3/4 above 1/2 by 3/4 x 1/2, above 0 by 3/4 x 1. All pairs: also 1/2 x 1/4 and 1/2 x 1.
    assert got["ranking_loss"] == pytest.approx(1.125 / 1.75, abs=1e-12)
    assert got["ranking_loss_all_pairs"] == pytest.approx(1.125 / 3, abs=1e-12)
    # (3/4 x (5/4)/3 + 1/2 x 1/2) / (5/4)
    assert got["label_ranking_average_precision"] == pytest.approx(0.45, abs=1e-12)
    assert got["hamming_loss"] == pytest.approx((0.55 + 0.4 + 0.5) / 3, abs=1e-12)
    entropy = -0.75 * math.log(0.2) - 0.25 * math.log(0.8) - 0.5 * math.log(0.9) - 0.5 * math.log(0.1)
    assert got["cross_entropy"] == pytest.approx(entropy - math.log(0.5), abs=1e-12)


def test_coverage_is_integrated_over_levels():
    """y = 1, 1/4: both classes up to 1/4 (rank 2), then the first alone (rank 1): 1/4 x 2 + 3/4 x 1."""
    scores = evaluate(np.array([[1.0, 0.25]]), np.array([[0.9, 0.1]]), **RANKING)
    assert scores["ranking.soft.coverage"] == 1.25


def test_segments_count_by_their_highest_value():
    """One error 0 with weight 1, 1 with weight 1/4 (1 - 0: the first class has nothing); silence has none."""
    reference = np.array([[1.0, 0.0], [0.0, 0.25], [0.0, 0.0]])
    system = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]])
    scores = evaluate(reference, system, **RANKING)
    assert scores["ranking.soft.one_error"] == pytest.approx(0.2, abs=1e-12)
    # Cut at 1/2 only the first segment is left.
    assert scores["ranking.hard.one_error"] == 0.0
