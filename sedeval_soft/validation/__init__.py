"""All that is wrong with a table, or looks wrong, and where: nothing is scored.

`formats` refuses what cannot be scored; this package goes on behind the first problem, and looks at what can
be scored but is probably not what was meant. Checks of clean tables are vectorised; lines are looked up only
for what was found.
"""

from sedeval_soft.validation.check import Expected, validate_table
from sedeval_soft.validation.found import Validation

__all__ = ["Expected", "Validation", "validate_table"]
