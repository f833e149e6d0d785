"""The library: the only place that wires the steps together.

import sedeval_soft

scores = sedeval_soft.evaluate("ref.tsv", "sys.tsv", segment_length=1.0)
scores["segment.soft.f1.macro"]
"""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.api.comparison import SYSTEMS, Task, compare, named_sources, ranking_of, score_several
    from sedeval_soft.api.evaluation import (
        Evaluation,
        evaluate,
        evaluate_rows,
        evaluation_of,
        save_tally,
        settings_for_scores,
        settings_of_points,
        with_folds,
        with_names,
    )
    from sedeval_soft.api.evaluator import score_tallies
    from sedeval_soft.api.request import Request
    from sedeval_soft.api.sources import (
        PARTED,
        Durations,
        Parted,
        check_object,
        check_text,
        is_points,
        limits_from,
        path_of,
        read_lengths,
        read_parts,
        settings_from,
        shown,
        sides_of,
        to_rows,
        with_points,
    )
    from sedeval_soft.api.tuning import tune
    from sedeval_soft.api.validation import MAX_PROBLEMS, validate
    from sedeval_soft.comparison.compare import RANK_BY

__getattr__ = face(__name__)
