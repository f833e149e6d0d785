"""Python sources beside tables: arrays of any library, batches, and tables by file; and `reset`."""

import numpy as np
import pandas as pd
import pytest
from tables import columns_of

from sedeval_soft import EvaluationError, Evaluator, evaluate
from sedeval_soft.tables.ticks import as_written

CLASSES = ("car", "dog", "siren")
HOW = {"classes": CLASSES, "segment_length": 0.5, "ci": "jackknife"}


class Array:
    """An array of some library, which has only a protocol."""

    def __init__(self, values):
        self.values = values


class OfNumpy(Array):
    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


class OnDevice(Array):
    """An array on a device, which can be copied to the CPU."""

    def __dlpack__(self, *, dl_device=None, **given):
        if dl_device is None:
            raise BufferError("the array is on device 2")
        return self.values.__dlpack__(**given)

    def __dlpack_device__(self):
        return 2, 0


def batch(seed=0, shape=(3, 20, 3)):
    return np.random.default_rng(seed).random((2, *shape)).round(3)


def steps(values, file=None):
    """Return a data frame with a row for each segment."""
    onset = np.arange(len(values)) * 0.5
    columns = {"onset": onset, "offset": onset + 0.5, **dict(zip(CLASSES, values.T, strict=True))}
    return pd.DataFrame(columns if file is None else {"filename": file, **columns})


def table(values, files="012"):
    return pd.concat([steps(each, file) for each, file in zip(values, files, strict=True)])


def same(scores, other):
    """Require equal results, whatever the sources were."""
    found, wanted = (
        ([each[:] for each in of.scores.values()], of.files, of.length, of.warnings) for of in (scores, other)
    )
    assert found == wanted


# --- arrays ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "kind"),
    [
        *((of, np.float32) for of in (OfNumpy, OnDevice)),
        *((np.asarray, of) for of in (np.float64, np.float16, int, bool)),
    ],
)
def test_arrays_of_any_library_are_what_tables_say(of, kind):
    sides = [side.round(0 if kind in (int, bool) else 2).astype(kind) for side in batch()]
    plain = [side.astype(np.float64).round(2) for side in sides]
    same(evaluate(*map(of, sides), **HOW), evaluate(*map(table, plain), **HOW))
    arrays, frames = ([make(side[0]) for side in of] for make, of in ((of, sides), (steps, plain)))
    # Intervals need several files.
    same(evaluate(*arrays, **HOW | {"ci": None}), evaluate(*frames, **HOW | {"ci": None}))


def in_bfloat16(values):
    """Return values rounded to bfloat16, the upper half of single precision."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


class Brief(Array):
    """An array like PyTorch's: numpy lacks its type, and `float` widens it."""

    dtype = "torch.bfloat16"

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Got unsupported ScalarType BFloat16")

    def float(self):
        return OfNumpy(self.values)


def test_values_of_bfloat16_are_the_decimals_that_they_were_written_as():
    """A value that is near no short decimal stays as it is, and so does NaN."""
    sides = batch().round(2)
    brief = [Brief(in_bfloat16(side)) for side in sides]
    assert (brief[0].values != sides[0]).any()
    same(evaluate(*brief, **HOW), evaluate(*map(table, sides), **HOW))
    values = np.array([1 / 3, 0.5 + 2**-9, 0.25, 0.6, np.nan, np.inf], dtype=np.float32)
    np.testing.assert_array_equal(
        as_written(in_bfloat16(values), bfloat16=True), [0.333984375, 0.5, 0.25, 0.6, np.nan, np.inf]
    )


Y, P = batch()
EVENTS = {"a.wav": [(0.0, 1.5, "car"), (2.0, 3.0, "dog")], "b.wav": [], "c.wav": ((0.5, 9.5, "siren"),)}
TABLE = {"onset": [0.0], "offset": [1.0], "event_label": ["car"]}
WRONG = np.where(np.arange(180).reshape(3, 20, 3) == 65, np.nan, P)


@pytest.mark.parametrize(
    ("reference", "system", "words"),
    [
        (Y, OnDevice(Array(0)), "system: .*OnDevice cannot be read .*; expected its copy on the CPU"),
        (Y, OfNumpy(WRONG), r"system: \[1, 1, 2\] is nan; expected a value in \[0, 1\]"),
        (Y[0], WRONG[1], r"system: \[1, 2\] is nan"),
        (Y, OfNumpy([["x"]]), "expected numbers of shape"),
        (Y, np.ma.masked_array(P), "masked array"),
        (Y, P[:2], r"system: array of shape \(2, 20, 3\); expected that of the reference, \(3, 20, 3\)"),
        (Y[0], P, "expected that of the reference"),
        (table(Y), P, r"system: array of shape \(3, 20, 3\), whose files have no names, beside a table"),
        (Y, {"a": P[0]}, "reference: array of shape .* expected a mapping of file names to arrays"),
        (Y[..., :2], P[..., :2], "2 columns, but classes names 3"),
        # Mappings whose meaning is unclear.
        (EVENTS, {"a.wav": TABLE, "b.wav": [1.0]},
         "'a.wav' has a table and 'b.wav' a column; expected a mapping of"),
        (EVENTS, {0: TABLE, 1: TABLE},
         "keys of a mapping are 0, 1: these could be thresholds, or numbers of files"),
        (EVENTS, {7: P[0]}, "keys of a mapping are 7: .* expected 0.0 or 1.0 .* and text such as '0'"),
        (EVENTS, {0.5: TABLE, "b": TABLE}, "0.5 is not the name of a file; expected text"),
        (EVENTS, {"": TABLE}, "'' is not the name of a file"),
        (EVENTS, {"onset": [(0, 1, "car")], "offset": [], "event_label": []}, "'offset' has 0 rows"),
        (EVENTS, {"a": [(0, 1, "car"), (2, 3)]}, r"system\['a'\]: \[1\] is \(2, 3\); expected \(onset, "),
        (EVENTS, {"a": [(0, "x", "car")]}, r"system\['a'\]: row 0: offset 'x' is not a number"),
        (EVENTS, {"a": [(2.0, 1.0, "car")]}, r"system\['a'\]: row 0: offset"),
        (EVENTS, {"a": TABLE, "b": P[0]}, "system: mixes tables"),
        (EVENTS, {"a": P[0], "b": P[0, :, :2]}, "columns, but classes names 3"),
        (EVENTS, {"a": P, "b": P}, r"system\['a'\]: array of shape \(3, 20, 3\); expected one file"),
        (EVENTS, {"a": TABLE | {"filename": ["b"]}}, r"system\['a'\]: names the recording 'b'; expected 'a'"),
        (EVENTS, {"a": WRONG[1]}, r"system\['a'\]: \[1, 2\] is nan"),
    ],
)  # fmt: skip
def test_sides_that_cannot_be_scored(reference, system, words):
    for action in (
        lambda: evaluate(reference, system, **HOW),
        lambda: Evaluator(**HOW).update(reference, system),
    ):
        with pytest.raises(EvaluationError, match=words):
            action()


# --- by file ---------------------------------------------------------------------------------------

ROWS = pd.DataFrame(
    [(file, *event) for file, events in EVENTS.items() for event in events] + [("b.wav", None, None, None)],
    columns=["filename", "onset", "offset", "event_label"],
)
FILES = [*EVENTS]


def test_scores_and_events_by_file_as_sed_scores_eval_has_them():
    p = batch()[1]
    scores, lengths = dict(zip(FILES, map(steps, p), strict=True)), dict.fromkeys(FILES, 10.0)
    found = evaluate(EVENTS, scores, durations=lengths, **HOW)
    same(found, evaluate(ROWS, table(p, FILES), durations=lengths, **HOW))
    assert [each.form for each in found.inputs] == ["3 files, long data frame", "3 files, wide data frame"]
    points, tables = {0.25: EVENTS, 0.75: {**EVENTS, "a.wav": []}}, {0.25: ROWS, 0.75: ROWS[2:]}
    assert dict(evaluate(EVENTS, points)) == dict(evaluate(ROWS, tables))


@pytest.mark.parametrize(
    "of",
    {
        "arrays": lambda each, _: each,
        "of another library": lambda each, _: OnDevice(each),
        "frames that name it": steps,
        "columns": lambda each, _: {name: column.to_list() for name, column in steps(each).items()},
        "rows": lambda each, _: steps(each).to_dict("records"),
    }.values(),
)
def test_any_table_may_stand_by_its_file(of):
    # Recordings may differ in length.
    sides = [dict(zip(FILES, (side[0], side[1][:7], side[2][:0]), strict=True)) for side in batch()]
    by_file = [{file: of(each, file) if len(each) else [] for file, each in side.items()} for side in sides]
    tables = [
        pd.concat([*(steps(each, file) for file, each in side.items()), pd.DataFrame({"filename": FILES})])
        for side in sides
    ]
    same(evaluate(*by_file, **HOW), evaluate(*tables, **HOW))


# --- reset -----------------------------------------------------------------------------------------


def test_after_a_reset_an_evaluator_is_a_fresh_one():
    """Files that were counted before may be counted again."""
    used, fresh = (Evaluator(**HOW, name="x") for _ in range(2))
    used.update(*batch(), files=list("abc")).compute()
    found, wanted = (of.update(*batch(1), files=list("cab")).compute() for of in (used.reset(), fresh))
    assert found.to_dict() == wanted.to_dict()


# --- exchanged: scores of a system as the reference, and events of the reference as the system -----

HARD = columns_of([("a", 0.0, 3.0, "car")])
SCORED = np.random.default_rng(0).random(100).round(4).tolist()


def frames(length, values):
    """Return time steps of one class."""
    return columns_of([("a", k * length, (k + 1) * length, "car", value) for k, value in enumerate(values)])


@pytest.mark.parametrize(
    ("reference", "system", "n_told"),
    [
        (frames(0.064, SCORED), HARD, 1),
        (HARD, frames(0.064, SCORED), 0),
        # Both sides have values, so either may be the reference.
        (frames(0.064, SCORED), frames(0.064, SCORED), 0),
        # Annotators give values for whole seconds, or few different values.
        (frames(1.0, SCORED), HARD, 0),
        (frames(0.2, [k % 6 / 5 for k in range(100)]), HARD, 0),
    ],
)
def test_frames_as_the_reference_of_events_are_told(reference, system, n_told):
    assert sum("are exchanged" in text for text in evaluate(reference, system).warnings) == n_told
