"""Several systems, or several runs of one, scored against the same reference: tests, ranks, boards."""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board, Entry, board_document
    from sedeval_soft.comparison.compare import RANK_BY, check_baseline, check_rank_by, rank_scores
    from sedeval_soft.comparison.paired import Comparisons, Paired, Parts, settings_for
    from sedeval_soft.comparison.ranks import places

__getattr__ = face(__name__)
