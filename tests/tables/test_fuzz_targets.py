"""The targets of the fuzzer read or refuse its seeds, and damaged copies of them.

The seeds of `reader` are files of all forms and dialects. `validate` and the reader agree on each, as a whole
and in blocks, and raise only errors of the package with harmless messages.
"""

import gzip
import runpy
from pathlib import Path
from random import Random

import pytest

FUZZER = Path(__file__).parents[1] / "fuzz"
SEEDS = {folder.name: sorted(folder.iterdir()) for folder in (FUZZER / "corpus").iterdir()}
BYTES = (
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b", b"PK\x03\x04", b"\r", b"\r\n", b"\n\n", b"\t"),
    *(b",", b";", b'"', b"\xe9", b"\xc3", b"\xed\xa0\x80", b"\x1b[2J", b"=", b"\x85", b"\xe2\x80\xa8"),
    *(b"-", b"e999", b"PAR1", b"{", b"SPEAKER "),
)


def with_bytes_changed(data: bytes, random: Random) -> bytes:
    """Return bytes after a random change."""
    i, j, k = sorted(random.randrange(len(data) + 1) for _ in range(3))
    packed, inserted = gzip.compress(data, mtime=0), data[:i] + random.choice(BYTES) + data[i:]
    changed = {
        "flipped": data[:i] + bytes(byte ^ (1 << k % 8) for byte in data[i : i + 1]) + data[i + 1 :],
        "spliced": data[:i] + data[j:k] + data[i:],
        "damaged": packed[:i] + b"\0" + packed[i + 1 :],
        "recoded": data.decode("utf-8", "replace").encode(
            random.choice(("utf-16", "latin-1", "utf-32", "cp037")), "replace"
        ),
        "cut": data[:i],
        "stripped": data.rstrip(),
    }
    return random.choice((inserted, inserted, packed, *changed.values()))


@pytest.fixture(scope="module")
def targets():
    return runpy.run_path(str(FUZZER / "targets.py"))["TARGETS"]


@pytest.mark.parametrize("name", SEEDS)
def test_each_seed_is_read_or_refused_and_with_bytes_changed_too(name, targets):
    random = Random(0)  # noqa: S311 - not for secrets
    assert SEEDS[name] and {*SEEDS} == {*targets}
    for seed in SEEDS[name]:
        data = seed.read_bytes()
        targets[name](data)
        targets[name](data[:2] + with_bytes_changed(data[2:], random))
