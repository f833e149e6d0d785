"""From recordings to scores: selecting, counting and scoring."""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.evaluation.count import Cells, not_ignored, soft_cells, tally_pair
    from sedeval_soft.evaluation.details import Chance, Level, costs_of
    from sedeval_soft.evaluation.intervals import interval, percentile
    from sedeval_soft.evaluation.optimal import as_one, pooled_counts, threshold_counts, with_rule_followed
    from sedeval_soft.evaluation.ordered import curves_of, cut_at
    from sedeval_soft.evaluation.partition import Execute, end_with_parent
    from sedeval_soft.evaluation.resample import (
        NOT_SMOOTH,
        Progress,
        Replicates,
        bootstrap,
        key_of,
        leave_one_out,
        refuse_jackknife,
        stream,
    )
    from sedeval_soft.evaluation.scores import (
        Score,
        Scores,
        UnknownScoreError,
        document,
        finite,
        not_computed,
        plain,
        score_tally,
    )
    from sedeval_soft.evaluation.shard import Input, Shard, count_rows, describe, shard_of
    from sedeval_soft.evaluation.system_scores import parts_for, score_shard, tuned_shard
    from sedeval_soft.evaluation.tally_file import pack_shard, unpack_shard

__getattr__ = face(__name__)
