"""Measures of the package: statistics of cells and events, and the scores computed from them."""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.measures.base import mean_of, ratio
    from sedeval_soft.measures.curve_scores import Curve
    from sedeval_soft.measures.detection import f_beta
    from sedeval_soft.measures.event import file_class, match_events
    from sedeval_soft.measures.intersections import overlapping
    from sedeval_soft.measures.matching import (
        PairCandidates,
        PairRule,
        intersection_over_union,
        maximum_matching,
        nearest_matching,
        pair_rule,
    )
    from sedeval_soft.measures.registry import AVERAGES, OVERALL, ScoreName, family_of, group_of, measure_of
    from sedeval_soft.measures.sed_eval_rules import grid_start, runs_on_roll
    from sedeval_soft.measures.sed_eval_rules import match_events as match_by_sed_eval
    from sedeval_soft.measures.segment import sum_files
    from sedeval_soft.measures.tally import Tally
    from sedeval_soft.measures.thresholds import ThresholdCounts

__getattr__ = face(__name__)
