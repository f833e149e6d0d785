"""Files of golden numbers: what an evaluator said of random tables, small enough to keep.

The first cases have all their numbers, with all their digits. The others have a digest, the first eight
digits of a SHA-256 over names and numbers: equal digests are equal numbers, to the last bit. The scripts
`make_*.py` write these files, the tests beside them read them. This module needs Python 3.8 and nothing else.
"""

import hashlib
import json
import math
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "published"
SHOWN = 100
STOPS = {"stops": 1}
"""The numbers of an evaluator that ends in an error."""


def plain(numbers):
    """Return numbers as JSON has them: whole numbers as such, NaN as None."""
    return {
        name: None if value is None or math.isnan(value) else value if type(value) is int else float(value)
        for name, value in numbers.items()
    }


def digest(numbers):
    """Return what stands for the numbers of a case, names and order included."""
    return hashlib.sha256(repr(list(plain(numbers).items())).encode()).hexdigest()[:8]


def write_numbers(name, about, cases):
    """Write a file; about: what made it, by key; cases: the numbers of each case."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    cases = [plain(numbers) for numbers in cases]
    heading = json.dumps({**about, "count": len(cases)}, indent=1)[:-2]
    shown = ",\n".join(json.dumps(numbers, allow_nan=False) for numbers in cases[:SHOWN])
    digests = [digest(numbers) for numbers in cases]
    lines = ",\n".join(
        ", ".join(map(json.dumps, digests[begin : begin + 10])) for begin in range(0, len(digests), 10)
    )
    text = f'{heading},\n "shown": [\n{shown}\n ],\n "digests": [\n{lines}\n ]\n}}\n'
    (FOLDER / name).write_text(text)


def read_numbers(name):
    """Return what `write_numbers` wrote."""
    return json.loads((FOLDER / name).read_text())
