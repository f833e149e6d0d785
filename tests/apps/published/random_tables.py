"""Random event tables for golden numbers of other evaluators, the same for a seed on every machine.

    case = random_case("few-shot", 17, label_ignored="UNK")
    case.reference, case.system        # rows, in the order in which a table has them

Golden files contain numbers and a seed, not the tables, so **the tables of a seed must never change**: add
options whose default draws nothing, and keep the order of the draws. This module uses only the stream of
`random.Random` that Python guarantees, so that an old Python draws the same tables. `make_numbers.py` runs in
an environment of the evaluator, so this module needs nothing but Python 3.8 and numpy.

Times are whole steps of a coarse grid, drawn for each case (`per_second` steps a second). So equal times,
touching events, and overlaps of exactly a third, a half or 0.3 are frequent. A time is `steps / per_second`,
the float nearest to the decimal number in a table. About half of the detections are events of the
reference, moved by a few steps at either end; the others have random times.
"""

import random
from collections import namedtuple
from types import SimpleNamespace

import numpy as np

Row = namedtuple("Row", "file onset offset label score", defaults=[None])
"""An event: name of the file, seconds, class, and its score (None unless `scores`)."""

Case = namedtuple("Case", "number per_second files length reference system")
"""Two tables. files: all names, also of files without rows; length: of every file, in seconds."""

DEFAULTS = {
    "files": 4, "classes": ("a", "b", "c"), "events": 8, "length": 60, "longest": 12, "shortest": 1,
    "grids": (1, 4, 10, 20), "empty": 0.15, "repeated": 0.1, "shuffled": 0.5, "apart": False,
    "label_ignored": "", "ignored": 0.25, "alone": 0.0, "least": 0, "scores": False,
}  # fmt: skip
"""Options of the tables.

- files: the most files of a case, at least one
- classes: names to draw from; a case has some of them
- events: the most events in a file of either side
- length: the longest time of a file in steps of the grid
- longest, shortest: lengths of an event in steps; a shortest of 0 allows events without an extent
- grids: steps a second; each case draws one
- empty: how likely a file has no event, for each side separately
- repeated: how likely a row is in the table twice
- shuffled: how likely the rows of a side are in random order; else they are by file and onset
- apart: whether events of one class and file never overlap (they may touch)
- label_ignored: a class such as "UNK" that replaces the class of some reference events
- ignored: how likely an event of the reference gets `label_ignored`
- alone: how likely only one side has a file, either side in half of the cases
- least: the fewest events of the reference in a file that is not empty
- scores: the system's rows have a score in twentieths, so that many are equal
"""


class Draws:
    """Draws from the stream of numbers in [0, 1) that Python keeps the same for a seed."""

    def __init__(self, seed):
        self._next = random.Random(seed).random  # noqa: S311 - nothing secret

    def below(self, n):
        return int(self._next() * n)

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, probability):
        return self._next() < probability

    def one_of(self, items):
        return items[self.below(len(items))]

    def shuffle(self, items):
        """Put the items of a list into a random order."""
        for k in range(len(items) - 1, 0, -1):
            other = self.below(k + 1)
            items[k], items[other] = items[other], items[k]


def case_of(golden, number):
    """Return one case of the tables of a golden file."""
    return random_case(golden["seed"], number, **golden["tables"])


def random_case(seed, number, **options):
    """Return a case, which depends only on the seed and its own number."""
    options, draws = SimpleNamespace(**{**DEFAULTS, **options}), Draws(f"{seed} {number}")
    per_second = draws.one_of(options.grids)
    files = [f"file{k}.wav" for k in range(draws.between(1, options.files))]
    case = Case(number, per_second, files, options.length / per_second, [], [])
    classes = options.classes[: draws.between(1, len(options.classes))]
    for name in files:
        lone = draws.below(2) if options.alone and draws.chance(options.alone) else None
        reference = [] if draws.chance(options.empty) else _events(draws, options, classes, None)
        system = [] if draws.chance(options.empty) else _events(draws, options, classes, reference)
        if options.label_ignored:
            reference = [
                (onset, offset, options.label_ignored if draws.chance(options.ignored) else label)
                for onset, offset, label in reference
            ]
        for rows, events, side in ((case.reference, reference, 0), (case.system, system, 1)):
            for onset, offset, label in events if lone in (None, side) else ():
                score = draws.between(1, 20) / 20 if options.scores and side else None
                row = Row(name, onset / per_second, offset / per_second, label, score)
                rows.extend([row] * (1 + draws.chance(options.repeated)))
    for rows in (case.reference, case.system):
        if draws.chance(options.shuffled):
            draws.shuffle(rows)
        else:
            rows.sort(key=lambda row: (row.file, row.onset))
    return case


def _events(draws, options, classes, reference):
    """Return events (onset, offset, class) of one file in steps; some are near events of the reference."""
    events = []
    most = options.events
    for _ in range(draws.between(0 if reference is not None else min(options.least, most), most)):
        if reference and draws.chance(0.5):
            onset, offset, label = draws.one_of(reference)
            onset, offset = onset + draws.between(-2, 2), offset + draws.between(-2, 2)
            if draws.chance(0.1):
                label = draws.one_of(classes)
        else:
            onset = draws.below(options.length)
            offset = onset + draws.between(options.shortest, options.longest)
            label = draws.one_of(classes)
        onset = min(max(onset, 0), options.length - options.shortest)
        offset = min(max(offset, onset + options.shortest), options.length)
        overlapping = (x for x in events if x[2] == label and x[0] < offset and onset < x[1])
        if not options.apart or next(overlapping, None) is None:
            events.append((onset, offset, label))
    return events


# Inputs of single evaluators.


def speech_cases(count, first=0):
    """Yield pyannote's tables, the collar, whether to leave out overlaps, and regions by recording."""
    for number in range(first, count):
        case = random_case("pyannote", number, shortest=0, events=10, alone=0.1)
        draws = Draws(f"pyannote settings {number}")
        collar, skip_overlap = draws.one_of((0.0, 0.0, 0.05, 0.5)), draws.chance(0.3)
        regions = {}
        for name in case.files if draws.chance(0.5) else ():
            edges = sorted(draws.below(61) / case.per_second for _ in range(4))
            regions[name] = [(edges[0], edges[1]), (edges[2], edges[3])]
        yield case, collar, skip_overlap, regions


DESED = ("Alarm_bell_ringing", "Blender", "Cat", "Dishes", "Dog", "Electric_shaver_toothbrush", "Frying",
         "Running_water", "Speech", "Vacuum_cleaner")  # fmt: skip
MAESTRO = ("birds_singing", "car", "people talking", "footsteps", "children voices", "wind_blowing",
           "brakes_squeaking", "large_vehicle", "cutlery and dishes", "metro approaching",
           "metro leaving")  # fmt: skip
PARTS = {"desed": DESED, "maestro": MAESTRO}
"""The classes of both data sets of DCASE 2024 task 4."""


def data_sets(golden, number):
    """Return by data set the events by file and the scores by file, (20, 21); MAESTRO's scores may tie."""
    sides, seed = {}, golden["seed"]
    draws = Draws(f"scores {seed} {number}")
    for part, classes in PARTS.items():
        case = random_case(f"{seed} {part}", number, **golden["tables"], classes=classes)
        events = {f"{part}_{name}": [] for name in case.files}
        for row in case.reference:
            events[f"{part}_{row.file}"].append((row.onset, row.offset, row.label))
        if number % 10:
            # sed_scores_eval stops unless each class has an event.
            events[f"{part}_all"] = [(float(k), float(k + 2), label) for k, label in enumerate(classes)]
        events = {name: _joined(rows) for name, rows in events.items()}
        scores = {}
        for name, rows in events.items():
            values = np.array([[draws.below(1 << 30) for _ in range(21)] for _ in range(20)]) / (1 << 31)
            for onset, offset, label in rows:
                values[int(onset) : int(offset), (DESED + MAESTRO).index(label)] += draws.below(5) / 10
            scores[name] = np.round(values, 1) if part == "maestro" and number % 2 else values
        sides[part] = (events, scores)
    return sides


def _joined(events):
    """Return events (onset, offset, class), with touching events of one class joined."""
    result = []
    for onset, offset, label in sorted(events, key=lambda event: (event[2], event)):
        if result and result[-1][2] == label and onset <= result[-1][1]:
            result[-1] = (result[-1][0], max(offset, result[-1][1]), label)
        else:
            result.append((onset, offset, label))
    return result
