"""Evaluators that challenges published, number by number as their scripts print them: one module each.

The presets have the rules of a challenge as its page tells them; where a script does something else, these
modules do as the script does. The page of official evaluators in the docs says what differs and how much.
"""

NAMES = (
    "few-shot", "biodcase2025-task2", "dcase2016-task3", "dcase2023-task4b", "dcase2024-task4",
    "birdnet-analyzer", "lat-bench", "pyannote-vad",
)  # fmt: skip
"""Of all published evaluators; the module of each, with underscores in its name, has it as `EVALUATOR`."""
