"""Evaluators that challenges published, number by number as their scripts print them: one module each.

The presets have the rules of a challenge as its page tells them; where a script does something else, these
modules do as the script does. The page of official evaluators in the docs says what differs and how much.
"""

MODULES: dict[str, str] = {
    "few-shot": "few_shot",
    "biodcase2025-task2": "biodcase",
    "dcase2016-task3": "dcase2016",
    "dcase2023-task4b": "dcase2023",
    "dcase2024-task4": "dcase2024",
    "birdnet-analyzer": "birdnet",
    "lat-bench": "grounding",
    "pyannote-vad": "pyannote_vad",
}
"""The module of each published evaluator by its name, which has it as `PUBLISHED[name]`."""
