"""Scores as csv or tsv: one row per score, undefined values empty, numbers exact."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from sedeval_soft.core.value import Scores

HEAD = ("system", "name", "basis", "reading", "measure", "average", "class", "value")


def delimited(systems: Sequence[Scores], delimiter: str) -> str:
    """Return all scores of some systems, and the signature as a last line that begins with `# `."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(HEAD)
    for scores in systems:
        for score in scores.scores.values():
            writer.writerow(
                (
                    scores.system,
                    score.name,
                    score.basis,
                    score.reading,
                    score.measure,
                    score.average or "",
                    "" if score.class_name is None else score.class_name,
                    "" if score.value is None else repr(score.value),
                )
            )
    out.write(f"# {systems[0].signature}\n")
    return out.getvalue()
