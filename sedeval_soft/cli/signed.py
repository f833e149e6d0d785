"""The signature of rows for other programs: beside them, as a table of numbers has no place for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sedeval_soft.cli.output import remark, to_standard_output
from sedeval_soft.errors import visible

if TYPE_CHECKING:
    from sedeval_soft.evaluation.scores import Scores


def sign(systems: Sequence[Scores], form: str, output: str | None, *, quiet: bool) -> None:
    """Write the signatures of rows to `PATH.signature` beside their file, or say them on standard error."""
    if form not in {"csv", "tsv"}:
        return
    if output is not None and not to_standard_output(output) and Path(output).is_file():
        from sedeval_soft.report.write import write_atomic

        whole = dict.fromkeys(scores.signature for scores in systems)
        write_atomic(f"{output}.signature", "".join(f"{visible(each)}\n" for each in whole))
    elif not quiet:
        for text in dict.fromkeys(scores.short_signature for scores in systems):
            remark(f"signature: {visible(text)}")
