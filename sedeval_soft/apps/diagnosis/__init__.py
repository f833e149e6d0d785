"""Losses of a score: kinds of errors, the cost of each, examples, and settings that help.

`run.diagnose` evaluates a system, and counts its errors by kind (`events`, `segments`). `prices`
has the cost of each, `sensitivity` what recall and precision depend on, `suggestions` what raises F. `screen`
shows `results`.
"""

from sedeval_soft.apps.diagnosis.results import Diagnosis, Difference, KindOfError
from sedeval_soft.apps.diagnosis.run import diagnose, event_errors

__all__ = ["Diagnosis", "Difference", "KindOfError", "diagnose", "event_errors"]
