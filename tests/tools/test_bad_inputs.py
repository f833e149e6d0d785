"""Bad inputs of all forms: the problem of each, its place, and whether the input is scored.

bad_inputs.tsv has the texts; this module builds the other inputs.
"""

import io
import json
import tarfile
from collections import namedtuple
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest
from documents import schema
from drawn import FORMS, cases, found, lay_out, tarred, zipped

from sedeval_soft import InputError, evaluate, validate
from sedeval_soft.report import render_validation
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.problem_codes import RULES

SCHEMA = jsonschema.Draft202012Validator(schema("soft-sed-eval-validation-1"))
HEAD = "filename\tonset\toffset\tevent_label\tsoft_value\n"
GOOD = "a.wav\t0.0\t1.0\tcar\t0.5\n"
LONG, TABLE = (HEAD.partition("\t")[2] + GOOD.partition("\t")[2]).encode(), b"onset\toffset\tcar\n0\t1\t0.5\n"
BESIDE = {
    "reference.tsv": (
        f"{HEAD}a.wav\t0.0\t9.5\tcar\t0.5\na.wav\t3.0\t4.5\tstreet_dog\t1\nb.wav\t1.0\t8.0\tcar\t0.75\n"
    ),
    "wide_reference.tsv": (
        "filename\tonset\toffset\tcar\tdog\na.wav\t0\t1\t0.5\t0\na.wav\t1\t2\t0.5\t0\na.wav\t2\t3\t0\t0.5\n"
    ),
    "durations.tsv": "filename\tduration\na.wav\t10\nb.wav\t10\n",
}
"""Tables that the bad inputs are compared to."""


Bad = namedtuple(
    "Bad", "data code line column inside scored options form", defaults=(None, None, "", False, {}, "")
)
"""A table, or tables of a folder by name; the code of a problem in it, and its place.

inside: the file with the problem in a folder or archive. scored: whether `soft-sed-eval` scores the input.
form: the form that the user names, empty to detect it.
"""


def of_text(row: dict[str, str]) -> Bad:
    """Return the bad input of a row of bad_inputs.tsv; its text becomes bytes."""
    line, column = (int(row[name]) if row[name] else None for name in ("line", "column"))
    options = dict(option.split("=", 1) for option in row["options"].split())
    known = {"scored": row["scored"] == "yes", "options": options, "form": row["form"]}
    return Bad(row["text"].encode("latin-1"), row["code"], line, column, **known)


def patched(offset: int, number: int, size: int) -> bytes:
    """Return a zip archive with a changed number in its directory, at an offset in the entry of a member."""
    data = zipped({"a.tsv": LONG})
    begin = data.index(b"PK\x01\x02") + offset
    return data[:begin] + number.to_bytes(size, "little") + data[begin + size :]


def tar_of(kind: bytes) -> bytes:
    """Return a tar archive with a link, or a device."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        member = tarfile.TarInfo("a.tsv")
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    return stream.getvalue()


WHOLE, CAFE = (HEAD + GOOD).encode(), "a.wav\t1\t2\tcafé\t1\n".encode("latin-1")
BYTES = {
    "column_that_is_not_there": Bad(WHOLE, "no-effect", options={"columns": "value=p"}),
    "latin_1_far_down": Bad((HEAD + GOOD * 5000).encode() + CAFE, "not-utf-8", 5002, 4),
    "archive_with_a_bad_table": Bad(
        zipped({"a.tsv": LONG + b"3\t2\tcar\t0.5\n"}), "offset-before-onset", 3, 2, "a.tsv"
    ),
}

TAR = tarred({"b.tsv": LONG}, "w:gz")
ARCHIVES = {
    "archive-link": [
        patched(38, 0o120777 << 16, 4),
        *map(tar_of, (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE)),
    ],
    "encrypted": [patched(8, 1, 2)],
    "broken-archive": [zipped({"a.tsv": LONG})[:60], patched(16, 0, 4),
                       tarred({"a.tsv": LONG * 1000})[:1500]],
    "broken-gzip": [tarred({"a.tsv": LONG * 1000}, "w:xz")[:200]],
    "nested-archive": [zipped({"a.zip": zipped({"a.tsv": LONG})}), zipped({"a.tsv": zipped({"b.tsv": LONG})}),
                       zipped({"a.tsv": TAR}), tarred({"a.tar": TAR}), tarred({"a.tsv": TAR}, "w:gz")],
    "unsafe-name": [make({name: LONG}) for make in (zipped, tarred) for name in ("../a.tsv", "/root/a.tsv")]
    + [zipped({"x\\..\\..\\a.tsv": LONG}), zipped({"C:a.tsv": LONG})],
    "repeated-member": [zipped({"a.tsv": LONG, "b.tsv": LONG}).replace(b"b.tsv", b"a.tsv"),
                        zipped({"a.tsv": LONG, "./a.tsv": LONG}), zipped({"x/a.tsv": LONG, "x\\a.tsv": LONG}),
                        tarred({"x/a.tsv": LONG, "x/./a.tsv": LONG}, "w:gz")],
    "empty-folder": [zipped({}), zipped({"README.md": b"hello"})],
    "repeated-recording": [zipped({"a.tsv": LONG, "x/a.csv": LONG})],
    "mixed-tables": [zipped({"a.tsv": LONG, "b.tsv": TABLE})],
}  # fmt: skip
BYTES |= {f"{code}_{k}": Bad(data, code) for code, files in ARCHIVES.items() for k, data in enumerate(files)}


def folder(code: str, *place: int | str, scored: bool = False, **tables: bytes) -> Bad:
    """Return a folder of tables; `a_tsv` names a.tsv."""
    options = {"reference": "reference.tsv"} if code == "unknown-class" else {}
    members = {name.replace("_", "."): data for name, data in tables.items()}
    return Bad(members, code, *place, scored=scored, options=options)


BACKWARDS, OUT = LONG + b"3\t2\tcar\t0.5\n", LONG + b"2\t3\tcar\t5\n"
OVERLAP, COW = LONG + b"\n0.5\t3\tcar\t0.5\n", LONG + b"2\t3\tcow\t0.5\n"
FOLDERS = {
    "folder_of_nothing": folder("empty-folder"),
    "folder_of_other_things": folder("empty-folder", notes_md=b"hello"),
    "folder_with_two_of_one": folder("repeated-recording", a_tsv=LONG, a_csv=LONG),
    "folder_with_rows_of_one_in_two": folder("repeated-recording", a_tsv=WHOLE, b_tsv=WHOLE),
    "folder_of_long_and_wide": folder("mixed-tables", a_tsv=LONG, b_tsv=TABLE),
    "folder_with_a_bad_table": folder("offset-before-onset", 3, 2, "b.tsv", a_tsv=LONG, b_tsv=BACKWARDS),
    "folder_with_two_bad_tables": folder("value-out-of-range", 3, 4, "b.tsv", a_tsv=b"junk\n", b_tsv=OUT),
    "folder_with_an_overlap": folder(
        "overlapping-rows", 4, 1, "b.tsv", scored=True, a_tsv=LONG, b_tsv=OVERLAP
    ),
    "folder_with_an_unknown_class": folder(
        "unknown-class", 3, 3, "b.tsv", scored=True, a_tsv=LONG, b_tsv=COW
    ),
}
EVERY = {row["name"]: of_text(row) for row in cases("../tools/bad_inputs.tsv")} | BYTES | FOLDERS
BAD = {name: case for name, case in EVERY.items() if not case.form}
OF_FORMS = {name: case for name, case in EVERY.items() if case.form}


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Return a function that writes a bad input next to the tables that it is compared to."""
    monkeypatch.chdir(lay_out(tmp_path, BESIDE))

    def written(name):
        data = EVERY[name].data
        if isinstance(data, dict):
            return lay_out(Path(name), data)
        return lay_out(Path(), {f"{name}.tsv": data}) / f"{name}.tsv"

    return written


@pytest.mark.parametrize("name", BAD)
def test_it_is_found_where_it_is_and_refused_if_it_is_an_error(name, put):
    case, path = BAD[name], put(name)
    before = {*Path().rglob("*")}
    validation = validate(path, **case.options)
    first = next(problem for problem in validation.problems if problem.code == case.code)
    place = (str(path / case.inside), case.line, case.column, case.scored)
    assert (first.source, first.line, first.column, validation.ok) == place, validation.problems
    assert str(first).isprintable()
    check_forms(validation)
    options = {name: value for name, value in case.options.items() if name != "preset"}
    # Without another reference, compare the input with itself: then nothing else can be wrong.
    alone = (case.scored or case.code == "no-effect") and "durations" not in options
    sides = options.pop("reference", path if alone else "reference.tsv"), path
    with nullcontext() if case.scored else pytest.raises(InputError) as caught:
        evaluate(*sides, only=("segment.hard",), **options)
    assert {*Path().rglob("*")} == before, "nothing is unpacked"
    # `read_rows` has no reference that shows several recordings, and no option that could have no effect.
    if caught and case.code not in {"missing-filename-column", "no-effect"}:
        assert str(path) in str(caught.value)
        with pytest.raises(InputError) as caught:
            read_rows(path)
        assert {*map(str, caught.value.problems)} <= {*map(str, validate(path).problems)}


@pytest.mark.parametrize("name", OF_FORMS)
def test_a_file_that_is_not_of_the_form_that_the_user_names_is_refused(name, put):
    case, path = OF_FORMS[name], put(name)
    assert found(path, case.form)[0] == [case.line, case.column, case.code]
    first = validate(path, source_form=case.form).problems[0]
    assert (first.source, first.severity) == (str(path), "error")


def check_forms(validation):
    """Check that JSON follows its schema, and that SARIF has each problem with its place and rule."""
    document = json.loads(render_validation(validation, "json"))
    SCHEMA.validate(document)
    n_problems = document["errors"] + document["warnings"] + document["notes"]
    assert n_problems == sum(document["counts"].values()) == len(document["problems"]) + document["more"]
    (run,) = json.loads(render_validation(validation, "sarif"))["runs"]
    for result, problem in zip(run["results"], validation.problems, strict=True):
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        of_rule, of_result = (
            (rule["id"], rule["defaultConfiguration"]["level"]),
            (result["ruleId"], result["level"]),
        )
        assert of_rule == of_result == (problem.code, problem.severity)
        place = result["locations"][0]["physicalLocation"]
        assert unquote(place["artifactLocation"]["uri"]) == problem.source
        cell = place.get("region", {}).get("startLine"), result.get("properties", {}).get("field")
        assert cell == (problem.line, problem.column)


@pytest.mark.parametrize("name", [name for name, case in BAD.items() if isinstance(case.data, bytes)])
def test_a_copy_is_never_worse(name, put):
    path, reference = put(name), Path("known.tsv")
    reference.write_text(f"{HEAD}{GOOD}a.wav\t3\t4\tstreet_dog\t1\n")
    before, after = validate(path, reference), validate(path, reference, fix="out.tsv")
    if not Path("out.tsv").exists():
        assert after.mends[0].startswith("no copy was written") and after.counts == before.counts
        return
    assert all(after.count(severity) <= before.count(severity) for severity in ("error", "warning"))
    # A second run fixes nothing more.
    assert validate("out.tsv", reference, fix="again.tsv").mends == ()
    assert Path("again.tsv").read_bytes() == Path("out.tsv").read_bytes()


def test_every_code_and_every_form_occurs():
    """tests/tables/test_limits.py has the codes of limits, which need larger inputs."""
    assert len(BAD) >= 170
    assert {case.form for case in OF_FORMS.values()} >= {
        form.name for form in FORMS if form.name not in {"maestro", "score-dir", "wide-csv"}
    }
    codes = {code for code in RULES if not code.startswith("too-many-")}
    # Other tests have the codes that need a list of files, thresholds in names or folders in folders.
    elsewhere = {"unreadable-file", "cannot-hold", "listed-file", "no-thresholds", "folders-in-folder"}
    assert codes - elsewhere == {case.code for case in BAD.values()}
