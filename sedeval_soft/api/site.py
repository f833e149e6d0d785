"""A leaderboard as a site of static pages, from a folder of submissions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from sedeval_soft.api.evaluation import chosen_with, with_folds
from sedeval_soft.api.kept import Kept, Tree
from sedeval_soft.api.report import write_report
from sedeval_soft.api.sources import (
    Columns,
    Durations,
    Parted,
    limits_from,
    read_lengths,
    to_rows,
)
from sedeval_soft.api.submissions import Challenge, Looked, key_of, look_at
from sedeval_soft.board.about import About, read_about
from sedeval_soft.board.compare import RANK_BY, check_baseline, check_rank_by, rank_scores
from sedeval_soft.board.records import Record, problem_of, scores_of
from sedeval_soft.board.remembered import TESTS, Remembered, Test, test_for
from sedeval_soft.core.board import Board
from sedeval_soft.core.findings import NO_DURATIONS, STRICT, listing
from sedeval_soft.core.intake import Limits
from sedeval_soft.core.misread import doubts
from sedeval_soft.core.pair import align
from sedeval_soft.core.tally import Tally
from sedeval_soft.core.value import Scores
from sedeval_soft.errors import EvaluationError, InputError, SettingsError
from sedeval_soft.evaluation.intervals import percentile
from sedeval_soft.evaluation.resample import Progress
from sedeval_soft.evaluation.score import plain
from sedeval_soft.formats import unpack_shard
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.names import did_you_mean
from sedeval_soft.page.render import Choices, plotly_name, plotly_script
from sedeval_soft.page.site import render_index, render_problems
from sedeval_soft.page.site_data import Facts, Place, Shown, render_board_json, slugs
from sedeval_soft.report import render
from sedeval_soft.report.board import side_by_side
from sedeval_soft.report.delimited import delimited_columns
from sedeval_soft.report.write import OutputError
from sedeval_soft.settings import Settings
from sedeval_soft.tables.submissions import Submission, find_submissions


@dataclass(frozen=True, slots=True)
class Site:
    """A site that was built.

    board: of the valid submissions; None where there is none. invalid: the number of problems of each that
    is not, by name; first: the first problem of each.
    scored: the names of those that were looked at anew, the others were as they are.
    ignored: files that are no submissions. warnings: what else the organiser should know.
    """

    board: Board | None
    invalid: Mapping[str, int]
    scored: tuple[str, ...]
    ignored: tuple[str, ...]
    warnings: tuple[str, ...]
    first: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of a site besides scores; see `build_site`."""

    baseline: str | None
    title: str
    reports: bool
    test: Test


def build_site(
    submissions: str | os.PathLike[str],
    reference: Any,  # noqa: ANN401 - as for evaluate
    site: str | os.PathLike[str],
    *,
    cache: str | os.PathLike[str] | None = None,
    rank_by: str = RANK_BY,
    baseline: str | None = None,
    scores: Sequence[str] = (),
    title: str = "Leaderboard",
    reports: bool = True,
    ties: Test | None = None,
    durations: Durations | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    columns: Columns | None = None,
    settings: Settings | None = None,
    **values: Any,  # noqa: ANN401 - the fields of Settings
) -> Site:
    """Score all submissions of a folder, and write a leaderboard of them with a page for each.

    site: the folder to write. cache: a folder in which is kept what need not be computed again; beside the
    site if none is given. rank_by, baseline: as for `compare`, the latter by its name or its file's.
    scores: further ones that are shown; the main ones if none are named. reports: whether each submission
    has one: it shows the reference, too. ties: by which two submissions are told apart, `exchange` as in
    `compare`, `bootstrap`, or `none`; None for exchange where that does not take long, else none. progress:
    told how many submissions of how many are done. Others as for `evaluate`.

    Raises InputError where the reference or the folder cannot be read, SettingsError for arguments,
    OutputError where the site cannot be written. What is wrong with a submission is told on its page.
    """
    check_rank_by(rank_by)
    if ties is not None and ties not in TESTS:
        raise SettingsError(f"ties must be one of {', '.join(TESTS)}, not {ties!r:.60}")
    if isinstance(scores, str):
        raise SettingsError(f"scores must be a list of names, not {scores!r:.60}")
    limits = limits_from(limits, columns)
    chosen = with_folds(chosen_with((rank_by, *scores), settings, values), folds)
    rows = to_rows(reference, "reference", chosen, limits)
    rows = replace(rows, origin=replace(rows.origin, name=Path(rows.origin.name).name))
    challenge = Challenge(
        *(rows, chosen, rank_by, tuple(dict.fromkeys(scores)), read_lengths(durations, limits)),
        *(folds, by, limits),
    )
    _check_classes(challenge)
    _check_reference(challenge)
    found, ignored = find_submissions(submissions, limits)
    own = [each for each in found if _is_same(each.path, reference)]
    found = [each for each in found if each not in own]
    ignored += [each.entry for each in own]
    # A file's own name is its own, whoever comes to be called alike without the extension.
    baseline = next((each.name for each in found if each.entry == baseline), baseline)
    asked = _Asked(baseline, title, reports, ties or test_for(rank_by, chosen))
    tree = Tree.of(site, submissions)
    kept = Kept.of(cache, tree, submissions)
    builder = _Builder(challenge, asked, tree, kept, progress)
    return builder.build(found, ignored)


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds a site: what comes of each submission, the board of all, the pages."""

    challenge: Challenge
    asked: _Asked
    tree: Tree
    kept: Kept
    progress: Progress | None

    def build(self, found: Sequence[Submission], ignored: Sequence[str]) -> Site:
        """Look at what changed, compare all, write what differs, and take away what is no more."""
        key, scored = self.challenge.key(), []
        places = slugs([submission.name for submission in found])
        shown: list[Shown] = []
        warnings: list[str] = [] if self.challenge.durations is not None else [NO_DURATIONS]
        for number, submission in enumerate(found, 1):
            place = places[submission.name]
            record = self._known(key_of(submission, key), place)
            if record is None:
                record = self._anew(submission, key_of(submission, key), place, warnings)
                scored.append(submission.name)
            about = self._about(submission, warnings)
            shown.append(Shown(record, about, place, submission.digest))
            if self.progress is not None:
                self.progress(number, len(found))
        board = self._board([each.record for each in shown if each.record.scored is not None])
        self._write(shown, board, warnings)
        self.kept.prune({each.record.key for each in shown})
        refused = [each.record for each in shown if each.record.scored is None]
        return Site(
            board,
            {record.name: record.n_faults for record in refused},
            tuple(scored),
            tuple(ignored),
            tuple(warnings),
            {record.name: str(problem_of(record.faults[0])) for record in refused if record.faults},
        )

    def _known(self, key: str, place: Place) -> Record | None:
        """Return what came of a submission before, if all that was made of it is as it was left."""
        record = self.kept.record(key)
        if record is None or record.scored is None:
            return record
        if record.made_by != self._made_by() or {*record.pages} != {*self._pages(place)}:
            return None
        if any(self.tree.sha256(path) != digest for path, digest in record.pages.items()):
            return None
        return record if self.kept.has_tally(record) else None

    def _anew(self, submission: Submission, key: str, place: Place, warnings: list[str]) -> Record:
        looked = look_at(submission, self.challenge, key)
        record = looked.record
        if looked.scores is not None:
            self.tree.write(place.data, render([looked.scores], "json"))
            pages = [place.data]
            if self.asked.reports:
                pages += self._report(looked, place, warnings)
            hashes = {path: self.tree.sha256(path) for path in pages}
            record = msgspec.structs.replace(record, pages=hashes, made_by=self._made_by())
        if looked.lasting:
            self.kept.keep(record, looked.tally)
        return record

    def _report(self, looked: Looked, place: Place, warnings: list[str]) -> list[str]:
        """Write the report of a submission; return its path, nothing where none could be made of it."""
        challenge, name = self.challenge, looked.record.name
        try:
            write_report(
                challenge.reference,
                {name: looked.rows},
                self.tree.path(place.report),
                choices=Choices(
                    title=name, plotly=f"../assets/{plotly_name()}", home=("../index.html", self.asked.title)
                ),
                durations=challenge.durations,
                folds=challenge.folds,
                by=challenge.by,
                limits=challenge.limits,
                settings=challenge.settings,
            )
        except OutputError:
            raise
        except Exception as error:
            # It has its scores, and costs nobody else anything.
            said = "not enough memory" if isinstance(error, MemoryError) else str(error)
            warnings.append(f"{name}: there is no report: {said}")
            return []
        return [place.report]

    def _pages(self, place: Place) -> list[str]:
        return [place.data, *([place.report] if self.asked.reports else [])]

    def _made_by(self) -> str:
        return plotly_name() if self.asked.reports else ""

    def _about(self, submission: Submission, warnings: list[str]) -> About:
        """Return who submits; what cannot be read of that is told, and costs nobody a rank."""
        if submission.description is None:
            return About()
        try:
            return read_about(submission.description, submission.description.name)
        except InputError as error:
            warnings.append(str(error))
            return About()

    def _board(self, records: Sequence[Record]) -> Board | None:
        """Return the board of the submissions that have scores."""
        asked, challenge = self.asked, self.challenge
        names = [record.name for record in records]
        if asked.baseline is not None:
            check_baseline(asked.baseline, names)
        if not records:
            return None
        systems = [scores_of(record, challenge.settings) for record in records]
        # What one submission alone names must change no other's numbers.
        files = sorted(set.intersection(*({*scores.files} for scores in systems)))
        paired = None if asked.test == "none" or len(files) < 2 else self._paired(records, files)
        if paired is not None and challenge.settings.ci is None:
            systems = _with_intervals(systems, paired)
        board = rank_scores(systems, paired, rank_by=challenge.rank_by, baseline=asked.baseline)
        if paired is not None:
            self.kept.keep_comparisons(paired.after)
        return board

    def _paired(self, records: Sequence[Record], files: Sequence[str]) -> Remembered:
        """Return the score that ranks, to be resampled; files: that are drawn from."""
        tallies: dict[int, Tally] = {}

        def load(k: int) -> Tally:
            if k not in tallies:
                tallies[k] = unpack_shard(records[k].name, self.kept.tally(records[k])).tally
            return tallies[k]

        return Remembered.of(
            [record.key for record in records],
            files,
            load,
            self.challenge.rank_by,
            self.challenge.settings,
            self.asked.test,
            self.kept.comparisons(),
        )

    def _test(self, board: Board | None) -> Test:
        """Return by which submissions were told apart: not at all where nothing was resampled."""
        drawn = board is not None and any(entry.stability is not None for entry in board.entries)
        return self.asked.test if drawn else "none"

    def _write(self, shown: Sequence[Shown], board: Board | None, warnings: Sequence[str]) -> None:
        """Write what all submissions share, the index last; then take away what is of none."""
        tree, asked, challenge = self.tree, self.asked, self.challenge
        pages = {path for each in shown for path in each.record.pages}
        if asked.reports and any(each.record.scored for each in shown):
            asset = f"assets/{plotly_name()}"
            tree.write(asset, plotly_script())
            pages.add(asset)
        origin = challenge.reference.origin
        columns = challenge.columns or (() if board is None else _main(board))
        facts = Facts(
            title=asked.title,
            rank_by=challenge.rank_by,
            columns=tuple(column for column in columns if column != challenge.rank_by),
            settings=challenge.settings,
            test=self._test(board),
            reference=origin.name,
            sha256=origin.sha256,
            warnings=tuple(warnings),
        )
        for each in shown:
            if each.record.scored is None:
                tree.write(each.place.problems, render_problems(each, facts))
                pages.add(each.place.problems)
        if board is not None:
            tree.write("board.csv", delimited_columns(board, facts.columns, ","))
        tree.write("board.json", render_board_json(shown, board, facts))
        tree.write("index.html", render_index(shown, board, facts))
        tree.prune(pages, csv=board is not None)


def _with_intervals(systems: Sequence[Scores], paired: Remembered) -> list[Scores]:
    """Return systems with the interval of the score that ranks them, from what is drawn to compare them."""
    drawn = percentile(paired.bootstrap(), paired.settings.confidence)
    found = []
    for scores, low, high in zip(systems, *(end.tolist() for end in drawn), strict=True):
        own = scores.score(paired.rank_by)
        if own.value is not None:
            own = replace(own, low=plain(low), high=plain(high))
        found.append(replace(scores, scores={**scores.scores, own.name: own}))
    return found


def _main(board: Board) -> tuple[str, ...]:
    """Return the names of the main scores of all systems."""
    return tuple(name for _, _, name in side_by_side(board.systems))


def _is_same(path: Path, reference: object) -> bool:
    """Return whether a path is that of the reference, which may lie among the submissions."""
    if not isinstance(reference, str | os.PathLike):
        return False
    try:
        return os.path.samestat(path.lstat(), Path(reference).stat())
    except (OSError, ValueError):
        return False


def _check_reference(challenge: Challenge) -> None:
    """Refuse a reference that is probably misread, where that makes all submissions invalid."""
    if challenge.settings.strict:
        rows = challenge.reference
        tables = align(rows, rows, challenge.settings, challenge.durations).findings.tables
        found = doubts({role: own for role, own in tables.items() if role == "reference"})
        if found:
            raise EvaluationError("\n".join([*found, STRICT]))


def _check_classes(challenge: Challenge) -> None:
    """Refuse scores of classes that no submission can have for certain, and classes that make all invalid."""
    settings, ours = challenge.settings, challenge.reference.classes
    absent = [label for label in settings.classes or () if label not in ours] if settings.strict else []
    if absent:
        hint = did_you_mean(absent[0], ours)
        raise SettingsError(
            f"the reference has no {listing(absent, 'class')} of --classes or --preset{hint}; with "
            "--strict no submission could be valid"
        )
    known = challenge.settings.classes or challenge.reference.classes
    for text in (challenge.rank_by, *challenge.columns):
        name = ScoreName.parse(text)
        if name.class_name is not None and name.group is None and name.class_name not in known:
            raise SettingsError(f"{text}: no class of the reference is named {name.class_name!r}")
