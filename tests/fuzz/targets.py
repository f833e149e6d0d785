"""Fuzz targets: bytes in, rows, settings or scores out, or one clear error. Anything else is a finding.

A target raises every other error of its reader, and AssertionError for a wrong answer. The first bytes of
an input choose the name of its file and how it is read; the rest is the file.
"""

import atexit
import hashlib
import io
import shutil
import tarfile
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from sedeval_soft import EvaluationError, Evaluator, Scores, Settings, __version__, validate
from sedeval_soft.api import evaluate_rows, limits_from, with_points
from sedeval_soft.api.evaluator import read_tally
from sedeval_soft.evaluation import Shard, score_shard
from sedeval_soft.settings_files import load_settings, load_thresholds
from sedeval_soft.tables import LIMITS, UNNAMED, EventTable, read_rows
from sedeval_soft.tables.file_groups import only_listed, read_durations, read_listed, read_partition
from sedeval_soft.tables.forms import FORMS
from sedeval_soft.tables.problem_codes import RULES
from sedeval_soft.tables.stored_rows import UnfitError, blocks_of

EXTENSIONS = (
    *(".tsv", ".csv", ".txt", ".tsv.gz", ".jsonl", ".jams", ".rttm", ".parquet", ".arrow", ".zip", ".tar"),
    *(".tar.gz", ".eaf.txt", ".ann", ".TextGrid", ".eaf", ".json", ".arrows"),
)
"""Extensions of tables; the first byte of an input chooses one."""

OPTIONS = (
    *({}, {"columns": "onset=1,offset=2,event_label=3"}, {"columns": "onset=2,offset=3,filename=1"}),
    *({"label": "speech"}, {"columns": "filename=id,value=p,ignore=x"}),
    *({"source_form": form.name} for form in FORMS),
)
"""Options for reading a table; the second byte chooses a set of them."""

LISTS = (".txt", ".csv", ".tsv", ".uem", ".parquet", ".rttm", ".jams")
"""Extensions of lists of files; the first byte chooses one."""

KINDS = ("folder", "points", "pattern", ".zip", ".tar")
"""Containers of several tables; the first byte chooses one. A line before each table is its name."""

DIVIDER = b"\n=====\n"
"""The line between two tables of an input."""

_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
_FOLDER = Path(tempfile.mkdtemp(prefix="soft-sed-eval-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
_SMALL = 200
"""Tables up to this number of rows are scored as well."""
_BLOCK = 64
"""Bytes of a table that are read at a time, if it is read in blocks."""


def reader(data: bytes) -> None:
    """Read a table of any format at once, in blocks and as `validate` does; score it if it is small."""
    (end, said), rest = two_of(data)
    path = _file(f"table{EXTENSIONS[end % len(EXTENSIONS)]}", rest)
    options = OPTIONS[said % len(OPTIONS)]
    rows, refused = _read_and_scored(path, options)
    if not options:
        _check_blocks(path, rows, refused)


def folders(data: bytes) -> None:
    """Read several tables: a folder, operating points, shards that a pattern fits, archives."""
    kind = KINDS[data[0] % len(KINDS)] if data else "folder"
    tables = [table.partition(b"\n") for table in data[1:].split(DIVIDER)][:20]
    named = [(name.decode("utf-8", "replace")[:80], rest) for name, _, rest in tables]
    if kind.startswith("."):
        archive = zipped(named) if kind == ".zip" else tarred(named)
        _read_and_scored(_file(f"archive{kind}", archive), {})
        return
    folder = _FOLDER / "folder"
    shutil.rmtree(folder, ignore_errors=True)
    for name, rest in named:
        plain = "/".join(part for part in name.replace("\0", "").split("/") if part not in {"", ".", ".."})
        with suppress(OSError):  # a name that is the folder of another
            (folder / (plain or "a.tsv")).parent.mkdir(parents=True, exist_ok=True)
            (folder / (plain or "a.tsv")).write_bytes(rest)
    if kind == "pattern":
        with _told():
            check_rows(read_rows(folder / "*"))
    elif folder.is_dir():
        _read_and_scored(folder, {"operating_points": True} if kind == "points" else {})


def lists(data: bytes) -> None:
    """Read a list of files, durations, folds and scenes, and choose files by it."""
    path = _file(f"list{LISTS[data[0] % len(LISTS)] if data else '.txt'}", data[1:])
    with _told():
        assert all(0 <= seconds <= LIMITS.duration for seconds in read_durations(path).values())
    for prefer in ((), ("fold",)):
        with _told():
            assert all(read_partition(path, prefer).parts)
    with _told():
        files = read_listed(path)
        assert all(files) and len({*files}) == len(files)
        check_rows(only_listed(_ROWS, files)[0])
    with _told():
        validate(_TABLE, durations=path, files=path)


def settings(data: bytes) -> None:
    """Read a settings file, and a file of thresholds."""
    name = str(_file("settings.yaml", data))
    with _told():
        limits_from(None, load_settings(name))
    with _told():
        load_thresholds(name, inclusive=False)


def tallies(data: bytes) -> None:
    """Read a tally, unchanged or with one other member, and score it."""
    (which, member), rest = two_of(data)
    changed = rest if member == 255 else with_member(TALLIES[which % len(TALLIES)], member, rest)
    with _told():
        shard = read_tally(_file("shard.tally", changed))
        check_scores(score_shard(Shard.merge([shard]), __version__))


TARGETS: dict[str, Callable[[bytes], None]] = {
    "reader": reader,
    "folders": folders,
    "lists": lists,
    "settings": settings,
    "tallies": tallies,
}
"""All targets by name."""


def two_of(data: bytes) -> tuple[bytes, bytes]:
    """Return the first two bytes, or zeros in their place, and the rest."""
    return data[:2].ljust(2, b"\0"), data[2:]


def _file(name: str, content: bytes) -> Path:
    """Write a file of our folder, and return its path."""
    path = _FOLDER / name
    path.write_bytes(content)
    return path


@contextmanager
def _told() -> Iterator[list[str]]:
    """Collect errors that name a problem, and check that each can be shown: not too long, and printable."""
    messages: list[str] = []
    try:
        yield messages
    except EvaluationError as error:
        messages.append(str(error))
    for text in messages:
        assert 0 < len(text) < 20_000
        assert all(line.isprintable() for line in text.split("\n")), repr(text)


def _read_and_scored(path: Path, options: dict[str, object]) -> tuple[EventTable | None, str]:
    """Return the rows at a path, or why it is refused: by `validate` and by the reader, or by neither."""
    limits = limits_from(None, options)
    refused: list[str] = []
    with _told() as looked:
        found = validate(path, limits=limits)
        assert all(problem.code in RULES and problem.message for problem in found.problems)
        errors = [problem for problem in found.problems if problem.severity == "error"]
        assert found.ok == (not errors), "errors are shown first"
        # Options without effect are refused for all tables of a side together, not by the reader of one.
        refused = [problem.message for problem in errors if problem.code != "no-effect"]
    rows = None
    with _told() as told:
        rows = with_points(path, limits)
        if not isinstance(rows, EventTable):
            rows = read_rows(path, form=limits.form("system"), limits=limits)
    refusal = looked or refused
    assert bool(refusal) == bool(told), f"validate: {refusal}; read: {told}"
    if told:
        return None, told[0]
    check_rows(rows)
    if len(rows) <= _SMALL:
        with _told():
            only = ("event.hard",) if rows.born is not None else ("segment.hard", "event.hard")
            check_scores(evaluate_rows(rows, rows, Settings(only=only)))
    return rows, ""


def _check_blocks(path: Path, rows: EventTable | None, refused: str) -> None:
    """Assert that a table has the same rows in blocks as at once, or is refused in the same words.

    If a damaged file has another problem before its damage, either message is right. The reader guesses from
    the values that it has read if they are logits or percent.
    """
    blocks: list[EventTable] = []
    try:
        with _told() as told:
            blocks += blocks_of(str(path), _FOLDER, _BLOCK)[0]
    except UnfitError:
        return
    damaged = f"{path}: cannot be read as " in refused and told
    assert damaged or "".join(told) == refused, f"in blocks: {told}; at once: {refused}"
    if not told and rows is not None:
        both = Counter(each for block in blocks for each in events(block)), Counter(events(rows))
        assert both[0] == both[1], "rows differ in blocks"
        names = {name for block in blocks for name in block.files}
        assert names == {*rows.files}, f"files in blocks: {names}; at once: {rows.files}"


def events(rows: EventTable) -> Iterator[tuple[object, ...]]:
    """Yield each row, whatever the order of the names."""
    names = sorted(rows.classes) if rows.has_steps else [""] * len(rows.values)
    order = [rows.classes.index(name) if rows.has_steps else 0 for name in names]
    for i in range(len(rows)):
        label = rows.classes[rows.label[i]] if not rows.has_steps else ""
        cells = tuple((name, float(rows.values[at][i])) for name, at in zip(names, order, strict=True))
        yield rows.files[rows.file[i]], float(rows.onset[i]), float(rows.offset[i]), label, cells


def check_rows(rows: EventTable) -> None:
    """Assert everything that later code relies on."""
    assert np.isfinite([rows.onset, rows.offset]).all()
    assert ((rows.onset >= 0) & (rows.offset >= rows.onset) & (rows.offset <= LIMITS.duration)).all()
    for names, codes in ((rows.files, rows.file), (rows.classes, rows.label)):
        assert len({*names}) == len(names)
        assert codes is None or ((codes >= 0) & (codes < max(len(names), 1))).all()
        assert all(name and "\0" not in name for name in names if names != (UNNAMED,))
    # For operating points, values are the ends of ranges of thresholds, and the last end is above 1.
    for column in rows.values if rows.born is None else ():
        assert ((column >= 0) & (column <= 1)).all()


def check_scores(scores: Scores) -> None:
    """Assert that every score is a finite number, or undefined."""
    assert all(value is None or np.isfinite(value) for value in scores.values())


def zipped(tables: list[tuple[str, bytes]]) -> bytes:
    """Return a zip archive of tables by name."""
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        warnings.simplefilter("ignore", UserWarning)  # of two members of one name
        for name, content in tables:
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def tarred(tables: list[tuple[str, bytes]]) -> bytes:
    """Return a tar archive of tables by name."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in tables:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def with_member(archive: bytes, number: int, content: bytes) -> bytes:
    """Return a tally with one member replaced, and with the SHA-256 of the result."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(stream, "w") as new:
        infos = old.infolist()
        for i, info in enumerate(infos):
            new.writestr(info.filename, content if i == number % len(infos) else old.read(info))
        new.comment = bytes(64)
    data = stream.getvalue()[:-64]
    return data + hashlib.sha256(data).hexdigest().encode()


def _tally(only: str, **values: object) -> bytes:
    """Return a small tally with scores of a kind."""
    return Evaluator(only=(only,), **values).update(_TABLE, _TABLE).to_bytes()


LONG = (
    b"filename\tonset\toffset\tevent_label\tsoft_value\n"
    b"a.wav\t0\t1.5\tcar\t0.25\na.wav\t1.5\t3\tdog\t1\nb.wav\t\t\t\t\n"
)
_TABLE = _file("made.tsv", LONG)
_ROWS = read_rows(_TABLE)
TALLIES = (_tally("segment"), _tally("event"), _tally("segment.soft", measures=("curves",)))
"""Sound tallies, of which members are replaced."""
