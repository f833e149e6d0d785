"""Settings, and what submissions say of themselves, from files."""

from sedeval_soft.config.load import (
    classes_of_preset,
    files_of_settings,
    load_preset,
    load_settings,
    split_classes,
)
from sedeval_soft.config.presets import PRESETS, checked_preset, text_of_preset, title_of_preset
from sedeval_soft.config.schema import schema_text
from sedeval_soft.config.thresholds import dump_thresholds, load_thresholds

__all__ = [
    "PRESETS",
    "checked_preset",
    "classes_of_preset",
    "dump_thresholds",
    "files_of_settings",
    "load_preset",
    "load_settings",
    "load_thresholds",
    "schema_text",
    "split_classes",
    "text_of_preset",
    "title_of_preset",
]
