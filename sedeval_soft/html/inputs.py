"""What a report of one system is made of."""

from __future__ import annotations

from dataclasses import dataclass

from sedeval_soft.evaluation.curves import Curves
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.recordings import Recordings


@dataclass(frozen=True, slots=True)
class ReportInput:
    """A system that was scored, and what its scores came from.

    settings: those by which the tally was counted, which keeps more than the scores ask for. signatures: by
    which the scores can be had again, and by which their intervals.
    """

    scores: Scores
    pair: Recordings
    tally: Tally
    settings: Settings
    curves: Curves
    signatures: tuple[str, ...] = ()
