"""Several systems, or several runs of one, scored against the same reference: tests, ranks, boards."""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.comparison.ranks import places

__all__ = ["places"]

__getattr__ = face(
    __name__,
    {
        "ranks": "places",
    },
)
