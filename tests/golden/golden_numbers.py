"""Small files of golden numbers: the results of an evaluator on random tables.

The first cases have all their numbers, with all digits. The others have only a digest, the first eight
digits of a SHA-256 over names and numbers: equal digests mean equal numbers, to the last bit. The scripts
`make_*.py` write these files, and tests in this folder read them. This module needs only Python 3.8.
"""

import hashlib
import json
import math
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "published"
SHOWN = 100
STOPS = {"stops": 1}
"""The result of an evaluator that fails."""


def plain(numbers):
    """Return numbers for JSON: whole numbers stay whole, and NaN becomes None."""
    return {
        name: None if value is None or math.isnan(value) else value if type(value) is int else float(value)
        for name, value in numbers.items()
    }


def digest(numbers):
    """Return a digest of the numbers of a case, with names and order."""
    return hashlib.sha256(repr(list(plain(numbers).items())).encode()).hexdigest()[:8]


def write_numbers(name, about, cases):
    """Write a file; about: its origin, by key; cases: the numbers of each case."""
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
    """Read a file of `write_numbers`."""
    return json.loads((FOLDER / name).read_text())
