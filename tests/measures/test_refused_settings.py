"""Impossible settings of measures, segments and events are refused; each error names the setting."""

import numpy as np
import pytest

from sedeval_soft.errors import SettingsError
from sedeval_soft.settings import Settings

NO_PARTS = (["car"], {"": ["car"]}, {"a@b": ["car"]}, {"a\n": ["car"]}, {"a": []}, {"a": [1]},
            {"a": ["car", "car"]})  # fmt: skip


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        # Groups and scenes, whose names become parts of score names.
        *(({setting: value}, setting) for setting in ("groups", "scenes") for value in NO_PARTS),
        ({"groups": {"a": ["car"]}, "scenes": {"a": ["*"]}}, "groups|scenes"),
        # Constraints of best thresholds.
        *(
            ({"satisfice": text}, "satisfice|precision>=0.9")
            for text in (
                "precision",
                "error_rate>=0.9",
                "precision>=1.1",
                "fpr_per_hour<=1e999",
                "mcc at recall>=0.5",
                0.5,
            )
        ),
        ({"satisfice": "precision>=0.5", "only": ("segment.hard",)}, "satisfice|precision>=0.9"),
        # Shares, and settings in conflict with matching by overlap.
        *(({name: 0.0}, name) for name in ("dtc", "gtc", "cttc")),
        ({"match_by": "iou", "onset": False}, "onset"),
        ({"match_by": "iou", "offset": False, "onset_collar": 0.1}, "onset_collar, offset"),
        ({"match_by": "iou", "offset_collar_rate": 0.2}, "offset_collar_rate"),
        ({"match_by": "iou", "compat": "sed_eval"}, "match_by=collar"),
        ({"match_by": "iou", "iou": 0}, "iou"),
        ({"match_by": "overlap"}, "match_by"),
        # Lengths of segments.
        *(
            ({"segment_length": text}, "segment_length")
            for text in ("1/0", "a/3", "1/3/3", "/3", "-1/3", "1e3/3", "")
        ),
        # Silence is never active: otherwise segments without rows would be active, but events need a row.
        *(({"inclusive": True, name: 0.0}, "threshold") for name in ("threshold", "reference_threshold")),
        ({"inclusive": True, "thresholds": {"car": 0.0}}, "threshold"),
        *(({"reference_threshold": value}, "threshold") for value in (-0.1, 40)),
        *(({"threshold": value}, "threshold") for value in (-0.1, -3, 50.0)),
        # Post-processing.
        *(({"min_gap": value}, "min_gap") for value in (-1, "1")),
        *(({"median_filter": value}, "median_filter") for value in ({"a": np.nan}, {1: 0.5})),
        ({"min_duration": 1, "events": "rows"}, "min_duration|events"),
        ({"median_filter": 1, "psds_median_filters": [1]}, "median_filter"),
    ],
)
def test_settings_that_cannot_be_are_refused(chosen, named):
    with pytest.raises(SettingsError, match=named):
        Settings.of(**chosen)


def test_settings_keep_lists_and_take_one_text_for_a_list():
    chosen = Settings.of(groups={"g": ["car", "bus"]}, scenes={"s": "street_*", "p": ("a*", "b*")})
    assert (chosen.groups, chosen.scenes["s"]) == ({"g": ("car", "bus")}, ("street_*",))
    assert Settings.of(**chosen.to_dict()).groups == chosen.groups
    assert Settings.of(groups=None, scenes=None) == Settings() and hash(Settings()) == hash(Settings())
    assert Settings(threshold=0, reference_threshold=0.5).threshold == 0
