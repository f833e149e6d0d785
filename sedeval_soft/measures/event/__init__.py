"""Event-based measures: onsets and offsets within collars."""
