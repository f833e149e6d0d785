"""What other tools call our settings, for messages about names that nobody knows here.

Imported only where a message needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sedeval_soft.core.hints import did_you_mean


@dataclass(frozen=True, slots=True)
class Called:
    """What a tool calls one or more of our settings.

    note: what else differs, in a few words.
    """

    tool: str
    settings: tuple[str, ...]
    note: str = ""

    def whose(self) -> str:
        """Return the tool in front of what it has."""
        return f"{self.tool}'" if self.tool.endswith("s") else f"{self.tool}'s"

    def also(self) -> str:
        """Return the note behind a hint."""
        return f" ({self.note})" if self.note else ""


SED_EVAL = "sed_eval"
SCORES_EVAL = "sed_scores_eval"
PSDS_EVAL = "psds_eval"

NAMES: dict[str, Called] = {
    "t_collar": Called(SED_EVAL, ("onset_collar", "offset_collar")),
    "collar": Called("other tools", ("onset_collar", "offset_collar")),
    "tolerance": Called("other tools", ("onset_collar", "offset_collar")),
    "percentage_of_length": Called(SED_EVAL, ("offset_collar_rate",)),
    "time_resolution": Called(SED_EVAL, ("segment_length",)),
    "resolution": Called("other tools", ("segment_length",)),
    "evaluate_onset": Called(SED_EVAL, ("onset",)),
    "evaluate_offset": Called(SED_EVAL, ("offset",)),
    "event_label_list": Called(SED_EVAL, ("classes",)),
    "event_labels": Called("other tools", ("classes",)),
    "class_names": Called(PSDS_EVAL, ("classes",)),
    "class_list": Called("other tools", ("classes",)),
    "labels": Called("other tools", ("classes",)),
    "event_classes": Called(SCORES_EVAL, ("classes",)),
    "event_matching_type": Called(SED_EVAL, ("matching",)),
    "dtc_threshold": Called(PSDS_EVAL, ("dtc",)),
    "gtc_threshold": Called(PSDS_EVAL, ("gtc",)),
    "cttc_threshold": Called(PSDS_EVAL, ("cttc",)),
    "n_iterations": Called(SCORES_EVAL, ("ci", "replicates")),
    "n_bootstrap": Called("other tools", ("ci", "replicates")),
    "bootstrap": Called("other tools", ("ci", "replicates")),
    "random_state": Called("other tools", ("seed",)),
    "reference_thresholds": Called("other tools", ("reference_threshold",)),
    "empty_system_output_handling": Called(
        SED_EVAL, ("compat",), "else precision without output is undefined, and 0 in averages"
    ),
}
"""Arguments and options of other tools, written with underscores."""


def called(name: str) -> Called | None:
    """Return which settings a name of another tool means, None where we know of none."""
    return NAMES.get(name.strip("-").replace("-", "_").lower())


def hint(name: str, known: Sequence[str]) -> str:
    """Return what a name that is no setting may mean: another tool's name of one, one like it, or all.

    `; sed_eval's t_collar is onset_collar and offset_collar here`.
    """
    found = called(name)
    if found is None:
        return did_you_mean(name, known) or f"; known: {', '.join(known)}"
    return f"; {found.whose()} {name} is {' and '.join(found.settings)} here{found.also()}"
