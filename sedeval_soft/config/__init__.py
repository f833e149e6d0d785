"""Settings from files."""

from sedeval_soft.config.load import load_settings, split_classes
from sedeval_soft.config.presets import PRESETS, classes_of_preset, load_preset
from sedeval_soft.config.thresholds import dump_thresholds, load_thresholds

__all__ = [
    "PRESETS",
    "classes_of_preset",
    "dump_thresholds",
    "load_preset",
    "load_settings",
    "load_thresholds",
    "split_classes",
]
