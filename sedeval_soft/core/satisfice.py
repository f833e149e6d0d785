"""What a threshold must satisfy, as settings say it: `precision>=0.9`, `recall at fpr_per_hour<=5`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Self

from sedeval_soft.core.errors import SettingsError

AT_LEAST = ("precision", "recall")
"""Measures that can be demanded to reach a number."""

AT_MOST = (
    *("fpr_per_hour", "error_rate"),
    *("substitution_rate", "deletion_rate", "insertion_rate"),
)
"""Measures that can be demanded not to exceed a number."""

BEST_OF = ("f", "precision", "recall", "error_rate")
"""What can be best where a constraint holds; F with the weight of recall that the settings have."""

REGARDLESS = frozenset(AT_MOST) - {"fpr_per_hour"}
"""Measures that, of all classes together, know pairs whatever their class."""

_FORM = re.compile(
    r"(?:(?P<best>[a-z_]+)\s+at\s+)?(?P<measure>[a-z_]+)\s*(?P<sign>>=|<=)\s*"
    r"(?P<number>\d+(\.\d*)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?)"
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """What is to be best where a measure is at least, or at most, a number.

    best: one of `BEST_OF`. measure: one of `AT_LEAST` and `AT_MOST`, which says how it compares.
    """

    best: str
    measure: str
    number: float

    @classmethod
    def parse(cls, text: object) -> Self:
        """Read `[MEASURE at ]MEASURE>=NUMBER`; raises SettingsError that says what was expected."""
        match = _FORM.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise SettingsError(
                f"satisfice must be a constraint such as 'precision>=0.9' or 'recall at fpr_per_hour<=5', "
                f"not {text!r}"
            )
        best, measure = match["best"] or "f", match["measure"]
        if best not in BEST_OF:
            raise SettingsError(f"satisfice: what is best must be one of {', '.join(BEST_OF)}, not {best!r}")
        for names, sign in ((AT_LEAST, ">="), (AT_MOST, "<=")):
            if measure in names and match["sign"] != sign:
                raise SettingsError(f"satisfice: expected {measure}{sign}NUMBER, not {text!r}")
        if measure not in AT_LEAST + AT_MOST:
            known = ", ".join(AT_LEAST + AT_MOST)
            raise SettingsError(f"satisfice: the constraint must be on one of {known}, not {measure!r}")
        number = float(match["number"])
        if not math.isfinite(number) or (measure in AT_LEAST and number > 1):
            most = "a number in [0, 1]" if measure in AT_LEAST else "a finite number"
            raise SettingsError(f"satisfice: {measure} must be {most}, not {match['number']}")
        return cls(best, measure, number)

    @property
    def sign(self) -> str:
        """How the measure must compare with the number."""
        return ">=" if self.measure in AT_LEAST else "<="

    @property
    def counts_regardless(self) -> bool:
        """Whether it needs, for all classes together, pairs whatever their class."""
        return bool({self.best, self.measure} & REGARDLESS)

    def __str__(self) -> str:
        """Return the constraint as it could be given again."""
        first = "" if self.best == "f" else f"{self.best} at "
        return f"{first}{self.measure}{self.sign}{self.number!r}"
