"""Draw figures of one or more systems."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from sedeval_soft.api import (
    Durations,
    Parted,
    compare,
    evaluation_of,
    limits_from,
    path_of,
    settings_from,
    settings_of_points,
    shown,
    with_folds,
    with_points,
)
from sedeval_soft.apps.plots.data import System, Systems, Wish, check_kind, rank_by, settings_for
from sedeval_soft.apps.plots.registry import KINDS, RESAMPLED
from sedeval_soft.apps.plots.style import Look, figure_of, form_of, rendered
from sedeval_soft.errors import SettingsError, counted
from sedeval_soft.evaluation import Progress
from sedeval_soft.fields import DEFAULT_ONLY, Keywords
from sedeval_soft.report import write_atomic
from sedeval_soft.settings import Settings
from sedeval_soft.tables import Limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T", Wish, Look)


class FigureKeywords(Keywords, total=False):
    """Keyword arguments of `plot`: the content (`Wish`), the look (`Look`), and those for `evaluate`."""

    class_names: str | Sequence[str]
    max_classes: int | None
    scores: str | Sequence[str]
    sort: str | None
    file: str | None
    start: float | None
    end: float | None
    binning: str | None
    width: str | float | None
    height: float | None
    dpi: int


def plot(
    kind: str,
    reference: Any,  # noqa: ANN401 - as for evaluate
    *systems: Any,  # noqa: ANN401
    names: Sequence[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    durations: Durations | None = None,
    folds: Parted | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Unpack[FigureKeywords],
) -> Figure:
    """Draw a figure of one or more systems, and return it as a matplotlib Figure.

    - kind: one of `sedeval_soft.apps.plots.registry.KINDS`.
    - reference, systems: as for `evaluate`. names: of the systems in the figure.
    - output: a path that ends with .pdf, .png or .svg, to which the figure is written as well, as the command
      does.
    - progress: called with the numbers of replicates done and of all, for figures with intervals.
    Other keywords choose the content (`class_names`, `max_classes`, `scores`, `sort`, `file`, `start`, `end`,
    `binning`; see `Wish`), the look (`width`, `height`, `dpi`; see `Look`), and settings as for `evaluate`.

    The label of the figure, `figure.get_label()`, is a draft of its caption.

    Raises InputError for input that cannot be scored, SettingsError for anything that cannot be drawn.
    """
    form = None if output is None else form_of(path_of(output, "output"))
    others: dict[str, Any] = {**values}
    wish, look = _taken(Wish, others), _taken(Look, others)
    if others.get("ci") and kind not in RESAMPLED:
        raise SettingsError(f"ci: {kind} shows no intervals; expected {' or '.join(RESAMPLED)}")
    chosen = with_folds(settings_from(settings, others, limits=limits), folds)
    limits = limits_from(limits, others)
    scored = scored_systems(
        kind, reference, systems, names, chosen, wish,
        default=chosen.only == DEFAULT_ONLY and "only" not in others,
        durations=durations, folds=folds, limits=limits, progress=progress,
    )  # fmt: skip
    figure = figure_of(scored, look)
    if output is not None and form is not None:
        write_atomic(output, rendered(figure, form, look, scored))
    return figure


def scored_systems(
    kind: str,
    reference: Any,  # noqa: ANN401 - as for evaluate
    systems: Sequence[Any],
    names: Sequence[str] | None,
    settings: Settings,
    wish: Wish,
    *,
    default: bool,
    limits: Limits | None = None,
    **how: Any,  # noqa: ANN401
) -> Systems:
    """Evaluate systems as far as a kind of figure needs.

    names: in the figure; None for the names of their files, cut short. default: whether the call does not
    choose the evaluation. how: durations, folds and progress. These, other arguments and errors as for
    `plot`.
    """
    check_kind(kind, wish, len(systems))
    paths = [os.fspath(system) if isinstance(system, str | os.PathLike) else "" for system in systems]
    if names is None:
        stems = [PurePath(path).stem or path or f"system {k}" for k, path in enumerate(paths, 1)]
        # Files of one name are told apart by their folders.
        unique = len(set(stems)) == len(stems)
        names = stems if unique else [path or stem for path, stem in zip(paths, stems, strict=True)]
    called = tuple(filter(None, _texts("names", names)))
    if len(called) != len(systems):
        raise SettingsError(
            f"expected {counted(len(systems), 'name')}, one for each system; found {len(called)}"
        )
    twice = next((name for name in called if called.count(name) > 1), None)
    if twice is not None:
        raise SettingsError(f"two systems are called {twice!r}; expected different names")
    chosen = settings_for(kind, settings, wish, several=len(systems) > 1, default=default)
    tables = {name: with_points(system, limits) for name, system in zip(called, systems, strict=True)}
    chosen, limits = settings_of_points(chosen, tables.values()), limits_from(limits)
    if kind == "matrix" and len(tables) > 1:
        by = rank_by(chosen, wish)
        board = compare(reference, tables, rank_by=by, limits=limits, settings=chosen, **how)
        return Systems(kind, wish, tuple(System(each.system, each) for each in board.systems), board)
    if KINDS[kind].diagnosed:
        from sedeval_soft import diagnose

        # What recall depends on is drawn with intervals, whatever is asked for.
        chosen = chosen if KINDS[kind].intervals else replace(chosen, ci="bootstrap")
        diagnoses = [
            diagnose(
                reference, table, name=name, durations=how.get("durations"), suggestions=False,
                progress=how.get("progress"), limits=limits, settings=chosen,
            )
            for name, table in tables.items()
        ]  # fmt: skip
        return Systems(
            kind, wish, tuple(System(each.scores.system, each.scores, None, each) for each in diagnoses)
        )
    scored, ours = [], reference
    for name, system in tables.items():
        evaluation = evaluation_of(ours, system, chosen, name=name, limits=limits, rows_in_memory=True, **how)
        # The reference is read once.
        ours, how["durations"] = evaluation.sides[0] if evaluation.sides else ours, evaluation.shard.durations
        pair = evaluation.pair if kind == "timeline" else None
        scored.append(System(name, evaluation.scores, pair))
    return Systems(kind, wish, tuple(scored))


def _texts(name: str, given: object) -> tuple[str, ...]:
    """Return one text or some as a tuple, none for None; raises SettingsError for other things."""
    texts = (given,) if isinstance(given, str) else given or ()
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise SettingsError(f"{name} must be a list of texts, not {shown(given)}")
    return tuple(texts)


def _taken(kind: type[T], values: dict[str, Any]) -> T:
    """Return an object made of the keywords that are its fields, which are taken out."""
    named = {name: values.pop(name) for name in kind.__match_args__ if name in values}
    lists = {name: _texts(name, named[name]) for name in ("class_names", "scores") if name in named}
    return kind(**named | lists)
