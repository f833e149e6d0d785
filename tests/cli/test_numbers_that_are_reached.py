"""What is required of a score, and what thresholds are held to, is met where it is met but for rounding."""

from __future__ import annotations

import pytest
from called import call

HEAD = "filename\tonset\toffset\tevent_label\tvalue"
NINE_TENTHS = [(0.4, 0.0), (0.9, 0.9), (1.0, 1.0), (0.5, 0.8), (0.6, 0.2), (0.1, 0.1)]
"""Of 3.0 in the system 2.7 are right."""


@pytest.fixture
def files(tmp_path):
    def written(pairs, length=100):
        paths = []
        for side in (0, 1):
            rows = [
                f"{k // length}.wav\t{k % length}\t{k % length + 1}\tcar\t{pair[side]}"
                for k, pair in enumerate(pairs)
            ]
            paths.append(tmp_path / f"{side}.tsv")
            paths[-1].write_text("\n".join([HEAD, *rows, ""]), encoding="utf-8")
        return paths

    return written


@pytest.mark.parametrize(
    ("requirement", "code"),
    [
        (">=0.9", 0),
        ("<=0.9", 0),
        ("==0.9", 0),
        (">0.9", 1),
        ("<0.9", 1),
        (">=0.900000001", 1),
        (">=0.9001", 1),
    ],
)
def test_a_requirement_of_a_decimal_is_met_by_it(files, requirement, code):
    name = "segment.soft.precision.micro"
    done = call(*files(NINE_TENTHS), "--only", "segment.soft", "--require", f"{name}{requirement}", "-q")
    assert done.code == code, done.err


@pytest.mark.parametrize(("seconds", "limit"), [(2, 1800), (4, 900), (8, 450)])
def test_alarms_per_hour_are_counted_in_whole_ticks(files, seconds, limit):
    """Three files of so many seconds, and three alarms above the only hit: just so many an hour."""
    pairs = [(0, 0.9)] * 3 + [(1, 0.8)] + [(0, 0)] * (3 * seconds - 4)
    done = call(
        *files(pairs, seconds), "--only", "segment.optimal", "--satisfice", f"fpr_per_hour<={limit}",
        "--score", "segment.optimal.satisficed_recall[car]",
    )  # fmt: skip
    assert done.out.strip() == "1.0", done.err
