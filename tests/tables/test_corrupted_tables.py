"""Whatever is done to a table: it is scored, or refused with a message; nothing else ever happens."""

from __future__ import annotations

import gzip
import math
import unicodedata
from pathlib import Path
from random import Random

import numpy as np
from drawn import WRITTEN, cases, fresh, tarred, zipped
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft import convert, evaluate
from sedeval_soft.errors import EvaluationError
from sedeval_soft.tables import read_rows

NUMBERS = (
    *("0", "1", "0.5", "1.0", "2.25", "-0", "-1", "1e308", "1e999", "1e-320", "nan", "inf", "-inf", "NaN"),
    *("1_0", "1,5", "85", "100", "0x1p3", "1e12", "3e9", "", " ", "\u0665", "0.30000000000000004", "1e-9"),
    *(".5", "5.", "+1", "1.0000000001"),
)
NAMES = (
    *("car", "dog", "people talking", "a.wav", "b.wav", "=1+1", "@x", "-1", "1", "nan", "\x1b[31mred"),
    *("a\x07b", '"', '""', "'", "a,b", "a\tb", "a;b", "../../etc/passwd", "/etc/passwd", "<script>"),
    *("\u202egnp.exe", "\ufeff", "\x00", "\u0085", "x" * 300, "\u00e9t\u00e9", "\U0001f50a", "[class]"),
    *("a@b", "%0A::error::x", "null", "~", "{{7*7}}", "\ud800"),
)
BYTES = (
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b", b"PK\x03\x04", b"\r", b"\r\n", b"\n\n", b"\t"),
    *(b",", b";", b'"', b"\xe9", b"\xc3", b"\xed\xa0\x80", b"\x1b[2J", b"=", b"\x85", b"\xe2\x80\xa8"),
    *(b"-", b"e999", b"PAR1", b"{", b"SPEAKER "),
)
HERE = Path(__file__).parent
FORMS_OF_FILES = {
    "documents/long.TextGrid": "textgrid",
    "documents/short.TextGrid": "textgrid",
    "documents/elan.eaf": "eaf",
    "documents/label-studio.json": "label-studio",
    "documents/label-studio-min.json": "label-studio",
    "documents/one-line.jams": "jams",
    "documents/annotation-set.json": "soundevent",
    "documents/prediction-set.json": "soundevent",
    "dialects/dcase-weak.tsv": "weak",
    "dialects/few-shot-classes.csv": "few-shot",
    **{f"samples/{path.name}": path.name.split(".")[0].split("-")[0]
       for path in sorted((HERE / "samples").iterdir())},
}  # fmt: skip
TEXTS = [case["text"] for case in cases("readings.tsv")]
ENCODINGS = ("utf-16", "latin-1", "utf-32", "cp037")


def with_bytes_changed(data: bytes, random: Random) -> bytes:
    """Return bytes with something done to them."""
    i, j, k = sorted(random.randrange(len(data) + 1) for _ in range(3))
    flipped = (
        data[:i] + bytes([data[i] ^ (1 << random.randrange(8))]) + data[i + 1 :] if i < len(data) else b""
    )
    packed = gzip.compress(data, mtime=0)
    recoded = data.decode("utf-8", "replace").encode(random.choice(ENCODINGS), "replace")
    inserted = data[:i] + random.choice(BYTES) + data[i:]
    spliced = data[:i] + data[j:k] + data[i:]
    damaged = packed[:i] + b"\0" + packed[i + 1 :]
    return random.choice(
        (inserted, inserted, flipped, data[:i], spliced, packed, damaged, recoded, data.rstrip())
    )


@st.composite
def corrupted(draw: st.DrawFn) -> bytes:
    """Draw the bytes of a text with up to four things done to it; with none in one of some cases."""
    random = Random(draw(st.integers(0, 2**32)))  # noqa: S311 - not for secrets
    rows = [line.split("\t") for line in random.choice(TEXTS).split("\n")]
    for _ in range(draw(st.integers(0, 2))):
        row = random.choice(rows)
        row[random.randrange(len(row))] = random.choice(NUMBERS + NAMES)
    data = "\n".join(map("\t".join, rows)).encode("utf-8", "surrogatepass")
    for _ in range(draw(st.integers(0, 2))):
        data = with_bytes_changed(data, random)
    return data


def seeds() -> list[tuple[str, bytes]]:
    """Return files of all forms as they should be."""
    rows = long_rows([("", 0.0, 1.0, "car", 0.5), ("", 1.0, 2.5, "dog", 0.25)])
    made = [(form, (HERE / name).read_bytes()) for name, form in FORMS_OF_FILES.items()]
    with fresh() as folder:
        for form in WRITTEN:
            if not form.folder:
                convert(rows, f"{folder}/x", to=form.name)
                made.append((form.name, Path(folder, "x").read_bytes()))
    table = {"a.tsv": b"onset\toffset\tlabel\n0\t1\tcar\n"}
    return [*made, ("zip", zipped(table)), ("tar", tarred(table))]


SEEDS = seeds()
HOW = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}


def is_harmless(text: str) -> bool:
    """Whether a text has nothing in it that a terminal obeys, but ends of lines."""
    return all(c == "\n" or unicodedata.category(c) not in {"Cc", "Cs"} for c in text)


def test_rows_or_one_message(tmp_path_factory):
    path = tmp_path_factory.mktemp("corrupted") / "sys.tsv"
    outcomes = {"scored": 0, "refused": 0}

    @seed(0)
    @settings(**HOW, max_examples=200)
    @given(corrupted())
    def check(data):
        path.write_bytes(data)
        try:
            scores = evaluate(path, path, only=("segment", "event.hard"))
        except EvaluationError as error:
            outcomes["refused"] += 1
            assert is_harmless(str(error)) and len(str(error)) < 20_000  # noqa: PT017
            return
        outcomes["scored"] += 1
        assert all(value is None or math.isfinite(value) for value in scores.values())
        # Rows that are compared with themselves are right.
        assert all(scores[name] in (None, 1) for name in scores if ".hard.f1" in name)

    check()
    # Both happen: a test in which all cases fail early, or none does, would find nothing.
    assert min(outcomes.values()) > 20


@settings(**HOW, max_examples=120)
@given(st.sampled_from(SEEDS), st.integers(0, 2**32), st.integers(0, 3), st.booleans())
def test_files_of_all_forms_are_read_or_refused(file, number, changes, forced):
    form, data = file
    random = Random(number)  # noqa: S311 - not for secrets
    for _ in range(changes):
        data = with_bytes_changed(data, random)
    with fresh() as folder:
        path = Path(folder, "x")
        path.write_bytes(data)
        try:
            rows = read_rows(path, form=form if forced else "")
        except EvaluationError as error:
            assert is_harmless(str(error))  # noqa: PT017
            return
    assert np.all(rows.onset >= 0) and np.all(rows.offset >= rows.onset)
