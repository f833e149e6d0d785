"""Scores and boards built by hand for the tests of presentations; the numbers only look like scores."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from zlib import crc32

import numpy as np

from sedeval_soft import compare
from sedeval_soft.comparison import Board, Entry
from sedeval_soft.comparison.board import Agreement, Difference, Discordance
from sedeval_soft.evaluation import Chance, Input, Level, Score, Scores
from sedeval_soft.evaluation.details import Folds, Offender, Spread, Sweep, Worst
from sedeval_soft.evaluation.signature import sign
from sedeval_soft.measures.registry import ScoreName, group_of, score_names
from sedeval_soft.report import cells, render
from sedeval_soft.settings import Settings

Value = float | int | None

COUNTS = {"n_ref", "n_sys", "tp", "fp", "fn", "tn", "substitutions", "deletions", "insertions"}
FAMILIES = tuple(product(("segment", "event"), ("hard", "optimal", "soft")))

MAESTRO = (
    *("birds singing", "car", "people talking", "footsteps", "children voices", "wind blowing"),
    *("brakes squeaking", "large vehicle", "cutlery and dishes", "metro approaching", "metro leaving"),
    *("furniture dragging", "coffee machine", "door opens/closes", "announcement", "shopping cart"),
    "cash register beeping",
)
UNICODE = ("鳥の声", "café", "cafe\u0301", "Türklingel", "👏", "speech")
SIGNATURE_VERSION = "1.2.3"
UTF_8 = "utf-8", "surrogatepass"


def build(
    classes: Sequence[str] = ("car", "speech"),
    families: Sequence[tuple[str, str]] = FAMILIES,
    silent: Sequence[str] = (),
    missed: Sequence[str] = (),
    system: str = "sys.tsv",
    **chosen: object,
) -> Scores:
    """Build the default scores of some classes; `silent` have no reference, `missed` no output."""
    settings = Settings.of(**chosen)
    sha256, long = f"{crc32(system.encode(*UTF_8)):064x}", "long table with header, tab"
    inputs = (
        Input("ref.tsv", "reference", "0" * 64, 1200, 5, len(classes), long, True, "merge"),
        Input(system, "system", sha256, 900, 4, 2, "wide table, comma", False, "rows", ("comment",)),
    )
    return Scores(
        scores={
            score.name: score._replace(
                value=_value(score, score.class_name in silent, score.class_name in missed)
            )
            for score in registered(classes)
            if (score.basis, score.reading) in families and not group_of(score.name)
            if score.measure != "fbeta" or settings.beta != 1
        },
        system=system,
        classes=tuple(classes),
        files=("a", "b", "c", "d", "e"),
        length=1000.5,
        n_segments=1003,
        settings=settings,
        inputs=inputs,
        warnings=("no rows for file 'e' in the system",),
        **signed(settings, inputs),
        version=SIGNATURE_VERSION,
    )


def signed(settings: Settings, inputs: Sequence[Input]) -> dict[str, str]:
    """Return a signature like an evaluation's."""
    return dict(zip(("signature", "short_signature"), sign(SIGNATURE_VERSION, settings, inputs), strict=True))


def registered(classes: Sequence[str]) -> list[Score]:
    """Build a score for every name in the registry, each with a different value of six digits."""
    return [
        Score(str(n), n.basis, n.reading, n.measure, n.average, n.class_name, 100_000 + i)
        for i, n in enumerate(map(ScoreName.parse, score_names(classes)))
    ]


def with_all(classes: Sequence[str]) -> Scores:
    """Build scores for every name in the registry."""
    return replace(build(classes, (), beta=2.0), scores={s.name: s for s in registered(classes)})


def _value(score: Score, silent: bool, missed: bool) -> Value:
    """Return a number that looks like a measure's; 0 or None if a class has no reference or no output."""
    # The value depends on the name only, so a new measure changes no other value.
    measure, share = score.measure, crc32(score.name.encode(*UTF_8)) % 9973 / 9973
    if (silent and measure in {"recall", "error_rate"}) or (missed and measure in {"precision", "threshold"}):
        return None
    if measure not in COUNTS:
        return share
    nothing = (silent and measure in {"n_ref", "tp", "fn"}) or (missed and measure in {"n_sys", "tp", "fp"})
    count = 0.0 if nothing else share * 300
    return count if score.reading == "soft" else int(count)


def revalued(scores: Scores, value: Callable[[Score], Value]) -> Scores:
    """Return the scores with values that a function computes."""
    return replace(scores, scores={s.name: s._replace(value=value(s)) for s in scores.scores.values()})


# Intervals, folds, worst files and classes; and boards.


RANK_BY = "segment.soft.f1.macro"


def with_intervals(scores: Scores, **chosen: object) -> Scores:
    """Return the scores with intervals, except for thresholds and undefined scores."""
    settings = Settings.of(**{"ci": "bootstrap", **chosen})
    return replace(scores, scores=_intervals(scores), settings=settings, **signed(settings, scores.inputs))


def _intervals(scores: Scores) -> dict[str, Score]:
    found = dict(scores.scores)
    for name, score in found.items():
        if score.value is not None and score.measure != "threshold":
            width = 0.04 if isinstance(score.value, float) and score.value <= 1 else 0.1 * score.value
            found[name] = score._replace(low=score.value - width, high=score.value + 1.25 * width)
    return found


def of_runs(scores: Scores, runs: Sequence[str] = ("a.tsv", "b.tsv", "c.tsv", "d.tsv")) -> Scores:
    """Return the scores as means over repeated trainings."""
    return replace(scores, scores=_intervals(scores), system=f"mean of {', '.join(runs)}", runs=tuple(runs))


def with_folds(scores: Scores, names: Sequence[str] = ("fold1", "fold2", "fold3")) -> Scores:
    """Return the scores with a spread of all averages over folds, and the scores of each fold."""

    def part(score: Score, i: int) -> Value:
        # The first fold has no precision.
        if score.value is None or (i == 0 and score.measure == "precision"):
            return None
        return score.value // (i + 2) if isinstance(score.value, int) else score.value / (1 + i / 16)

    averages = [score for score in scores.scores.values() if score.average is not None]
    values = {score.name: tuple(part(score, i) for i in range(len(names))) for score in averages}
    spreads = [
        Spread(name, of, *((0.5, 0.03125) if len(of) - of.count(None) > 1 else (None, None)))
        for name, of in values.items()
    ]
    parts = [
        score._replace(name=f"{score.name}@{fold}", group=fold, value=value, low=None, high=None)
        for score in averages
        for fold, value in zip(names, values[score.name], strict=True)
    ]
    return replace(
        scores,
        scores={**scores.scores, **{part.name: part for part in parts}},
        folds=Folds(tuple(names), tuple(range(1, len(names) + 1)), tuple(spreads)),
    )


def with_sections(scores: Scores) -> Scores:
    """Return the scores with chance levels, and with segment scores over thresholds of the reference."""
    levels = {
        name: Level(score.value / 2, None if "macro" in name else 0.0125, 0.5)
        for name, score in scores.scores.items()
        if isinstance(score.value, float) and score.measure in {"f1", "precision"}
    }
    names = [
        f"segment.hard.{measure}.{average}" for average in ("micro", "macro") for measure in ("f1", "recall")
    ]
    sweep = Sweep(
        (0.25, 0.5, 0.75),
        {"segment": (3, 0, 12)},
        {"segment.hard.n_ref.micro": (90, 60, 30)} | {name: (0.5, scores[name], None) for name in names},
    )
    return replace(scores, sweep=sweep, chance=Chance(20, 0, everything=False, levels=levels))


WORST = {
    "event": Worst(
        *("event", "hard"),
        files=(Offender("a.wav", None, 12, 0.6, 4, 8), Offender("b.wav", None, 8, 0.4, 8, 0)),
        classes=(Offender(None, "car", 20, 1.0, 12, 8),),
        segments=(),
    ),
    "segment": Worst(
        *("segment", "soft"),
        files=(
            Offender("cafe_restaurant_00.wav", None, 120.25, 0.375, 100.0, 20.25),
            Offender("b\x1b|.wav", None, 80.5, 0.251, 0.25, 80.25),
        ),
        classes=(
            Offender(None, "speech", 300.125, 0.9358, 250.0, 50.125),
            Offender(None, "car", 20.625, 0.0642, 20.625, 0.0),
        ),
        segments=(
            Offender(
                "cafe_restaurant_00.wav", "speech", 1.75, 0.0055, 1.0, 0.75, 1.0, 0.0, onset=12.0, offset=13.0
            ),
            Offender("b\x1b|.wav", "car", 0.9375, 0.0029, 0.0, 0.9375, 0.0625, 1.0, onset=0.3, offset=0.4),
        ),
    ),
}
"""The files and classes with the largest costs; costs of events are counts."""


def with_worst(scores: Scores, basis: str = "segment") -> Scores:
    """Return the scores with the largest costs of segments or of events."""
    return replace(scores, worst=WORST[basis])


def board(
    names: Sequence[str] = ("alpha.tsv", "beta.tsv", "gamma.tsv", "baseline.tsv"),
    baseline: str | None = None,
    replicates: int = 1000,
    n_classes: int = 2,
    families: Sequence[tuple[str, str]] = FAMILIES,
    **chosen: object,
) -> Board:
    """Build a board of some systems, each a little worse than the one before; two share a letter.

    All but the first two differ in all classes by McNemar's test.
    """
    compared_to = baseline or names[0]
    systems = [
        with_intervals(
            revalued(build(families=families, system=name), lambda s, i=i: s.value - i / 100),
            **{"replicates": replicates, **chosen},
        )
        for i, name in enumerate(names)
    ]
    entries = [
        Entry(
            *(name, 2 if i == 2 else i + 1, "abbcdefghij"[i], i + 1, of.value, of.low, of.high),
            None if name == compared_to else _difference(i, replicates),
            *(0.875 - i / 16, max(i, 1), min(i + 2, len(names))),
        )
        for i, (name, of) in enumerate((each.system, each.score(RANK_BY)) for each in systems)
    ]
    discordances = [
        Discordance(
            *(name, f"class {k}", 12 + k, 40 + i),
            *(p := 0.5 if i == 1 else 10.0 ** -(2 * i + k), min(1, 4 * p)),
        )
        for i, name in enumerate(names)
        if name != compared_to
        for k in range(n_classes)
    ]
    agreement = Agreement(
        names=(RANK_BY, "segment.hard.error_rate.micro", "event.hard.f1.macro"),
        tau=((1.0, 0.6667, None), (0.6667, 1.0, None), (None, None, None)),
    )
    return Board(
        *(tuple(systems), RANK_BY, compared_to, baseline, 0.95, replicates, 0),
        *(tuple(entries), tuple(discordances), agreement),
    )


def render_board(board: Board, form: str = "text", **options: object) -> str:
    """Render the comparison of systems in one of the forms."""
    return render(board.systems, form, board=board, **options)


def _difference(i: int, replicates: int) -> Difference:
    least = 1 / (replicates + 1)
    p = (0.4213, 0.0415, least, least)[min(i, 3)]
    return Difference(-0.01 * i, -0.01 * i - 0.02, -0.01 * i + 0.02, p, p / 2 + least / 2, min(1.0, 3 * p))


# Screens.

LINES, WIDTH = 40, 80


def lines_of(text: str, width: int) -> list[str]:
    """Return the lines of a screen without colours; all must fit the terminal."""
    lines = re.sub("\x1b\\[[0-9;]*m", "", text).splitlines()
    assert max(map(cells, lines)) <= width
    return lines


def compared(
    n_systems: int = 3, n_classes: int = 3, n_files: int = 12, worse: float = 0.03, **chosen: object
) -> Board:
    """Compare systems, each with more noise than the one before."""
    rng = np.random.default_rng(5)
    reference = rng.random((n_files, 20, n_classes)) ** 3
    systems = {
        f"system {k}": np.clip(reference + rng.normal(0, worse * (k + 1), reference.shape), 0, 1)
        for k in range(n_systems)
    }
    names = [f"class {k}" for k in range(n_classes)]
    return compare(reference, systems, **{"classes": names, "replicates": 100, "only": "segment", **chosen})
