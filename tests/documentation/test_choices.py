"""docs/explanations/differences.md lists the right defaults, of this package and of other tools."""

import inspect
import re

import pytest
from documents import ROOT

from sedeval_soft.fields import IMPLIED
from sedeval_soft.settings import Settings

TEXT = (ROOT / "docs" / "explanations" / "differences.md").read_text(encoding="utf-8")
ROWS = {
    cells[0]: cells[1:]
    for line in TEXT.splitlines()
    if line.startswith("| ") and len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 5
}


def told(row: str, column: int) -> list[float]:
    """Return the numbers in a cell of the table."""
    return [float(each) for each in re.findall(r"\d+(?:\.\d+)?", ROWS[row][column])]


def default(function, name):
    return inspect.signature(function).parameters[name].default


def test_our_defaults_are_told():
    found = dict(re.findall(r"`(\w+)` ([\w.]+)", " ".join(row[0] for row in ROWS.values())))
    assert len(found) == 14
    ours = {**{name: getattr(Settings(), name) for name in found}, **IMPLIED}
    for name, value in found.items():
        assert str(ours[name]) == value or float(value) == ours[name], name


def test_defaults_of_sed_eval_are_told():
    from sed_eval.sound_event import EventBasedMetrics, SegmentBasedMetrics

    for row, metrics, name in (
        ("length of a segment", SegmentBasedMetrics, "time_resolution"),
        ("collar of onsets", EventBasedMetrics, "t_collar"),
        ("collar of offsets", EventBasedMetrics, "t_collar"),
        ("... or this share of the length", EventBasedMetrics, "percentage_of_length"),
    ):
        assert told(row, 1)[:1] == [default(metrics.__init__, name)]
    assert ROWS["matching of events"][1] == default(EventBasedMetrics.__init__, "event_matching_type")


def test_defaults_of_sed_scores_eval_are_told():
    peer = pytest.importorskip("sed_scores_eval")
    psds = peer.intersection_based.psds
    for row, function, *names in (
        ("length of a segment", peer.segment_based.best_fscore, "segment_length"),
        ("... or this share of the length", peer.collar_based.fscore, "offset_collar_rate"),
        ("weight of recall in F", peer.segment_based.fscore, "beta"),
        ("largest false positive rate of PSDS, per hour", psds, "max_efpr"),
        ("weights of PSDS", psds, "alpha_ct", "alpha_st"),
    ):
        assert told(row, 2)[: len(names)] == [default(function, name) for name in names]
    for function, *names in (
        (peer.segment_based.fscore, "segment_length", "threshold"),
        (peer.collar_based.fscore, "onset_collar", "offset_collar"),
        (psds, "dtc_threshold", "gtc_threshold"),
    ):
        assert all(default(function, name) is inspect.Parameter.empty for name in names)
    assert default(psds, "cttc_threshold") is None
