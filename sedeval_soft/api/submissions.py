"""One submission of many by strangers: scored, or refused with what is wrong; it never stops the others."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from sedeval_soft import __version__
from sedeval_soft.api.counting import shard_of_rows
from sedeval_soft.api.evaluation import has_points
from sedeval_soft.api.sources import Parted, read_parts
from sedeval_soft.board.paired import settings_for
from sedeval_soft.board.records import MOST_PROBLEMS, Record, faults_of, scored_of
from sedeval_soft.core.shard import Shard
from sedeval_soft.core.value import Scores, UnknownScoreError
from sedeval_soft.errors import EvaluationError, InputError, Problem
from sedeval_soft.formats import pack_shard
from sedeval_soft.run.evaluation import score_shard, tuned_shard
from sedeval_soft.settings import Settings
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits, over_limit
from sedeval_soft.tables.submissions import Submission, sha256_of
from sedeval_soft.timeline.alignment_report import STRICT
from sedeval_soft.tools.validate import validate_table
from sedeval_soft.tools.validate_tables import SEVERITIES, Expected

_FORMAT = 2
"""Of what is kept: a change of it makes all of that anew."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """What all submissions are scored against and by.

    reference: its rows. folds, by: as for `evaluate`. rank_by: the score that ranks them. columns: names of
    further scores that are shown.
    """

    reference: EventTable
    settings: Settings
    rank_by: str
    columns: tuple[str, ...]
    durations: Mapping[str, float] | None
    folds: Parted | None
    by: Parted | None
    limits: Limits

    def key(self) -> str:
        """Return a hash of all that shapes the scores of a submission but itself."""
        settings = self.settings
        # Parts of the files are dealt by the seed, which settings tell of with intervals only.
        seed = settings.seed if isinstance(settings.cross_tune, int) else None
        told = (
            *(_FORMAT, __version__, settings.to_dict(), seed, self.rank_by, self.columns),
            *(self.reference.origin.name, self.reference.origin.sha256),
            *(self.durations and dict(self.durations), _identity(self.folds), _identity(self.by)),
            asdict(self.limits),
        )
        return hashed(told)


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of a submission.

    record: what is kept. scores, rows: of one that could be scored. tally: the bytes by which it is compared
    with others. lasting: whether the same comes of it the next time.
    """

    record: Record
    scores: Scores | None = None
    rows: EventTable | None = None
    tally: bytes = b""
    lasting: bool = True


def key_of(submission: Submission, challenge_key: str) -> str:
    """Return a hash of all that shapes what comes of a submission."""
    return hashed((challenge_key, submission.name, submission.entry, submission.digest))


def look_at(submission: Submission, challenge: Challenge, key: str) -> Looked:
    """Score a submission, or find what is wrong with it; raises nothing that is the submission's fault."""
    refused = Record(key, submission.name)
    if submission.problem is not None:
        return _refused(refused, [submission.problem], 1, lasting=False)
    try:
        rows = _named(read_rows(submission.path, limits=challenge.limits), submission.entry)
        return _scored(rows, submission, challenge, key)
    except UnknownScoreError:
        raise  # asked for by who runs this
    except EvaluationError as error:
        return _refused(refused, *_problems(error, submission, challenge))
    except MemoryError:
        problem = Problem(submission.entry, "needs more memory than there is")
    except Exception as error:
        # A defect of ours that one submission brings about is told of that one.
        problem = Problem(submission.entry, f"defect of this program: {type(error).__name__}: {error}")
    return _refused(refused, [problem], 1, lasting=False)


def hashed(told: Any) -> str:  # noqa: ANN401 - whatever JSON has
    """Return the SHA-256 of plain values."""
    return sha256(json.dumps(told, sort_keys=True).encode("ascii")).hexdigest()


def _scored(rows: EventTable, submission: Submission, challenge: Challenge, key: str) -> Looked:
    name = submission.name
    shard = _counted(rows, challenge.settings, challenge, name)
    files = shard.tally.files
    folds = read_parts(challenge.folds, "folds", files, challenge.limits)
    by = read_parts(challenge.by, "by", files, challenge.limits)
    scores = score_shard(shard, __version__, folds=folds, by=by, points=has_points(rows))
    scores.score(challenge.rank_by)
    # What it is compared by is counted by itself: no more than that need be kept, and drawn again.
    settings = replace(challenge.settings, groups={}, scenes={}, worst=0, reference_sweep=False)
    compared = _counted(rows, settings_for(challenge.rank_by, settings), challenge, name)
    tally = pack_shard(tuned_shard(compared, folds), __version__)
    kept = scored_of(scores, (challenge.rank_by, *challenge.columns))
    return Looked(Record(key, name, kept, tally=sha256(tally).hexdigest()), scores, rows, tally)


def _counted(rows: EventTable, settings: Settings, challenge: Challenge, name: str) -> Shard:
    return shard_of_rows(challenge.reference, rows, settings, challenge.durations, name)


def _named(rows: EventTable, entry: str) -> EventTable:
    """Return rows that are of a file by its name: where that lay is nobody's concern."""
    return replace(rows, origin=replace(rows.origin, name=entry))


def _problems(
    error: EvaluationError, submission: Submission, challenge: Challenge
) -> tuple[list[Problem], int]:
    """Return what is wrong: why it was not scored, what a closer look finds; and how many that are."""
    where = os.fspath(submission.path)
    entry = submission.entry
    if not isinstance(error, InputError):
        # What --strict makes an error is one line for each, and a last one of how to call the command.
        lines = [line for line in str(error).splitlines() if line != STRICT]
        shown = lines[:MOST_PROBLEMS]
        return [Problem(entry, line.removeprefix(f"{entry}: ")) for line in shown], len(lines)
    own, more = list(error.problems), int(error.more)
    found: list[Problem] = []
    number = 0
    if not over_limit(error):
        classes = challenge.settings.classes
        expected = Expected(challenge.reference, classes, durations=challenge.durations or {})
        try:
            validation = validate_table(
                submission.path, expected, most=MOST_PROBLEMS, limits=challenge.limits
            )
            found, number = list(validation.problems), sum(validation.counts.values())
        except EvaluationError:
            pass
    places = {(problem.code, problem.line, problem.column) for problem in found}
    # What the closer look tells, too, is told once, and in its words.
    own = [problem for problem in own if (problem.code, problem.line, problem.column) not in places]
    # Why it is not scored comes first.
    both = sorted((*own, *found), key=lambda problem: SEVERITIES.index(problem.severity))
    told = [replace(p, source=_short(p.source, where, entry)) for p in both[:MOST_PROBLEMS]]
    return told, max(number + len(own), len(error.problems) + more)


def _short(source: str, where: str, entry: str) -> str:
    """Return the name of a file below the folder of submissions."""
    return entry + source[len(where) :] if source.startswith(where) else source


def _refused(record: Record, problems: list[Problem], number: int, *, lasting: bool = True) -> Looked:
    import msgspec

    refused = msgspec.structs.replace(record, faults=faults_of(problems), n_faults=number)
    return Looked(refused, lasting=lasting)


def _identity(parted: Parted | None) -> object:
    """Return what tells a partition from others: the hash of its table, its pattern, or itself."""
    if parted is None or isinstance(parted, Mapping):
        return parted and dict(parted)
    name = os.fspath(parted)
    return name if "{" in name else [sha256_of(Path(name))]
