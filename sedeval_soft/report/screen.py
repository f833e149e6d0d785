"""The screen of one system: what a person sees first, in at most forty lines that fit the terminal.

It has the main averages of each basis and reading, what these mean, F1 of the worst classes, and what to type
next. All tables are on the page of `report.page`, which `-v` prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.scores import Score, Scores
from sedeval_soft.evaluation.signature import POINT
from sedeval_soft.measures.registry import MEASURES, OVERALL, ScoreName, measure_of
from sedeval_soft.names import told_apart
from sedeval_soft.report.fitted import (
    UNDEFINED,
    Column,
    cells,
    clipped,
    how_good,
    interval,
    lines_of,
    number,
    styled,
    wrapped,
)
from sedeval_soft.report.heading import name_of, signature_lines, title_lines
from sedeval_soft.report.legend import legend, marked, measure_label, missed_classes, percent, silent
from sedeval_soft.report.shown import Family, families, ranked_first, shown
from sedeval_soft.settings import CLASS_MEANS, PART_MEANS

WIDTH, HEIGHT = 80, 40
NARROWEST = 60
"""Cells of a terminal below which a screen does not fit it."""

_MOST = 10
"""Classes, and groups and scenes, that are shown unless all are asked for."""

_FEWEST = 6
"""Of these, as many at least, however much else there is to show."""

_SHORTEST = 16
"""Cells of a terminal below which no name of a class is shortened before columns are left out."""

_MOST_OTHER = 3
"""Lines of measures that were asked for."""

_ASKED = {"precision", "roc", "divergence", "calibration", "ranking", "label-wise", "joint", "satisficed",
          "grounding"}  # fmt: skip
"""Tables of measures that are computed only if asked for."""

_MOST_ROWS = 12
"""Rows of averages up to which each has its chance level and its spread over folds below it."""

_ABOVE = {"chance": "chance", "folds": "± folds"}


def screen(scores: Scores, *, width: int = WIDTH, color: bool = False, all_classes: bool = False) -> str:
    """Return the screen of a system, lines of at most `width` cells of a terminal.

    all_classes: show every class, group and scene, however many lines that takes.
    """
    return _Screen(scores, width, color=color, all_classes=all_classes).text()


class _Screen:
    """What is shown of a system, and how.

    order: the basis and reading of each row, the one that ranks first. f: the measure that stands for F.
    """

    def __init__(self, scores: Scores, width: int, *, color: bool, all_classes: bool) -> None:
        # Of many classes there are many scores: they are looked through as seldom as can be.
        self.scores, self.settings = shown(scores), scores.settings
        self.hides = self.scores is not scores
        order = families(self.scores)
        self.width, self.color, self.all_classes = width, color, all_classes
        self.has_intervals = self.settings.ci is not None or bool(scores.runs)
        self.f = "f1" if self.settings.beta == 1 else "fbeta"
        ranking = self.settings.rank_by
        self.first = ScoreName.parse(ranking) if ranking and ranking in self.scores.scores else None
        order = ranked_first(order, self.first)
        whole = [score for score in self.scores.scores.values() if score.group is None]
        self.of_all = [score for score in whole if score.average is not None]
        known = {(score.basis, score.reading) for score in whole if score.measure == self.f}
        self.order = [family for family in order if family in known]
        self.few = len(self.order) <= _MOST_ROWS // 2
        known_averages = {score.average for score in self.of_all if score.measure == self.f}
        averages = [each for each in ("macro", "micro", "weighted", *CLASS_MEANS) if each in known_averages][
            :2
        ]
        # Of one class all averages are the same.
        self.averages = averages if len(self.scores.classes) > 1 else averages[-1:]
        names = told_apart(self.scores.classes)
        self.labels = {label: names.get(label, visible(label)) for label in self.scores.classes}
        self.missed = missed_classes(scores, self.order)
        self.absent = self._absent()

    def text(self) -> str:
        """Return all lines."""
        averages = self._averages()
        above = [block for block in (self._head(), averages, self._other()) if block]
        below = [block for block in (self._notes(averages), self._next()) if block]
        room = HEIGHT - sum(len(block) + 1 for block in (*above, *below)) + 1
        groups = dict.fromkeys(score.group for score in self.scores.scores.values())
        tables = [self._parts([*groups])] if len(groups) > 1 else []
        tables = [table for table in (*tables, self._classes()) if table[1]]
        # Each has a line before it, a title, two of headings, and one that says how many more there are.
        least = sum(min(len(columns[0].texts), _FEWEST) + 5 for _, columns in tables)
        words = legend(self.scores, self.order, self.averages)
        margin = max(map(cells, words), default=0)
        lines = [f"{word}{' ' * (margin - cells(word))}  {text}" for word, text in words.items()]
        lines = [clipped(line, self.width) for line in lines[: max(room - least - 1, 0)]]
        meanings = [styled(line, "dim", color=self.color) for line in lines]
        room -= len(meanings) + bool(meanings)
        middle = [meanings] if meanings else []
        for left in range(len(tables), 0, -1):
            middle.append(self._table(*tables[-left], room // left - 5))
            room -= len(middle[-1]) + 1
        return "\n".join("".join(f"{line}\n" for line in block) for block in (*above, *middle, *below))

    # What was scored, and the score that ranks.

    def _head(self) -> list[str]:
        scores = self.scores
        system, n_runs = name_of(scores.system), counted(len(scores.runs), "run")
        if scores.runs:
            # Without a name of their own they are called by all their names.
            unnamed = scores.system.startswith("mean of ")
            system = f"mean of {n_runs}" if unnamed else f"{system}, mean of {n_runs}"
        lines = title_lines(system, scores, self.width, color=self.color)
        if self.first is not None:
            score = scores.scores[str(self.first)]
            value = f"{number(score.value)} {interval(score.low, score.high)}".rstrip()
            lines.append(
                styled(clipped(f"ranking score {self.first}: {value}", self.width), "bold", color=self.color)
            )
        return lines

    # The averages of each basis and reading, and what they mean.

    def _averages(self) -> list[str]:
        if not self.order:
            return []
        rows: list[tuple[Family, str]] = []
        there = {"chance": self.scores.chance, "folds": self.scores.folds}
        beside = [name for name, given in there.items() if given and self.few]
        width = max(len(basis) for basis, _ in self.order)
        texts, last = [], ""
        for basis, reading in self.order:
            rows += [((basis, reading), kind) for kind in ("", *beside)]
            texts.append(f"{basis if basis != last else '':<{width}}  {marked(reading)}")
            texts += [f"{'':<{width}}    {_ABOVE[kind]}" for kind in beside]
            last = basis
        columns = [Column("", "", texts, ["dim" * bool(kind) for _, kind in rows], left=True)]
        for place, average in enumerate(self.averages):
            heading = average if len(self.scores.classes) > 1 else ""
            # Where there is no room for all, P and R of the second average go before those of the first.
            for measure, rank in (("precision", 4 + place), ("recall", 4 + place), (self.f, place)):
                columns.append(self._numbers(heading, measure, average, rows, rank))
            if self.has_intervals:
                columns.append(self._intervals(heading, self.f, average, rows, 2 + place))
            if place == len(self.averages) - 1:
                columns += [
                    self._numbers(heading, measure, average, rows, rank)
                    for measure, rank in (("error_rate", 9), ("kl_divergence", 10))
                ]
        return lines_of(columns, self.width, shortest=columns[0].width, color=self.color)

    def _numbers(
        self, heading: str, measure: str, average: str, rows: Sequence[tuple[Family, str]], rank: int
    ) -> Column:
        """Return a measure of each row: the score, its chance level, or its deviation over folds."""
        texts, styles = [], []
        spreads = self.scores.folds.spreads if self.scores.folds else ()
        for (basis, reading), kind in rows:
            name = f"{basis}.{reading}.{measure}.{average}"
            score = self.scores.scores.get(name)
            if score is None:
                texts.append("")
            elif kind == "chance":
                level = self.scores.chance and self.scores.chance.levels.get(name)
                texts.append(number(level.chance) if level else "")
            elif kind == "folds":
                deviation = next((each.deviation for each in spreads if each.name == name), None)
                texts.append("" if deviation is None else number(deviation))
            else:
                texts.append(number(score.value))
            good = measure not in {"error_rate", "kl_divergence"}
            styles.append("dim" if kind else how_good(score.value) if score and good else "")
        return Column(heading, measure_label(self.settings, measure), texts, styles, rank=rank)

    def _intervals(
        self, heading: str, measure: str, average: str, rows: Sequence[tuple[Family, str]], rank: int
    ) -> Column:
        texts = []
        for (basis, reading), kind in rows:
            score = self.scores.scores.get(f"{basis}.{reading}.{measure}.{average}")
            texts.append(interval(score.low, score.high) if score and not kind else "")
        return Column(heading, percent(self.settings.confidence), texts, ["dim"] * len(texts), True, rank)

    # What else was asked for.

    def _other(self) -> list[str]:
        """Return what has no average of classes, such as PSDS, and the measures that were asked for."""
        told: dict[str, list[str]] = {}
        for score in self.of_all:
            _, measure = MEASURES[score.basis, score.reading, score.measure]
            asked = score.average == OVERALL or measure.table in _ASKED
            if asked and score.average == self._best_average(score, measure.table):
                average = "" if score.average == OVERALL else f" {score.average}"
                label = measure_label(self.settings, score.measure)
                value = f"{label} {number(score.value)} {interval(score.low, score.high)}".rstrip()
                told.setdefault(f"{score.basis} {score.reading}{average}", []).append(value)
        lines = [
            line for family, values in told.items() for line in wrapped(values, self.width, f"{family}  ")
        ]
        if len(lines) <= _MOST_OTHER:
            return lines
        lines = lines[: _MOST_OTHER - 1]
        # What is on them is counted by the points between.
        left = sum(map(len, told.values())) - sum(line.count(POINT) + 1 for line in lines)
        return [*lines, f"and {left} more such measures: -v"]

    def _best_average(self, score: Score, table: str) -> str:
        """Return the average by which a measure is told: over all classes, else macro, else micro.

        Measures of the table of the score that ranks are told by its average. table: of the measure.
        """
        stem = f"{score.basis}.{score.reading}.{score.measure}"
        if stem in self.scores.scores:
            return OVERALL
        averages = ["macro", "micro"]
        if self.first and measure_of(self.first).table == table:
            averages.insert(0, self.first.average or "macro")
        return next((a for a in averages if f"{stem}.{a}" in self.scores.scores), "weighted")

    # Classes, groups and scenes.

    def _classes(self) -> tuple[str, list[Column]]:
        labels = self.scores.classes
        if len(labels) < 2:
            return "", []
        columns = self._by_name(labels, lambda stem, label: f"{stem}[{label}]", self.labels)
        worst = f"worst {columns[2].heading} {columns[2].name} first" if columns else ""
        title = f"{measure_label(self.settings, self.f)} by class, {worst} (n: how many the reference has)"
        return title, columns

    def _parts(self, groups: Sequence[str | None]) -> tuple[str, list[Column]]:
        """Return the columns of groups and scenes, of all that scores are of: the macro average of each."""
        # Means over parts are no parts; where one ranks, it stands first.
        folds = {*PART_MEANS, *(self.scores.folds.names if self.scores.folds else ())}
        names = [part for part in groups if part is not None and part not in folds]
        if not names:
            return "", []
        kind = "group" if {*names} <= {*self.settings.groups} else "scene"
        average = self.averages[0] if self.averages else "macro"
        title = f"{average} {measure_label(self.settings, self.f)} by {kind}, worst first"
        return title, self._by_name(names, lambda stem, part: f"{stem}.{average}@{part}", {})

    def _by_name(
        self,
        names: Sequence[str],
        score_name: Callable[[str, str], str],
        shown_as: Mapping[str, str],
    ) -> list[Column]:
        """Return the columns of F of each basis, and of how large the reference is, the worst first."""
        columns: list[Column] = []
        values: list[list[float | None]] = []
        scores = self.scores.scores
        for place, basis in enumerate(dict.fromkeys(basis for basis, _ in self.order)):
            readings = [reading for of, reading in self.order if of == basis]
            two = [r for r in ("hard", "soft") if r in readings] or readings[:1]
            if self.first is not None and self.first.basis == basis:
                # The one that ranks comes first.
                two = [self.first.reading, *(r for r in two if r != self.first.reading)][:2]
            sizes = [scores.get(score_name(f"{basis}.{two[0]}.n_ref", name)) for name in names]
            texts = ["" if size is None else _size(size.value) for size in sizes]
            columns.append(Column(basis, "n", texts, ["dim"] * len(names), rank=3 * place))
            for at, reading in enumerate(two):
                members = [scores.get(score_name(f"{basis}.{reading}.{self.f}", name)) for name in names]
                values.append([None if m is None else m.value for m in members])
                rank = 3 * place + at
                columns.append(
                    Column(
                        basis, reading, ["" if m is None else number(m.value) for m in members],
                        ["" if m is None else how_good(m.value) for m in members], rank=rank,
                    )
                )  # fmt: skip
                if self.has_intervals:
                    ends = [interval(m.low, m.high) if m else "" for m in members]
                    columns.append(Column(basis, "", ends, ["dim"] * len(names), True, 20 + rank))
        if not any(any(column.texts) for column in columns):
            return []
        order = sorted(range(len(names)), key=lambda k: [_badness(column[k]) for column in values])
        texts = [shown_as.get(name) or visible(name) for name in names]
        columns = [Column("", "", texts, left=True), *columns]
        marks = ["!" if name in self.missed else "" for name in names]
        columns.append(Column("", "", marks, ["bad"] * len(names), True, 1 if any(marks) else 99))
        return [
            c._replace(
                texts=[c.texts[k] for k in order], styles=[c.styles[k] for k in order] if c.styles else ()
            )
            for c in columns
        ]

    def _table(self, title: str, columns: Sequence[Column], room: int) -> list[str]:
        """Return a table of the first rows, and how many more there are."""
        size = len(columns[0].texts)
        most = size if self.all_classes else max(1, min(_MOST, room))
        # One more takes no more room than to say that there is one.
        most += size - most == 1
        cut = [c._replace(texts=c.texts[:most], styles=c.styles[:most]) for c in columns]
        lines = [clipped(title, self.width), *lines_of(cut, self.width, shortest=_SHORTEST, color=self.color)]
        if size > most:
            lines.append(f"... and {size - most} more, which are better: --all-classes")
        return lines

    # What must be known, and what to do next.

    def _of_classes(self, basis: str, reading: str, measure: str) -> dict[str, float | int | None]:
        """Return a measure by class, of the classes that have it."""
        stem, scores = f"{basis}.{reading}.{measure}", self.scores.scores
        found = {label: scores.get(f"{stem}[{label}]") for label in self.scores.classes}
        return {label: score.value for label, score in found.items() if score is not None}

    def _notes(self, averages: Sequence[str]) -> list[str]:
        """Return what must be known of this result; averages: the lines of their table."""
        notes, scores = [*self._notes_of_classes()] if self.order else [], self.scores
        for item in scores.inputs:
            if item.ignored:
                columns = ", ".join(map(visible, item.ignored))
                notes.append(f"{name_of(item.name)}: columns that are not read: {columns}")
        if self.hides:
            notes.append("neither table has values: hard scores only")
        if any(line.endswith(f" {UNDEFINED}") or f" {UNDEFINED} " in line for line in averages):
            notes.append(f"{UNDEFINED} undefined: there is nothing to divide by")
        if scores.worst:
            for kind, costly in (("files", scores.worst.files), ("classes", scores.worst.classes)):
                each = [f"{name_of(o.file or o.class_name or '')} {round(100 * o.share)} %" for o in costly]
                notes += [f"{kind} that cost most: {', '.join(each)}"] if each else []
        beside = {
            "confusion of classes": scores.confusion,
            "thresholds of the reference": scores.sweep,
            "chance levels": scores.chance and not self.few,
            "spread over folds": scores.folds and not self.few,
        }
        also = [name for name, there in beside.items() if there]
        notes += [f"-v also shows: {', '.join(also)}"] if also else []
        return [clipped(note, self.width) for note in notes]

    def _notes_of_classes(self) -> Iterator[str]:
        yield from self._by_reason(self.missed, mark="! ")
        yield from self._by_reason(self.absent)
        yield from self._classes_of_macro()

    def _absent(self) -> dict[str, str]:
        """Return the classes that readings have no reference of: why, and which readings leave them out."""
        why: dict[str, str] = {}
        readings: dict[str, list[str]] = {}
        for family in self.order:
            for label, reason in silent(self.scores, family, "reference").items():
                why.setdefault(label, reason)
                readings.setdefault(label, []).append(family[1])
        every = {reading for _, reading in self.order}
        return {
            label: f"{why[label]}; left out of {_listed(of) if {*of} < every else 'macro averages'}"
            for label, of in readings.items()
        }

    def _classes_of_macro(self) -> Iterator[str]:
        """Yield over how many classes the macro averages of each row are, if they are not over all."""
        counts, rows = self.scores.macro_classes, dict[int, list[str]]()
        for basis, reading in self.order:
            of_bases = {counts.get(f"{of}.{reading}", 0) for of, same in self.order if same == reading}
            name = reading if len(of_bases) == 1 else f"{basis} {reading}"
            rows.setdefault(counts.get(f"{basis}.{reading}", 0), []).append(name)
        if "macro" in self.averages and {*rows} != {len(self.scores.classes)}:
            parts = (f"{_listed(names)} over {counted(n, 'class')}" for n, names in sorted(rows.items()))
            yield f"macro averages: {', '.join(parts)}"

    def _by_reason(self, reasons: Mapping[str, str], mark: str = "") -> Iterator[str]:
        """Yield a line for all classes of one reason."""
        for why in dict.fromkeys(reasons.values()):
            yield self._named([label for label in reasons if reasons[label] == why], why, mark)

    def _named(self, labels: Sequence[str], text: str, mark: str = "") -> str:
        """Return a line of some classes: the names of as many as there is room for, and how many more."""
        mark *= len(self.scores.classes) > 1
        for n in range(min(len(labels), _MOST), 0, -1):
            more = f" and {len(labels) - n} more" * (n < len(labels))
            line = f"{mark}{', '.join(self.labels[label] for label in labels[:n])}{more}: {text}"
            if cells(line) <= self.width:
                break
        return line

    def _next(self) -> list[str]:
        """Return what to type next, and the signature."""
        if self.first is not None:
            name = str(self.first)
        elif self.order:
            basis = self.order[0][0]
            reading = "soft" if (basis, "soft") in self.order else self.order[0][1]
            name = f"{basis}.{reading}.{self.f}.{self.averages[0]}"
        else:
            name = next(iter(self.scores), "SCORE")
        hints = ["-v: all tables", "--report page.html: a page with pictures"]
        hints.append(f"soft-sed-eval explain {name}: what it means")
        return [
            styled(line, "dim", color=self.color)
            for line in (
                *wrapped(hints, self.width),
                *signature_lines(self.scores.short_signature, self.width),
            )
        ]


def _listed(names: Sequence[str]) -> str:
    """Return names, each once, as `hard and optimal`."""
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} and {last}" if most else last


def _size(value: float | int | None) -> str:
    if value is None:
        return UNDEFINED
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"


def _badness(value: float | None) -> float:
    """Return by what a class is put in order: its score as it is shown; what is undefined comes last."""
    return math.inf if value is None else round(value, 3)
