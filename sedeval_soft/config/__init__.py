"""Settings from files."""

from sedeval_soft.config.load import load_settings, split_classes
from sedeval_soft.config.thresholds import dump_thresholds, load_thresholds

__all__ = ["dump_thresholds", "load_settings", "load_thresholds", "split_classes"]
