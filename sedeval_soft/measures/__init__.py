"""The verbs of the project: what is counted, and how counts become scores."""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.measures.detection import f_beta
    from sedeval_soft.measures.event import file_class
    from sedeval_soft.measures.pairs import intersection_over_union
    from sedeval_soft.measures.registry import ScoreName, group_of, measure_of

__all__ = ["ScoreName", "f_beta", "file_class", "group_of", "intersection_over_union", "measure_of"]

__getattr__ = face(
    __name__,
    {
        "detection": "f_beta",
        "event": "file_class",
        "pairs": "intersection_over_union",
        "registry": "ScoreName group_of measure_of",
    },
)
