"""Settings from files."""

from sedeval_soft.config.load import load_settings, split_classes

__all__ = ["load_settings", "split_classes"]
