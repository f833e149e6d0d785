"""Tables as strangers send them: good ones of any form, with something done to their bytes."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

NUMBERS = (
    *("0", "1", "0.5", "1.0", "2.25", "-0", "-1", "1e308", "1e999", "1e-320", "nan", "inf", "-inf", "NaN"),
    *("1_0", "1,5", "85", "100", "0x1p3", "1e12", "3e9", "", " ", "\u0665", "0.30000000000000004", "1e-9"),
    *(".5", "5.", "+1", "1.0000000001"),
)
NAMES = (
    *("car", "dog", "people talking", "a.wav", "b.wav", "=1+1", "@x", "-1", "1", "nan", "\x1b[31mred"),
    *("a\x07b", '"', '""', "'", "a,b", "a\tb", "a;b", "../../etc/passwd", "/etc/passwd", "<script>"),
    *(
        "\u202egnp.exe",
        "\ufeff",
        "\x00",
        "\u0085",
        "x" * 300,
        "\u00e9t\u00e9",
        "\U0001f50a",
        "[class]",
        "a@b",
    ),
    *("%0A::error::x", "null", "~", "{{7*7}}", "\ud800"),
)
BYTES = (
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b", b"PK\x03\x04", b"\r", b"\r\n", b"\n\n", b"\t"),
    *(b",", b";", b'"', b"\xe9", b"\xc3", b"\xed\xa0\x80", b"\x1b[2J", b"=", b"\x85", b"\xe2\x80\xa8"),
    *(b"-", b"e999", b"PAR1", b"{", b"SPEAKER "),
)


@dataclass(frozen=True)
class Form:
    """How a good table is written."""

    delimiter: str
    header: bool
    filenames: bool
    values: bool
    wide: bool
    end: str


FORMS = st.builds(
    Form,
    delimiter=st.sampled_from("\t,;"),
    header=st.booleans(),
    filenames=st.booleans(),
    values=st.booleans(),
    wide=st.booleans(),
    end=st.sampled_from(("\n", "\r\n")),
)


def table(form: Form, random: Random, n: int) -> list[list[str]]:
    """Return the fields of the rows of a good table, the header first where there is one."""
    classes = ("car", "dog", "bird")
    rows = []
    if form.header or form.wide:
        names = ["filename"] * form.filenames + ["onset", "offset"]
        rows.append([*names, *(classes if form.wide else ["event_label"] + ["soft_value"] * form.values)])
    for _ in range(n):
        onset = random.randint(0, 50) / 10
        row = [random.choice(("a.wav", "b.wav"))] * form.filenames
        row += [f"{onset:g}", f"{onset + random.randint(0, 30) / 10:g}"]
        if form.wide:
            row += [f"{random.randint(0, 10) / 10:g}" for _ in classes]
        else:
            row += [random.choice(classes)] + [f"{random.randint(0, 10) / 10:g}"] * form.values
        rows.append(row)
    return rows


def _field(rows: list[list[str]], random: Random) -> None:
    row = random.choice(rows)
    if row:
        row[random.randrange(len(row))] = random.choice(NUMBERS if random.random() < 0.6 else NAMES)


def _swapped(rows: list[list[str]], random: Random) -> None:
    row = random.choice(rows)
    if len(row) > 1:
        i, j = random.sample(range(len(row)), 2)
        row[i], row[j] = row[j], row[i]


def _fewer(rows: list[list[str]], random: Random) -> None:
    row = random.choice(rows)
    if row:
        del row[random.randrange(len(row))]


def _more(rows: list[list[str]], random: Random) -> None:
    random.choice(rows).insert(0, random.choice(NUMBERS + NAMES))


def _twice(rows: list[list[str]], random: Random) -> None:
    rows.insert(random.randrange(len(rows) + 1), list(random.choice(rows)))


def _shuffled(rows: list[list[str]], random: Random) -> None:
    random.shuffle(rows)


def _column(rows: list[list[str]], random: Random) -> None:
    place, name = random.randrange(6), random.choice(NUMBERS + NAMES)
    for row in rows:
        row.insert(min(place, len(row)), name)


OF_ROWS: tuple[Callable[[list[list[str]], Random], None], ...] = (
    *(_field, _field, _field, _swapped, _fewer, _more, _twice, _shuffled, _column),
)


def _inserted(data: bytes, random: Random) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(BYTES) + data[place:]


def _flipped(data: bytes, random: Random) -> bytes:
    if not data:
        return data
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << random.randrange(8))]) + data[place + 1 :]


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _spliced(data: bytes, random: Random) -> bytes:
    i, j, k = sorted(random.randrange(len(data) + 1) for _ in range(3))
    return data[:i] + data[j:k] + data[i:]


def _gzipped(data: bytes, random: Random) -> bytes:
    packed = gzip.compress(data, mtime=0)
    return packed if random.random() < 0.5 else _flipped(packed, random)


def _recoded(data: bytes, random: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(random.choice(("utf-16", "latin-1", "utf-32", "cp037")), "replace")


def _without_end(data: bytes, random: Random) -> bytes:
    return data.rstrip(b"\r\n")


OF_BYTES: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_inserted, _inserted, _flipped, _cut, _spliced, _gzipped, _recoded, _without_end),
)


@st.composite
def corrupted(draw: st.DrawFn) -> bytes:
    """Draw the bytes of a table with up to four things done to it; with none in one of some cases."""
    form = draw(FORMS)
    random = Random(draw(st.integers(0, 2**32)))  # noqa: S311 - not for secrets
    rows = table(form, random, draw(st.integers(0, 8))) or [[]]
    for _ in range(draw(st.integers(0, 2))):
        random.choice(OF_ROWS)(rows, random)
    text = "".join(form.delimiter.join(row) + form.end for row in rows)
    data = text.encode("utf-8", "surrogatepass")
    for _ in range(draw(st.integers(0, 2))):
        data = random.choice(OF_BYTES)(data, random)
    return data
