"""The first screen of one system, in lines that fit the terminal.

It names one score, then has the main averages of each basis and reading, the weakest classes, and the next
commands. Its content does not depend on the terminal: columns that do not fit are named. All tables are on
the page of `report.page`, which `-v` prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath

from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.scores import Score, Scores, has_soft_reference, main_score
from sedeval_soft.evaluation.signature import POINT
from sedeval_soft.measures.registry import MEASURES, OVERALL, ScoreName
from sedeval_soft.names import told_apart
from sedeval_soft.report.fitted import (
    UNDEFINED,
    Column,
    cells,
    clipped,
    folded,
    interval,
    lines_and_rest,
    number,
    shortened,
    styled,
    wrapped,
)
from sedeval_soft.report.legend import (
    footnotes,
    has_length,
    legend,
    marked,
    measure_label,
    missed_classes,
    percent,
    settings_of,
    short,
    silent,
)
from sedeval_soft.report.shown import Family, in_order, shown
from sedeval_soft.settings import CLASS_MEANS, PART_MEANS, settings_in, split_name

WIDTH = 80
NARROWEST = 60
"""Cells of a terminal below which a screen does not fit it."""

_MOST = 10
"""Groups and scenes that are shown."""

_WEAKEST = 3
"""Classes that are named as the weakest, and in a note."""

_SHORTEST = 16
"""Cells of a terminal below which no name of a class is shortened before columns are left out."""

_MOST_OTHER = 3
"""Lines of measures that were asked for."""

_ASKED = {"precision", "roc", "divergence", "calibration", "ranking", "label-wise", "joint", "satisficed",
          "grounding"}  # fmt: skip
"""Tables of measures that are computed only if asked for."""

_LOW, _FAR = 0.5, 0.2
"""Precision or recall below which it is low; optimal over soft F above which small values are why."""

_MOST_ROWS = 12
"""Rows of averages up to which each has its chance level and its spread over folds below it."""


class Screen:
    """Content and style of the screen of a system, in lines of at most `width` cells of a terminal.

    by_class: show every class, group and scene. order: the basis and reading of each row, the rows of the
    named score first. two: the readings of each basis by which classes are shown: the first, and tuned or
    else the second. sized: the reading of each basis in which the reference is counted beside classes: hard
    if it is there. f: the measure that is F here.
    """

    def __init__(
        self, scores: Scores, width: int = WIDTH, *, color: bool = False, by_class: bool = False
    ) -> None:
        """Look through the scores for all that more than one part of the screen needs."""
        # Of many classes there are many scores: they are looked through as seldom as can be.
        self.scores, self.settings = shown(scores), scores.settings
        self.hides = self.scores is not scores
        self.width, self.color, self.by_class = width, color, by_class
        self.has_intervals = self.settings.ci is not None or bool(scores.runs)
        self.f = "f1" if self.settings.beta == 1 else "fbeta"
        main = main_score(self.scores)
        self.main = ScoreName.parse(main) if main else None
        whole = [score for score in self.scores.scores.values() if score.group is None]
        self.of_all = [score for score in whole if score.average is not None]
        known = {(score.basis, score.reading) for score in whole if score.measure == self.f}
        self.order = [family for family in in_order(self.scores) if family in known]
        of_basis: dict[str, list[str]] = {}
        for basis, reading in self.order:
            of_basis.setdefault(basis, []).append(reading)
        self.two = {
            basis: [first, *(["tuned"] if "tuned" in others else others[:1])]
            for basis, (first, *others) in of_basis.items()
        }
        self.sized = {basis: "hard" if "hard" in each else each[0] for basis, each in of_basis.items()}
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
        self.named: list[str] = []

    def text(self, *, words: bool) -> str:
        """Return all lines; words: explain the words on the screen."""
        averages = self._averages()
        system = self._mean_of_runs() if self.scores.runs else name_of(self.scores.system)
        title = title_lines(system, self.scores, self.width, color=self.color)
        blocks = [title, main_lines(self.scores, self.width, color=self.color), averages]
        blocks += [self._other(), self._parts(), self._classes() if self.by_class else []]
        weakest = [] if self.by_class else self._weakest()
        blocks.append([*weakest, *self._notes(averages)])
        blocks.append(word_lines(self.scores, self.order, self.averages, self.width) if words else [])
        hints = "-v all tables | --words meanings | --by-class | soft-sed-eval report"
        ends = folded(f"More: {hints}", self.width)
        ends += signature_lines(self.scores.short_signature, self.width)
        blocks.append([styled(line, "dim", color=self.color) for line in ends])
        return "\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)

    # The inputs.

    def _mean_of_runs(self) -> str:
        """Return the name of a mean of runs."""
        # Without a name of their own they are called by all their names.
        name, n_runs = self.scores.system, counted(len(self.scores.runs), "run")
        return f"mean of {n_runs}" if name.startswith("mean of ") else f"{name_of(name)}, mean of {n_runs}"

    # The averages of each basis and reading, and their meaning.

    def _averages(self) -> list[str]:
        if not self.order:
            return []
        beside: dict[str, Mapping[str, float | int | None]] = {}
        if self.scores.chance and self.few:
            beside["chance"] = {name: level.chance for name, level in self.scores.chance.levels.items()}
        if self.scores.folds and self.few:
            beside["± folds"] = {each.name: each.deviation for each in self.scores.folds.spreads}
        width = max(len(basis) for basis, _ in self.order)
        texts, last = [], ""
        for basis, reading in self.order:
            texts.append(f"{basis if basis != last else '':<{width}}  {marked(reading, self.scores)}")
            texts += [f"{'':<{width}}    {name}" for name in beside]
            last = basis
        dim = ["", *["dim"] * len(beside)] * len(self.order)
        labels = Column("", "", texts, dim, left=True)

        def column(name: str, measure: str, average: str, rank: int, *, ends: bool = False) -> Column:
            """Return a measure of each row, or its interval, and the numbers beside the scores."""
            texts, styles = [], []
            for stem in map(".".join, self.order):
                key = f"{stem}.{measure}.{average}"
                score = self.scores.scores.get(key)
                rest = ["" if ends or key not in of else number(of[key]) for of in beside.values()]
                shown = "" if score is None else _ends(score) if ends else number(score.value)
                texts += [shown, *rest]
                styles += ["dim" * ends or "bold" * (key == str(self.main)), *["dim"] * len(rest)]
            return Column("", name, texts, styles, rank=rank)

        columns: dict[str, Column] = {}
        for place, average in enumerate(self.averages):
            heading = average if len(self.scores.classes) > 1 else ""
            f = f"{measure_label(self.settings, self.f)} {heading}".strip()
            # Blanks before a name set the columns of an average off.
            columns[f] = column("  " * place + f, self.f, average, place)
            if self.has_intervals:
                sure = percent(self.settings.confidence)
                columns[f"interval of {f}"] = column(sure, self.f, average, 2 + 2 * place, ends=True)
            for name, measure in (("P", "precision"), ("R", "recall")):
                columns[f"{name} {heading}".strip()] = column(name, measure, average, 5 + place)
        columns["ER"] = column("ER", "error_rate", self.averages[-1], 3)
        return [
            *lines_and_rest(labels, columns, self.width, shortest=labels.width, color=self.color),
            *(line for note in footnotes(self.scores, self.order) for line in folded(note, self.width)),
        ]

    # Other requested scores.

    def _other(self) -> list[str]:
        """Return scores without an average of classes, such as PSDS, and other requested measures."""
        first: dict[tuple[str, str, str], Score] = {}
        # Each is told in one average: over all classes, else by that of the named score, macro, micro.
        named = self.main and self.main.average
        for average in (OVERALL, named, "macro", "micro", "weighted"):
            for score in self.of_all:
                if score.average == average:
                    first.setdefault((score.basis, score.reading, score.measure), score)
        told: dict[str, list[str]] = {}
        for score in self.of_all:
            _, measure = MEASURES[score.basis, score.reading, score.measure]
            asked = score.average == OVERALL or measure.table in _ASKED
            # PSDS in the soft reading of a hard reference is the number of the hard reading again.
            again = (
                score.measure == "psds" and score.reading == "soft" and not has_soft_reference(self.scores)
            )
            if asked and not again and first.get((score.basis, score.reading, score.measure)) is score:
                average = "" if score.average == OVERALL else f" {score.average}"
                label = measure_label(self.settings, score.measure)
                value = f"{label} {number(score.value)} {_ends(score)}".rstrip()
                told.setdefault(f"{score.basis} {score.reading}{average}", []).append(value)
        for name in self.settings.variants:
            own, text = self.scores.scores.get(name), split_name(name)[1]
            same = own and own.measure == "psds" and own.reading == "soft"
            if own and not (same and not has_soft_reference(self.scores)):
                label = measure_label(settings_of(self.settings, text), own.measure)
                # Some labels have their one setting already.
                told_by = {"psds": ["psds"], "recall_at_iou": ["iou"]}.get(own.measure)
                suffix = "" if told_by == [*settings_in(text)] else f" @{text}"
                average = "" if own.average == OVERALL else f" {own.average or own.class_name}"
                value = f"{label}{suffix} {number(own.value)} {_ends(own)}".rstrip()
                told.setdefault(f"{own.basis} {own.reading}{average}", []).append(value)
        lines = [
            line for family, values in told.items() for line in wrapped(values, self.width, f"{family}  ")
        ]
        if len(lines) <= _MOST_OTHER:
            return lines
        lines = lines[: _MOST_OTHER - 1]
        # What is on them is counted by the points between.
        left = sum(map(len, told.values())) - sum(line.count(POINT) + 1 for line in lines)
        return [*lines, f"and {left} more such measures: -v"]

    # Classes, groups and scenes.

    def _classes(self) -> list[str]:
        labels = self.scores.classes
        return self._by_name("class", labels, lambda stem, label: f"{stem}[{label}]", self.labels)

    def _parts(self) -> list[str]:
        """Return F of groups and scenes: the macro average of each."""
        # Means over parts are not parts.
        folds = {None, *PART_MEANS, *(self.scores.folds.names if self.scores.folds else ())}
        every = self.scores.scores
        groups = dict.fromkeys(score.group for name, score in every.items() if not split_name(name)[1])
        names = [part for part in groups if part is not None and part not in folds]
        if not names:
            return []
        kind = "group" if {*names} <= {*self.settings.groups} else "scene"
        average = self.averages[0] if self.averages else "macro"
        return self._by_name(f"{kind}, {average}", names, lambda stem, part: f"{stem}.{average}@{part}", {})

    def _by_name(
        self,
        kind: str,
        names: Sequence[str],
        score_name: Callable[[str, str], str],
        shown_as: Mapping[str, str],
    ) -> list[str]:
        """Return F of each basis, and the size of the reference, of classes or parts, the worst first."""
        columns: dict[str, Column] = {}
        values: list[list[float | None]] = []
        scores = self.scores.scores
        for place, (basis, readings) in enumerate(self.two.items()):
            for at, reading in enumerate(readings):
                members = [scores.get(score_name(f"{basis}.{reading}.{self.f}", name)) for name in names]
                values.append([None if m is None else m.value for m in members])
                rank, texts = 3 * place + at, ["" if m is None else number(m.value) for m in members]
                columns[f"{basis} {reading}"] = Column(basis, reading, texts, rank=rank)
                if self.has_intervals:
                    ends = [_ends(m) if m else "" for m in members]
                    columns[f"intervals of {basis} {reading}"] = Column(
                        basis, percent(self.settings.confidence), ends, ["dim"] * len(names), rank=20 + rank
                    )
            sizes = [scores.get(score_name(f"{basis}.{self.sized[basis]}.n_ref", name)) for name in names]
            texts = ["" if size is None else _size(size.value) for size in sizes]
            columns[f"n of {basis}"] = Column(basis, "n", texts, ["dim"] * len(names), rank=3 * place + 2)
        if not any(any(column.texts) for column in columns.values()):
            return []

        def badness(k: int) -> list[float]:
            """Return the scores of a row as they are shown; undefined scores come last."""
            return [math.inf if column[k] is None else round(column[k] or 0, 3) for column in values]

        order = sorted(range(len(names)), key=badness)
        # One more row takes no more room than a line about it.
        most = len(names) if self.by_class or len(names) <= _MOST + 1 else _MOST
        texts = [shown_as.get(name) or visible(name) for name in names]

        def some(column: Column) -> Column:
            pick = order[:most]
            styles = [column.styles[k] for k in pick] if column.styles else ()
            return column._replace(texts=[column.texts[k] for k in pick], styles=styles)

        first = " ".join(self.order[0])
        f = measure_label(self.settings, self.f)
        title = f"{f} by {kind}, worst {first} first (n: {self.order[0][0]}s of the reference)"
        named = {name: some(column) for name, column in columns.items()}
        labels = some(Column("", "", texts, left=True))
        lines = lines_and_rest(labels, named, self.width, shortest=_SHORTEST, color=self.color)
        if len(names) > most:
            lines.append(f"... and {len(names) - most} more, which are better: --by-class")
        return [clipped(title, self.width), *lines]

    def _weakest(self) -> list[str]:
        """Return the classes with the lowest F in the first row, with the sizes of their references."""
        if not self.order or len(self.scores.classes) < 2:
            return []
        basis, reading = self.order[0]
        values = self._of_classes(basis, reading, self.f)
        sizes = self._of_classes(basis, self.sized[basis], "n_ref")
        # A class without reference is in no macro average, and its F is no sign of weakness.
        known = (label for label, v in values.items() if v is not None and sizes.get(label) != 0)
        # By scores as they are shown.
        classes = sorted(known, key=lambda c: round(values[c] or 0, 3))
        self.named = classes[:_WEAKEST]
        parts = []
        for k, label in enumerate(self.named):
            size = sizes.get(label)
            unit = f" {basis}{'s' * (size != 1)}" * (not k)
            about = [f"{_size(size)}{unit}"] if size is not None else []
            about += [self.missed[label]] if label in self.missed else self._errors(basis, reading, label)
            parts.append(
                f"{self.labels[label]} {number(values[label])}" + f" ({', '.join(about)})" * bool(about)
            )
        line = f"Weakest classes ({basis}, {reading}): {', '.join(parts)}"
        return folded(line, self.width) if parts else []

    def _errors(self, basis: str, reading: str, label: str) -> list[str]:
        """Return the errors that lower F of a class most, if they are many: misses or false alarms."""
        rates = {"R": ("recall", "misses"), "P": ("precision", "false alarms")}
        values = {
            rate: self._of_classes(basis, reading, name).get(label) for rate, (name, _) in rates.items()
        }
        low = {rate: value for rate, value in values.items() if value is not None and value < _LOW}
        rate = min(low, key=lambda each: low[each], default="")
        return [f"{rate} {number(low[rate])}: many {rates[rate][1]}"] if rate else []

    # Notes, and the next steps.

    def _of_classes(self, basis: str, reading: str, measure: str) -> dict[str, float | int | None]:
        """Return a measure by class, of the classes that have it."""
        stem, scores = f"{basis}.{reading}.{measure}", self.scores.scores
        found = {label: scores.get(f"{stem}[{label}]") for label in self.scores.classes}
        return {label: score.value for label, score in found.items() if score is not None}

    def _notes(self, averages: Sequence[str]) -> list[str]:
        """Return the notes on this result; averages: the lines of their table."""
        notes, scores = list[str](), self.scores
        if self.order:
            others = {label: why for label, why in self.missed.items() if label not in self.named}
            notes += [*self._by_reason(others, mark="! "), *self._by_reason(self.absent)]
            notes += [*self._classes_of_macro(), *self._lowered(), *self._faint()]
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
        return [
            styled(line, "bad" * line.startswith("! "), color=self.color)
            for note in notes
            for line in folded(note, self.width)
        ]

    def _value(self, basis: str, reading: str, measure: str, average: str) -> float:
        """Return an average, NaN if it is undefined or was not computed."""
        score = self.scores.scores.get(f"{basis}.{reading}.{measure}.{average}")
        return math.nan if score is None or score.value is None else score.value

    def _faint(self) -> Iterator[str]:
        """Yield why soft F is low beside optimal F: small values that add up, which any threshold removes."""
        f = measure_label(self.settings, self.f)
        for basis, reading in self.order:
            if reading == "optimal" and has_soft_reference(self.scores):
                soft, best = (self._value(basis, r, self.f, self.averages[0]) for r in ("soft", reading))
                p = self._value(basis, "soft", "precision", self.averages[0])
                if p < _LOW and best - soft > _FAR:
                    yield (
                        f"{basis}: many small values of the system add up to false alarms in the soft "
                        f"reading (P {number(p)}, {f} {number(soft)}); a threshold removes them (optimal {f} "
                        f"{number(best)})"
                    )

    def _lowered(self) -> Iterator[str]:
        """Yield, for each basis with an optimal micro F below the hard one, the class that lowers it most."""
        f = measure_label(self.settings, self.f)
        for basis, reading in self.order:
            hard, best = (round(self._value(basis, r, self.f, "micro"), 3) for r in ("hard", reading))
            before, after = (self._of_classes(basis, r, "fp") for r in ("hard", reading))
            if reading == "optimal" and best < hard and after:
                # A gain of one class in F may cost all classes together more precision.
                label = max(after, key=lambda c: (after[c] or 0) - (before.get(c) or 0))
                of_class = number(self._of_classes(basis, reading, self.f)[label])
                yield (
                    f"! {basis}: optimal micro {f} {number(best)} is below hard {number(hard)}: "
                    f"{self.labels[label]} has {_size(after[label])} false alarms at its best threshold "
                    f"({f} {of_class}), {_size(before.get(label))} in the hard reading"
                )

    def _absent(self) -> dict[str, str]:
        """Return the classes that readings have no reference of: why, and which readings leave them out."""
        why: dict[str, str] = {}
        readings: dict[str, list[str]] = {}
        every = {reading for _, reading in self.order}
        for reading in dict.fromkeys(reading for _, reading in self.order):
            # Onsets alone are events, though no segment is active.
            first, *others = [silent(self.scores, f, "reference") for f in self.order if f[1] == reading]
            for label in (label for label in first if all(label in other for other in others)):
                why.setdefault(label, first[label])
                readings.setdefault(label, []).append(reading)
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
        """Yield a line for all classes with one reason; it names the first of them."""
        mark *= len(self.scores.classes) > 1
        for why in dict.fromkeys(reasons.values()):
            names = [self.labels[label] for label, reason in reasons.items() if reason == why]
            # One more row takes no more room than a line about it.
            some = names if len(names) <= _WEAKEST + 1 else names[:_WEAKEST]
            more = f" and {len(names) - len(some)} more" * (some != names)
            yield f"{mark}{', '.join(some)}{more}: {why}"


def _ends(score: Score) -> str:
    return interval(score.low, score.high)


def _listed(names: Sequence[str]) -> str:
    """Return names, each once, as `hard and optimal`."""
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} and {last}" if most else last


def _size(value: float | int | None) -> str:
    if value is None:
        return UNDEFINED
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"


# The first and the last lines of a screen.


_MOST_LINES = 3
"""Lines of a signature on a screen that `-vv` shows in full."""


def title_lines(scored: str, scores: Scores, width: int, *, color: bool = False) -> list[str]:
    """Return the scored input, such as the name of a system, its reference, and the amount of data."""
    settings = scores.settings
    reference = next((name_of(i.name) for i in scores.inputs if i.role == "reference"), "the reference")
    cut = (
        "" if settings.reference_cut == settings.threshold else f"reference > {short(settings.reference_cut)}"
    )
    # With three digits or so: `213 s`, `174 min`, `29.1 h`.
    seconds = scores.length
    lasting = f"{seconds:.3g} s" if seconds < 600 else f"{seconds / 60:.0f} min"
    lasting = lasting if seconds < 36_000 else f"{seconds / 3600:.0f} h"
    sizes = (
        counted(len(scores.files), "file"),
        lasting if has_length(scores) else "",
        counted(len(scores.classes), "class"),
    )
    told = ", ".join(filter(None, (*sizes, cut)))
    room = (width - cells(" against ")) // 2
    title = f"{shortened(scored, room)} against {shortened(reference, room)}"
    lines = [styled(title, "bold", color=color)]
    if cells(title) + 4 + cells(told) <= width:
        return [f"{lines[0]}    {told}"]
    return [*lines, clipped(told, width)]


def main_lines(scores: Scores, width: int, *, color: bool = False) -> list[str]:
    """Return the line that names one score, and the reason for this choice; none without F1."""
    name = main_score(scores)
    if name is None:
        return []
    score = scores.scores[name]
    value = f"{visible(name)}   {number(score.value)} {interval(score.low, score.high)}".rstrip()
    line = styled(clipped(value, width), "bold", color=color)
    kind = "soft" if has_soft_reference(scores) else "hard"
    ranks = name == scores.settings.rank_by
    why = "report this: it ranks systems" if ranks else f"report this: the reference is {kind}"
    return [f"{line}        {why}"] if cells(value) + 8 + cells(why) <= width else [line, f"  {why}"]


def word_lines(scores: Scores, order: Sequence[Family], averages: Sequence[str], width: int) -> list[str]:
    """Return a line for each word on a screen, with its meaning in this call."""
    words = legend(scores, order, averages)
    margin = max(map(cells, words), default=0) + 2
    return [
        f"{word if not k else '':<{margin}}{line}"
        for word, text in words.items()
        for k, line in enumerate(folded(text, width - margin, ""))
    ]


def signature_lines(signature: str, width: int, most: int | None = _MOST_LINES) -> list[str]:
    """Return a signature in short on lines: on so many at most, as many as it takes for None."""
    parts = list(map(visible, signature.split(POINT)))
    lines, left_out = wrapped(parts, width), 0
    while most is not None and len(lines) > most and len(parts) > 2:
        del parts[1]
        left_out += 1
        lines = wrapped([parts[0], f"{left_out} more (-vv)", *parts[1:]], width)
    return lines


def name_of(path: str) -> str:
    """Return the last part of a path in a safe form; the role for an input without a file."""
    if path in {"reference", "system"}:
        return f"the {path}"
    return visible(PurePath(path).name or path)
