"""Results as they are asked for: of all scores, of chosen scores, by class, or of single files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.evaluation.scores import Scores


def render_asked(
    systems: Sequence[Scores],
    form: str,
    *,
    board: Board | None = None,
    wanted: Sequence[str] = (),
    averages: Sequence[str] = (),
    per_file: bool = False,
    **how: Any,  # noqa: ANN401 - as for `render`
) -> str:
    """Return the scores of systems as `render` does, or in rows of files, or chosen scores alone.

    wanted: names of the scores that are shown alone. averages: averages of classes that are shown alone.
    """
    if per_file:
        from sedeval_soft.report.per_file import render_files

        every, look = how["verbose"] > 0, {name: how[name] for name in ("color", "width") if name in how}
        return render_files(systems, form, names=wanted, averages=averages, every=every, **look)
    if wanted or (how["by_class"] and form in {"csv", "tsv", "markdown", "latex"}):
        from sedeval_soft.report.chosen import render_chosen

        of_classes = {"by_class": how["by_class"], "averages": averages}
        return render_chosen(systems, wanted, form, board=board, **of_classes)
    from sedeval_soft.report.forms import render

    return render(systems, form, board=board, **how)
