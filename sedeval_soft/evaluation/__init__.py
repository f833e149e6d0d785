"""The way from recordings to scores: what is evaluated, counted and scored."""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.evaluation.means import key_of
    from sedeval_soft.evaluation.resample import NOT_SMOOTH, Replicates
    from sedeval_soft.evaluation.scores import Key, finite
    from sedeval_soft.evaluation.shard import shard_of_rows

__all__ = ["NOT_SMOOTH", "Key", "Replicates", "finite", "key_of", "shard_of_rows"]

__getattr__ = face(
    __name__,
    {
        "means": "key_of",
        "resample": "NOT_SMOOTH Replicates",
        "scores": "Key finite",
        "shard": "shard_of_rows",
    },
)
