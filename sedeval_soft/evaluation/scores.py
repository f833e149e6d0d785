"""Scores as named values, and their computation from a tally. `details` has the details beside them.

The text of results for `print` and notebooks is the text that the command prints.

Presentation is a later stage, and nothing here may import it: it is looked up on display.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sedeval_soft.arrays import Array
from sedeval_soft.errors import EvaluationError, SettingsError, counted
from sedeval_soft.evaluation.optimal import Best, as_one, optimal_scores
from sedeval_soft.measures.base import Averaged, Table, Tables
from sedeval_soft.measures.detection import confusion_scores, detection_scores, f1_of_means, totals
from sedeval_soft.measures.divergence import KL, PROPER, SOFT, divergence_scores
from sedeval_soft.measures.event import DEVIATIONS, deviation_scores
from sedeval_soft.measures.registry import (
    FAMILIES,
    MEASURES,
    ScoreName,
    ScoreNameError,
    group_of,
    variants_of,
)
from sedeval_soft.measures.segment import ITEM_COLUMNS, grounding_scores
from sedeval_soft.measures.tally import Tally, Totals, cells_of
from sedeval_soft.names import close_matches, did_you_mean, meant
from sedeval_soft.plan import CELLS, THRESHOLDED, Plan
from sedeval_soft.settings import PART_MEANS, Settings, means_in, split_name

if TYPE_CHECKING:
    import pandas as pd

    from sedeval_soft.evaluation.details import Chance, Confusion, Folds, Sweep, Worst
    from sedeval_soft.evaluation.shard import Input


class UnknownScoreError(EvaluationError, KeyError):
    """No score of that name was computed."""

    def __str__(self) -> str:
        """Return the message itself: KeyError would quote it."""
        return str(self.args[0])


class Score(NamedTuple):
    """One number with its name.

    - name: `basis.reading.measure.average` or `basis.reading.measure[class]`, and `@group` of a part.
    - average: `micro`, `macro` or `weighted`, or a requested mean; None for the score of one class.
    - class_name: the class; None for an average.
    - value: a count (int), a number (float) or None if the measure is undefined.
    - group: the group of classes, the scene or the fold of the score, or the parts of a mean, such as
      `scenes.harmonic`; None for the whole.
    - low, high: the ends of its interval; None without an interval.
    """

    name: str
    basis: str
    reading: str
    measure: str
    average: str | None
    class_name: str | None
    value: float | int | None
    group: str | None = None
    low: float | None = None
    high: float | None = None

    def with_interval(self, low: float, high: float) -> Score:
        """Return the score with the ends of its interval, within the range of its measure; NaN: no end."""
        _, measure = MEASURES[self.basis, self.reading, self.measure]
        least = -math.inf if measure.low is None else measure.low
        most = math.inf if measure.high is None else measure.high
        # In this order NaN stays NaN.
        low, high = (min(max(end, least), most) for end in (low, high))
        return self._replace(low=finite(low), high=finite(high))


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Mapping[str, "float | int | None"]):
    """All scores of one system, by name.

    `scores["segment.soft.f1.macro"]` is a float, an int for counts, or None if undefined. Iteration and
    `list(scores.values())` follow the order in which scores are listed. `print(scores)` shows the text that
    the command prints.

    - system: the system's name. classes: the evaluated classes in order.
    - confusion: confusions of classes, for segments and for events, if `measures` requests them.
    - runs: the names of the repeated trainings that scores are means of.
    - folds: the spread over folds, if there are any.
    - worst: the highest costs. sweep: scores over thresholds of the reference. Both only if the settings
      request them.
    - chance: the chance levels of scores, if requested.
    - counts: the counts of each file, and the settings by which `per_file` scores them.
    - variants: the scores by the settings in names of scores, by the text of these settings.
    - signature: the version, all settings, and the hashes of all inputs, which make the result repeatable.
      short_signature: for people, with the settings that are not the default ones.
    """

    scores: Mapping[str, Score]
    system: str
    classes: tuple[str, ...]
    files: tuple[str, ...]
    length: float
    n_segments: int
    settings: Settings
    inputs: tuple[Input, ...] = ()
    warnings: tuple[str, ...] = ()
    signature: str = ""
    short_signature: str = ""
    version: str = ""
    confusion: tuple[Confusion, ...] = ()
    runs: tuple[str, ...] = ()
    folds: Folds | None = None
    worst: Worst | None = None
    sweep: Sweep | None = None
    chance: Chance | None = None
    make_curves: Callable[[], Any] | None = field(default=None, compare=False)
    counts: tuple[Tally, Settings] | None = field(default=None, compare=False)
    variants: Mapping[str, Scores] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        """Return a short form: the numbers are many."""
        size = f"{counted(len(self.files), 'file')}, {counted(len(self.classes), 'class')}"
        return f"<{counted(len(self.scores), 'score')} of {self.system!r}: {size}>"

    def __str__(self) -> str:
        """Return the text that the command prints."""
        return screen_of([self])

    def _repr_html_(self) -> str:
        """Return the summary as tables of HTML, for notebooks."""
        return tables_of([self])

    def __getitem__(self, name: str) -> float | int | None:
        """Return the value of a score; raise UnknownScoreError with close matches if there is none."""
        return self.score(name).value

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all scores."""
        return iter(self.scores)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a score of that name, without looking for close matches."""
        return isinstance(name, str) and name in self.scores

    def __len__(self) -> int:
        """Return the number of scores."""
        return len(self.scores)

    def score(self, name: str) -> Score:
        """Return the Score of that name; raise UnknownScoreError with close matches if there is none."""
        if not isinstance(name, str):
            raise UnknownScoreError(
                f"no score is named {name!r}; expected a text such as segment.soft.f1.macro"
            )
        if name not in self.scores:
            with suppress(ScoreNameError):
                try:
                    written = str(ScoreName.parse(name))
                except SettingsError as error:
                    raise UnknownScoreError(str(error)) from error
                if written in self.scores:
                    return self.scores[written]
                if reason := not_computed(name, self.settings, _keyword):
                    raise UnknownScoreError(f"{name} {reason}")
            hint = self._hint_of_mean(name) or meant(name, self.scores) or did_you_mean(name, self.scores)
            raise UnknownScoreError(
                f"no score is named {name!r}{hint or '; soft-sed-eval explain prints all names'}"
            )
        return self.scores[name]

    def _hint_of_mean(self, name: str) -> str:
        """Return why a mean does not exist, or its probable name; empty for names that are not means."""
        whole, at, part = name.rpartition("@")
        if part in PART_MEANS:
            return "; single files have no such score" if part.startswith("files.") else ""
        mean = close_matches(part, PART_MEANS, n=1, cutoff=0.8) if at else []
        return f"; did you mean {f'{whole}@{mean[0]}'!r}?" if mean else ""

    @property
    def macro_classes(self) -> dict[str, int]:
        """Number of classes in the macro averages of each basis and reading: the classes with a reference.

        By `basis.reading`, such as `segment.soft`.
        """
        counts: dict[str, int] = {}
        for score in self.scores.values():
            if score.measure == "n_ref" and score.class_name is not None and score.group is None:
                family = f"{score.basis}.{score.reading}"
                counts[family] = counts.get(family, 0) + bool(score.value)
        return counts

    @property
    def curves(self) -> Any:  # noqa: ANN401 - the Curves of a later stage, which nothing here may import
        """Return the `Curves` over all thresholds, made anew each time.

        None unless `measures` names them or calibration, the system is one of operating points, or the
        reference is swept.
        """
        return None if self.make_curves is None else self.make_curves()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, in the form of the JSON output."""
        return document([self])

    def metrics(self, separator: str = "/") -> dict[str, float]:
        """Return the defined scores by names that trackers of experiments take: `segment/soft/f1/macro`.

        The name of a class replaces an average, as in `segment/soft/f1/car`; characters that MLflow refuses
        become underscores. separator: between the parts of a name.
        """
        metrics = {}
        for score in self.scores.values():
            if score.value is not None:
                parts = (*score[1:4], score.average or score.class_name, score.group)
                name = separator.join(_REFUSED.sub("_", part) for part in parts if part)
                metrics[name] = float(score.value)
        return metrics

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with one row per score; undefined or absent values are missing (pd.NA)."""
        import pandas as pd

        rows = [[getattr(score, name) for name in OF_SCORE] for score in self.scores.values()]
        columns = [_JSON_NAMES.get(name, name) for name in OF_SCORE]
        frame = pd.DataFrame(rows, columns=columns)
        return frame.astype(dict.fromkeys(("value", "low", "high"), "Float64"))

    def per_file(self, *names: str) -> pd.DataFrame:
        """Return a data frame with one row per file: its name, its length in seconds, and its scores.

        Columns have the names of the scores of all files together, such as `segment.soft.f1.micro`. names: a
        choice of these; without any, precision, recall, F, error rate and counts of each basis and reading.
        Undefined values are missing (pd.NA).

        The scores of a file equal its scores in an evaluation of this file alone with the same classes;
        scores of the optimal reading are at the best thresholds of all files together.

        Raises EvaluationError for scores that single files do not have, and for means of runs.
        """
        frame: pd.DataFrame = self.file_scores(names).to_pandas()
        return frame

    def file_scores(self, names: Sequence[str] = ()) -> Any:  # noqa: ANN401 - `FileScores` of a later stage
        """Return the data of `per_file`; the arguments and errors are the same."""
        if self.counts is None:
            reason = "a mean over runs has no scores of single files; ask for those of one of the runs"
            raise EvaluationError(f"{self.system}: {reason}")
        for name in names:
            self.score(name)
        file_scores = import_module("sedeval_soft.evaluation.resample").file_scores
        split = {name: split_name(name) for name in names}
        plain = [name for name, (_, text) in split.items() if not text]
        own = file_scores(*self.counts, plain)
        if len(plain) == len(split):
            return own
        others = {name: self.variants[text].file_scores([head]).scores[head]
                  for name, (head, text) in split.items() if text}  # fmt: skip
        return replace(own, scores={name: {**own.scores, **others}[name] for name in split})


def not_computed(name: str, settings: Settings, spell: Callable[..., str], *, points: bool = False) -> str:
    """Return why a score is not computed with some settings; empty if it is computed.

    spell: returns the spelling of a setting, from its name and values. points: whether the system is one of
    operating points. Raises ScoreNameError for a name that no score has.
    """
    parsed, group = ScoreName.parse(name), group_of(name)
    head, text = split_name(str(parsed))
    if text:
        needed = f"needs {spell('variants', str(parsed))}"
        chosen = variants_of(settings).get(text)
        return not_computed(head, chosen, spell, points=points) if chosen else needed
    plan = Plan.of(settings)
    basis, reading, measure = parsed.basis, parsed.reading, parsed.measure
    left_out = group not in ("", *settings.measures)
    means = [mean for mean in means_in(name) if mean not in settings.means]
    evaluated = reading in plan.psds if "psds" in measure else plan.scores(basis, reading)
    weights = "{}, {} and {}".format(*map(spell, ("alpha_ct", "alpha_st", "max_efpr")))
    reasons = (
        (measure == "pipsds" and not settings.psds_median_filters, f"needs {spell('psds_median_filters')}"),
        (measure == "psds" and not plan.psds, f"needs {spell('psds', 'NAME')}, or one of {weights}"),
        (left_out and points, "needs values; operating points have lists of events without"),
        (left_out and settings.measures, f"is left out by {spell('measures', *settings.measures)}"),
        (left_out, f"needs {spell('measures', group)}"),
        (means, f"needs {spell('means', *means[:1])}"),
        (settings.compat and reading == "hard" and basis in ("segment", "event") and means_in(name),
         f"is none of {settings.compat}'s, which {spell('compat', str(settings.compat))} asks for"),
        (measure.startswith("satisficed_") and settings.satisfice is None,
         f"needs {spell('satisfice', 'MEASURE>=NUMBER')}"),
        (reading == "tuned" and not settings.tunes,
         f"needs {spell('thresholds')}, {spell('cross_tune')} or {spell('folds')}"),
        (not evaluated, f"is left out by {spell('only', *settings.only)}"),
    )  # fmt: skip
    return next((reason for wrong, reason in reasons if wrong), "")


def _keyword(name: str, *values: str) -> str:
    """Return how a setting with some values is written in Python: `only=['segment', 'event']`."""
    return f"{name}={[*values] if len(values) > 1 else values[0]!r}" if values else name


_REFUSED = re.compile(r"[^\w .:-]", re.ASCII)
"""Characters that trackers refuse in the name of a metric."""

SCHEMA = "soft-sed-eval/1"

_JSON_NAMES = {"class_name": "class", "ignored": "ignored_columns"}
OF_SCORE = ("name", "basis", "reading", "measure", "average", "class_name", "group", "value", "low", "high")


def has_soft_reference(scores: Scores) -> bool:
    """Return whether the reference has values; one without a description counts as having them."""
    return not scores.inputs or any(item.has_values for item in scores.inputs if item.role == "reference")


def main_score(scores: Scores) -> str | None:
    """Return the name of the score for reports and ranks among the scores of one system; None without any F1.

    The settings may name it. The default is F1 of the reading that fits the reference: soft if it has values,
    else hard; of segments and as a macro average if these were evaluated and have a defined one: onsets alone
    are events without a length.
    """
    named = scores.settings.rank_by
    if named in scores.scores:
        return named
    reading = "soft" if has_soft_reference(scores) else "hard"
    candidates = [
        score
        for score in scores.scores.values()
        if score.measure == "f1" and score.average is not None and score.group is None
    ]
    defined = [score for score in candidates if score.average == "macro" and score.value is not None]
    best = min(
        defined or candidates,
        key=lambda score: (score.basis != "segment", score.reading != reading, score.average != "macro"),
        default=None,
    )
    return best and best.name


def document(systems: Sequence[Scores]) -> dict[str, Any]:
    """Return the JSON document of one or more systems scored against the same reference.

    Its `board` is null: `board_document` returns the document of systems that are compared.
    """
    first = systems[0]
    inputs = {(item.role, item.name): plain(item) for scores in systems for item in scores.inputs}
    return {
        "schema": SCHEMA,
        "version": first.version,
        "signature": first.signature,
        "settings": first.settings.to_dict(),
        "inputs": [{"path": item.pop("name"), **item} for item in inputs.values()],
        "warnings": list(dict.fromkeys(warning for scores in systems for warning in scores.warnings)),
        "board": None,
        "systems": [_system(scores) for scores in systems],
    }


def plain(value: Any) -> Any:  # noqa: ANN401 - any part of a result
    """Return a part of a result as JSON has it: dicts of fields by their names, lists, numbers and texts."""
    if is_dataclass(value):
        names = {_JSON_NAMES.get(part.name, part.name): part.name for part in fields(value)}
        return {key: plain(getattr(value, name)) for key, name in names.items()}
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, tuple) else value


def _system(scores: Scores) -> dict[str, Any]:
    runs = {"names": list(scores.runs), "confidence": scores.settings.confidence}
    names = [(_JSON_NAMES.get(name, name), name) for name in OF_SCORE]
    system: dict[str, Any] = {
        "name": scores.system,
        "files": len(scores.files),
        "length": scores.length,
        "segments": scores.n_segments,
        "classes": list(scores.classes),
        "macro_classes": scores.macro_classes,
        "scores": [{key: getattr(score, name) for key, name in names} for score in scores.scores.values()],
        "confusion": plain(scores.confusion),
        "runs": runs if scores.runs else None,
        **{name: plain(getattr(scores, name)) for name in ("folds", "worst", "sweep")},
    }
    if scores.chance is not None:
        known = {name: plain(level) for name, level in scores.chance.levels.items() if name in scores}
        levels = [{"name": name, **level} for name, level in known.items()]
        system["chance"] = plain(scores.chance) | {"levels": levels}
    return system


# From a tally to scores: tables of counts, of best thresholds, of measures that need all values in order.


def score_tally(tally: Tally, settings: Settings) -> dict[str, Score]:
    """Return all scores of a tally by name, in the order of the registry."""
    return scores_in(all_tables(tally, settings), tally, settings)


def all_tables(tally: Tally, settings: Settings, best: Mapping[str, Best] | None = None) -> Tables:
    """Return the tables of everything that the settings request, by basis and reading.

    best: by basis, the best thresholds if known, and the counts at them.
    """
    plan, tables = Plan.of(settings), counted_tables(tally, settings)
    for family in plan.thresholded:
        tables[family] = optimal_scores(tally, family[0], settings, (best or {}).get(family[0]))
    if plan.ordered or plan.ranks_events or plan.psds:
        from sedeval_soft.evaluation.ordered import ordered_tables

        # All files have one owner, which counts once.
        ranked = joined(*(of(np.ones((1, 1))) for of in ordered_tables(tally, settings, as_one(tally))))
        first = {family: {name: of.first() for name, of in own.items()} for family, own in ranked.items()}
        tables = joined(tables, first)
    return tables


def scores_in(tables: Tables, tally: Tally, settings: Settings) -> dict[str, Score]:
    """Return the scores of tables by name, in the order of the registry."""
    scores = {}
    for name, value in named(tables, tally.classes, settings.means):
        number = math.nan if value is None else value.item()
        scores[str(name)] = Score(str(name), *name[:5], number if math.isfinite(number) else None)
    return scores


def finite(value: float | int) -> float | int | None:
    """Return a value as it leaves the package: None for NaN, the undefined value."""
    return value if math.isfinite(value) else None


def named(
    tables: Tables, classes: tuple[str, ...], means: Sequence[str] = ()
) -> Iterator[tuple[ScoreName, Array | None]]:
    """Yield the values of all scores, (...) each, in the order of the registry; None for absent ones.

    Their names have no group.

    means: on-demand averages beside the averages of each measure, if it has them.
    """
    for family in FAMILIES:
        table = tables.get((family.basis, family.reading), {})
        for measure in family.measures:
            if measure.name not in table:
                continue
            stem, values = (family.basis, family.reading, measure.name), table[measure.name]
            asked = (mean for mean in measure.means if mean in means) if means else ()
            for average in (*measure.averages, *asked):
                yield ScoreName(*stem, average), getattr(values, average)
            if values.classes is not None and measure.has_classes:
                for k, label in enumerate(classes):
                    yield ScoreName(*stem, None, label), values.classes[..., k]


def joined(*parts: Tables) -> Tables:
    """Return the tables of all parts together."""
    tables: Tables = {}
    for family, table in (item for part in parts for item in part.items()):
        tables[family] = tables.get(family, {}) | table
    return tables


def counted_tables(tally: Totals, settings: Settings) -> Tables:
    """Return the tables of counts, by basis and reading: of a tally, or of many mixtures of it."""
    plan = Plan.of(settings)
    tables = {family: _counted(tally, *family, plan) for family in plan.families if family not in THRESHOLDED}
    # The numbers of sed_eval in place of ours.
    for basis in ("segment", "event") if settings.compat == "sed_eval" else ():
        if (basis, "hard") in tables:
            from sedeval_soft.measures.sed_eval_rules import hard_scores

            n_cells = tally.total("segment.hard.n_cells") if basis == "segment" else None
            tables[basis, "hard"] |= hard_scores(totals(tally, f"{basis}.hard"), n_cells)
    return tables


def _counted(tally: Totals, basis: str, reading: str, plan: Plan) -> Table:
    """Return the scores of the totals of a basis and reading."""
    settings, expected, prefix = plan.settings, tally.is_expected, f"{basis}.{reading}"

    def sums(names: Iterable[str]) -> dict[str, Array]:
        return {name: tally.total(f"{prefix}.{name}") for name in names}

    if basis == "ranking":
        from sedeval_soft.measures.ranking import CLASS_SUMS, CUT_SUMS, SUMS, ranking_scores

        names, of_classes = ((*SUMS, *CUT_SUMS), CLASS_SUMS) if reading == "hard" else (SUMS, ())
        return ranking_scores(sums(names), sums(of_classes), int(expected.sum()), settings.entropy_unit)
    counts = totals(tally, prefix)
    table = detection_scores(counts, settings.beta)
    table |= f1_of_means(table) if reading == "hard" and plan.asks_for("joint") else {}
    if reading == "tuned" and isinstance(settings.thresholds, dict):
        table["threshold"] = Averaged(settings.given_thresholds(tally.classes))
    elif prefix == "event.hard":
        table |= deviation_scores(sums(DEVIATIONS), tally.total(f"{prefix}.matched"))
    elif basis in CELLS and reading in ("hard", "soft"):
        divergences: tuple[str, ...] = KL if reading == "soft" else ()
        if plan.asks_for("divergence"):
            divergences = SOFT if reading == "soft" else PROPER
        if reading == "hard":
            n_cells, beyond = sums(("n_cells", "beyond")).values()
            table |= confusion_scores(counts, n_cells, beyond, expected)
            if basis == "segment" and plan.asks_for("grounding"):
                table |= grounding_scores(sums(ITEM_COLUMNS))
        if divergences:
            sizes = tally.total(f"{prefix}.sounding"), tally.total(cells_of(f"evaluated_{basis}"))
            how = settings.epsilon, settings.entropy_unit
            table |= divergence_scores(sums(divergences), *sizes, counts.n_ref, counts.n_sys, *how, expected)
    return table


def screen_of(systems: Sequence[Any], board: Any = None) -> str:  # noqa: ANN401 - of a later stage
    """Return the text that the command prints for one system, or for a board of several, without colours."""
    text: str = import_module("sedeval_soft.report").render(systems, board=board)
    return text.removesuffix("\n")


def tables_of(systems: Sequence[Any], board: Any = None) -> str:  # noqa: ANN401 - of a later stage
    """Return the summary of one system, or the leaderboard of several, as HTML for notebooks."""
    html: str = import_module("sedeval_soft.report").notebook(systems, board)
    return html
