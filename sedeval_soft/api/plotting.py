"""Draw figures of one or more systems."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from sedeval_soft import __version__
from sedeval_soft.api.comparison import compare
from sedeval_soft.api.evaluation import has_points, settings_of_points, with_folds
from sedeval_soft.api.sources import (
    Durations,
    Parted,
    limits_from,
    read_lengths,
    read_parts,
    settings_from,
    shown,
    sides_of,
    with_points,
)
from sedeval_soft.core.errors import SettingsError
from sedeval_soft.core.intake import Limits
from sedeval_soft.core.pair import align
from sedeval_soft.core.settings import DEFAULT_ONLY, Settings
from sedeval_soft.evaluation.count import shard_of_rows
from sedeval_soft.plotting.kinds import RESAMPLED
from sedeval_soft.plotting.look import Look
from sedeval_soft.plotting.needs import MATRIX_BASES, check_kind, matrix_score, settings_for
from sedeval_soft.plotting.registry import figure_of
from sedeval_soft.plotting.save import form_of, rendered
from sedeval_soft.plotting.subject import Subject, Subjects, Wish
from sedeval_soft.run.evaluation import score_shard
from sedeval_soft.run.intervals import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(
    kind: str,
    reference: Any,  # noqa: ANN401 - as for evaluate
    *systems: Any,  # noqa: ANN401
    names: Sequence[str] | None = None,
    wish: Wish | None = None,
    look: Look | None = None,
    output: str | os.PathLike[str] | None = None,
    durations: Durations | None = None,
    folds: Parted | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Any,  # noqa: ANN401 - fields of Wish, Look and Settings, checked there
) -> Figure:
    """Draw a figure of one or more systems, and return it as a matplotlib Figure.

    kind: what it shows, see `sedeval_soft.plotting.kinds.KINDS`. reference, systems: each as for `evaluate`.
    names: of the systems in the figure. output: a path that ends with .pdf, .png or .svg, to which the figure
    is written as well, as the command does. progress: told how many replicates of how many are done, of
    figures with intervals. Other keywords are what is wished for (`class_names`, `max_classes`, `scores`,
    `sort`, `file`, `start`, `end`, `of`, `binning`; see `Wish`), how it looks (`style`, `width`, `height`,
    `dpi`, `title`; see `Look`), and settings as for `evaluate`.

    Raises InputError for input that cannot be scored, SettingsError for anything that cannot be drawn.
    """
    form = None if output is None else form_of(output)
    wish, look = _taken(Wish, wish, values), _taken(Look, look, values)
    if not systems:
        raise SettingsError("expected one or more systems, found none")
    check_kind(kind, wish, len(systems))
    if values.get("ci") and kind not in RESAMPLED:
        raise SettingsError(f"ci: {kind} shows no intervals; expected {' or '.join(RESAMPLED)}")
    called = names_of(systems, names)
    chosen = with_folds(settings_from(settings, values), folds)
    default = chosen.only == DEFAULT_ONLY and "only" not in values
    given = (durations, folds, limits, progress)
    subjects = subjects_of(kind, reference, systems, called, chosen, wish, given, default=default)
    figure = figure_of(kind, subjects, look)
    if output is not None and form is not None:
        from sedeval_soft.report import write_atomic

        write_atomic(output, rendered(figure, form, look, said_of(kind, subjects)))
    return figure


def names_of(systems: Sequence[Any], names: Sequence[str] | None) -> list[str]:
    """Return what systems are called in a figure: those given, else of their files, cut short."""
    if names is not None:
        found = list(_texts("names", names))
        if len(found) != len(systems):
            raise SettingsError(f"expected a name for each of {len(systems)} systems, found {len(found)}")
        if not all(found):
            raise SettingsError("the name of a system must not be empty")
    else:
        paths = [os.fspath(s) if isinstance(s, str | os.PathLike) else None for s in systems]
        found = [
            f"system {k}" if path is None else PurePath(path).stem or path for k, path in enumerate(paths, 1)
        ]
        if len(set(found)) < len(found):
            found = [found[k] if path is None else path for k, path in enumerate(paths)]
        found = ["system"] if len(found) == 1 and paths[0] is None else found
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise SettingsError(f"two systems are called {twice!r}; expected names that differ")
    return found


def subjects_of(
    kind: str,
    reference: Any,  # noqa: ANN401 - as for evaluate
    systems: Sequence[Any],
    names: Sequence[str],
    settings: Settings,
    wish: Wish,
    given: tuple[Durations | None, Parted | None, Limits | None, Progress | None],
    *,
    default: bool,
) -> Subjects:
    """Evaluate systems as far as a kind of figure needs.

    given: durations, folds, limits, progress. default: whether nothing is said of what to evaluate.
    """
    durations, folds, limits, progress = given
    several = len(systems) > 1
    chosen = settings_for(kind, settings, wish, several=several, default=default)
    systems = [with_points(system, limits) for system in systems]
    chosen = settings_of_points(chosen, systems)
    limits = limits_from(limits)
    if kind == "matrix" and several:
        named = dict(zip(names, systems, strict=True))
        board = compare(
            reference, named, rank_by=rank_by(chosen, wish), durations=durations, folds=folds, limits=limits,
            settings=chosen, progress=progress,
        )  # fmt: skip
        return Subjects(tuple(Subject(s.system, s) for s in board.systems), wish, board)
    lengths = read_lengths(durations, limits)
    found, ours = [], reference
    for name, system in zip(names, systems, strict=True):
        ours, theirs = sides_of(ours, system, chosen, limits)
        shard = shard_of_rows(ours, theirs, chosen, lengths, name)
        parts = read_parts(folds, "folds", shard.tally.files, limits)
        scores = score_shard(shard, __version__, folds=parts, points=has_points(theirs), progress=progress)
        pair = align(ours, theirs, chosen, lengths) if kind == "timeline" else None
        found.append(Subject(name, scores, pair))
    return Subjects(tuple(found), wish)


def rank_by(settings: Settings, wish: Wish) -> str:
    """Return the score that a leaderboard is sorted by: of what is evaluated, the soft reading if it is."""
    measure, average = matrix_score(wish)
    families = [
        (b, r) for r in ("soft", "optimal", "hard", "tuned") for b in MATRIX_BASES if settings.wants(b, r)
    ]
    return f"{families[0][0]}.{families[0][1]}.{measure}.{average}"


def said_of(kind: str, subjects: Subjects) -> tuple[str, str]:
    """Return what a figure is of, and the signatures of its numbers, which its file holds."""
    signatures = dict.fromkeys(system.scores.signature for system in subjects.systems)
    return f"{kind}: {', '.join(system.name for system in subjects.systems)}", "\n".join(signatures)


def _texts(name: str, given: object) -> tuple[str, ...]:
    """Return one text or some as a tuple, none for None; raises SettingsError for other things."""
    found = (given,) if isinstance(given, str) else given or ()
    if not isinstance(found, Sequence) or not all(isinstance(text, str) for text in found):
        raise SettingsError(f"{name} must be a list of texts, not {shown(given)}")
    return tuple(found)


def _taken(of: Any, given: Any, values: dict[str, Any]) -> Any:  # noqa: ANN401 - Wish or Look
    """Return an object as it was given, or made of the keywords that are its fields, which are taken out."""
    own = {name: values.pop(name) for name in [f.name for f in fields(of)] if name in values}
    if given is None:
        for name in ("class_names", "scores"):
            if name in own:
                own[name] = _texts(name, own[name])
        return of(**own)
    if not isinstance(given, of):
        raise SettingsError(f"{of.__name__.lower()} must be an object of {of.__name__}")
    if own:
        raise SettingsError(f"{of.__name__.lower()} is given; {', '.join(own)} cannot be given beside it")
    return given
