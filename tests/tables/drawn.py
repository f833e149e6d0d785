"""Random tables, the facts of a table, and its round trip through a form."""

import csv
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from pyarrow import feather

from sedeval_soft.errors import InputError
from sedeval_soft.tables import LIMITS, UNNAMED, EventTable, Origin, read_rows, to_seconds
from sedeval_soft.tables.forms import FORMS
from sedeval_soft.tools.convert import prepare

WRITTEN = tuple(form for form in FORMS if form.written)

PLAIN = ("a", "b.wav", "car", "people talking", "Häuser", "x_y")
"""Names that every form keeps, apart from blanks and extensions."""

TRICKY = (
    "onset", "label", "event", "activity", "filename", "start", "1", "0.5", "1e3", "nan", "<NA>", "SPEAKER",
    '"', '"d"', '5" nail', "a\tb", "a,b", "a;b", "\\", "\\\t1", ";;x", "{", '{"onset": 1}', "#", "=1+1", "|",
    "a\nb", "a\rb", "..", "../x", "/etc/x", "C:x", "con", ".hidden", "a/b", "end.", "x.tsv", "x.gz", "a.WAV",
    "\ufeffa", "b\u2028c", "a\x85b", "a\x1fb", "\x1b[31m", "\ud800", "PAR1", "PK\x03\x04", "ﬁ", "é",
    "e\u0301",
)  # fmt: skip


def cases(name: str) -> list[dict[str, str]]:
    """Return the rows of a table in this folder; its texts have the escapes of JSON, except for quotes."""
    with (Path(__file__).parent / name).open(newline="", encoding="utf-8") as file:
        return [
            {key: json.loads('"{}"'.format(text.replace('"', '\\"'))) if "\\" in text else text
             for key, text in row.items()}
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]  # fmt: skip


def table(path: Path, *lines: str) -> Path:
    """Write lines as a table: `|` or, if there is none, blanks become tabs."""
    by = "|" if any("|" in line for line in lines) else " "
    path.write_text("".join("\t".join(line.split(by)) + "\n" for line in lines))
    return path


def lay_out(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files to a folder and its subfolders."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return folder


def facts(rows: EventTable) -> tuple[object, ...]:
    """Return the rows, recordings and classes of a table, sorted."""
    lists = (rows.file.tolist(), rows.onset.tolist(), rows.offset.tolist())
    if rows.has_steps:
        values = np.array(rows.values).reshape(len(rows.classes), len(rows)).T.tolist()
        found = [
            (rows.files[f], b, e, tuple(sorted(zip(rows.classes, cells, strict=True))))
            for f, b, e, cells in zip(*lists, values, strict=True)
        ]
        return "wide", sorted(found), sorted(rows.files), sorted(rows.classes)
    labels = [rows.classes[code] for code in rows.label.tolist()]
    values = [None] * len(rows) if rows.value is None else rows.value.tolist()
    found = [(rows.files[f], b, e, *more) for f, b, e, *more in zip(*lists, labels, values, strict=True)]
    return "long", sorted(found, key=repr), sorted(rows.files), sorted(rows.classes)


def found(path, form="", limits=LIMITS):
    """Read a path; return its facts, ignored columns, and numbers of notes, assumptions and settings without
    effect; or the places and codes of its problems. All types are JSON's."""
    try:
        rows = read_rows(path, form=form, limits=limits)
    except InputError as error:
        result = [[p.line, p.column, p.code] for p in error.problems]
    else:
        told = (rows.origin.notes, rows.origin.assumed, rows.origin.lacking)
        result = [*facts(rows), rows.origin.ignored, *map(len, told)]
    return json.loads(json.dumps(result))


def written(form: str, table: pa.Table, path: Path) -> Path:
    """Write a table in a form of other programs: Parquet, or Arrow's file or stream."""
    if form == "parquet":
        pq.write_table(table, path)
    elif form == "stream":
        with pa.ipc.new_stream(str(path), table.schema) as writer:
            writer.write_table(table)
    else:
        feather.write_feather(table, str(path), compression="zstd" if form == "feather" else "uncompressed")
    return path


def zipped(members):
    """Return a zip archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def tarred(members, mode="w"):
    """Return a tar archive."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


def long(rows, files=()):
    """Return the facts of a long table: rows of file, onset, offset, label, value, and files without rows."""
    names = {*(row[0] for row in rows), *files}
    return "long", sorted(map(tuple, rows), key=repr), sorted(names), sorted({row[3] for row in rows})


def unfolded(said: tuple[object, ...]) -> tuple[object, ...]:
    """Return the facts of a table in long form: a wide table gets a row for each class and time step."""
    kind, rows, files, classes = said
    if kind == "wide":
        rows = sorted(((*row[:3], label, value) for row in rows for label, value in row[3]), key=repr)
    return rows, files, classes


def through(
    rows: EventTable, form: str, folder: Path, called: str = "x"
) -> tuple[EventTable, EventTable, tuple[str, ...]]:
    """Write rows in a form, and read them; return the fitted rows, the rows read, and the losses."""
    folder.mkdir(exist_ok=True)
    known = next(each for each in WRITTEN if each.name == form)
    path = folder / f"{called}{known.extensions[0] if not known.apart else ''}"
    apart = known.folder or ("recordings" in known.lacks and len(rows.files) > 1)
    target = f"{path}/" if apart else str(path)
    prepared = prepare(rows, target, to=form)
    prepared.write(target)
    losses = prepared.conversion.losses
    if not apart and path.read_bytes() == b"":
        assert losses
        return prepared.fitted.rows, prepared.fitted.rows, losses
    read = read_rows(target, form=form)
    assert facts(read_rows(target)) == facts(read), "not recognised"
    return prepared.fitted.rows, read, losses


def _times(exact: bool):
    ticks = st.integers(0, 3_000_000_000) | st.integers(0, 5).map(lambda n: n * 100_000)
    seconds = ticks.map(lambda n: float(to_seconds(np.int64(n))))
    return seconds if exact else seconds | st.floats(0, 3e7)


@st.composite
def tables(draw, names=PLAIN, exact=True):
    """Draw a table: long, with or without values, or wide, with touching or arbitrary steps."""
    some = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
    named, wide = draw(st.booleans()), draw(st.booleans())
    files, classes = draw(some) if named else [UNNAMED], draw(some)
    file = sorted(draw(st.lists(st.integers(0, len(files) - 1), max_size=6)))
    edges = [sorted(draw(st.tuples(_times(exact), _times(exact)))) for _ in file]
    if wide and draw(st.booleans()):
        steps = [file[:row].count(code) for row, code in enumerate(file)]
        edges = [(k * 20_000 / 1e6, (k + 1) * 20_000 / 1e6) for k in steps]
    n_columns = len(classes) if wide else int(draw(st.booleans()) and bool(file))
    values = [
        draw(st.lists(st.floats(0, 1), min_size=len(file), max_size=len(file))) for _ in range(n_columns)
    ]
    label = None
    if not wide:
        codes = [draw(st.integers(0, len(classes) - 1)) for _ in file]
        classes = [classes[code] for code in dict.fromkeys(codes)]
        label = np.array([[*dict.fromkeys(codes)].index(code) for code in codes], dtype=np.int32)
    onset, offset = np.array(edges, dtype=np.float64).reshape(-1, 2).T.copy()
    return EventTable(
        tuple(files if named else files[: min(len(file), 1)]),
        tuple(classes),
        np.array(file, dtype=np.int32),
        onset,
        offset,
        tuple(np.array(column, dtype=np.float64) for column in values),
        Origin("drawn"),
        label,
    )
