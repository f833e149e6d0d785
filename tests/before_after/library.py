"""Print what an expression of the library returns: the values of scores by name, or its text."""

import json
import sys
from collections.abc import Mapping

import numpy as np

import sedeval_soft

# An error is told without where it came from, which is in one of two trees.
sys.tracebacklimit = 0
names = {name: getattr(sedeval_soft, name) for name in sedeval_soft.__all__}
value = eval(sys.argv[1], {**names, "np": np})  # noqa: S307 - the calls are ours
json.dump(value, sys.stdout, indent=1, default=lambda of: dict(of) if isinstance(of, Mapping) else repr(of))
