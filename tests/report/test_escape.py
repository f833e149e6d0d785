"""Names that something would obey: each output shows them as text, and JSON has them exactly."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from called import main_in
from hypothesis import example, given
from hypothesis import strategies as st
from samples import render_board

import sedeval_soft
from sedeval_soft.errors import Problem, visible
from sedeval_soft.report import render
from sedeval_soft.report.delimited import write_curves
from sedeval_soft.report.escape import (
    cell,
    github_message,
    github_property,
    harmless,
    json_text,
)

OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What no output may have, ends of lines apart."""

FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\uff1d1", '=HYPERLINK("http://x")')
HOSTILE = (
    *FORMULAS,
    *("\x1b[31mred", "\x1b]0;title\x07", "\x9b2J", "a\x7fb", "right\u202etxt.exe", "\u2066iso\u2069", "a\rb"),
    *("[bold]x[/bold]", "[link=http://x]y[/link]", "<script>alert(1)</script>", "a|b", "`x`", "](http://x)"),
    *("::error::no", "%0A::error::no", "\u200bzero", "\u2028line", "&amp;", "'quoted", "\"; rm -rf /"),
)  # fmt: skip
MANY = st.text(st.characters(codec=None), min_size=1, max_size=12)


def rows(names: tuple[str, ...]) -> dict[str, list[object]]:
    n = len(names)
    times = [float(i) for i in range(n)]
    return {
        "filename": list(names), "onset": times, "offset": [t + 1 for t in times], "event_label": list(names),
        "soft_value": [0.9] * n,
    }  # fmt: skip


@pytest.fixture(scope="module")
def scores():
    return sedeval_soft.evaluate(rows(HOSTILE), rows(HOSTILE), name=HOSTILE[8], worst=3, only="segment")


@pytest.fixture(scope="module")
def board():
    systems = {name: rows(HOSTILE) for name in HOSTILE[:10]}
    return sedeval_soft.compare(rows(HOSTILE), systems, replicates=10, only="segment")


@pytest.mark.parametrize("form", ["text", "colour", "json", "csv", "tsv", "markdown"])
def test_no_output_has_what_a_terminal_or_a_spreadsheet_obeys(form, scores, board):
    how = {"color": True, "width": 80} if form == "colour" else {}
    name = "text" if form == "colour" else form
    for text in (render([scores], name, **how), render_board(board, name, **how)):
        # Colours of ours are the only escapes, and delimiters of a table are no names.
        bare = re.sub(r"\x1b\[\d+(;\d+)*m", "", text) if form == "colour" else text
        assert set(OBEYED.findall(bare)) <= ({"\t"} if form == "tsv" else set())
        assert text.encode()
        cells = csv.reader(io.StringIO(text, newline=""), delimiter="," if form == "csv" else "\t")
        for value in (value for row in cells for value in row) if form in {"csv", "tsv"} else ():
            begins = re.match(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]", value)
            assert begins is None or re.fullmatch(r"-\d+(\.\d+)?(e-?\d+)?", value), value


def test_curves_are_safe_as_text_and_exact_as_parquet(tmp_path):
    import pyarrow.parquet as pq

    found = sedeval_soft.threshold_curves(rows(HOSTILE), rows(HOSTILE), only="segment")
    write_curves(str(tmp_path / "c.tsv"), {"s": found})
    text = (tmp_path / "c.tsv").read_bytes().decode()
    assert set(OBEYED.findall(text)) <= {"\t"}
    classes = {row["class"] for row in csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")}
    assert "'=1+1" in classes and "=1+1" not in classes
    write_curves(str(tmp_path / "c.parquet"), {"s": found})
    exact = set(pq.read_table(tmp_path / "c.parquet")["class"].to_pylist())
    assert {name.strip() for name in HOSTILE} <= exact


@given(MANY)
@example('|"=1')
@example("b;\uff1d1")
def test_any_name_is_harmless_in_texts_cells_and_json(text):
    assert visible(text).isprintable()
    assert visible(text) == text or not text.isprintable()
    assert OBEYED.search(harmless(text)) is None
    # However a spreadsheet divides it.
    assert not [part for part in re.split("[;|,]", cell(text)) if re.match(r"[\s\"]*[=+\-@\uff1d]", part)]
    assert cell(text).replace("'", "") == harmless(text).replace("'", "")
    written = json.dumps({"name": text}, ensure_ascii=False, indent=2)
    assert json.loads(json_text(written)) == json.loads(written)
    assert OBEYED.search(json_text(written).replace("\n", "")) is None
    assert (harmless("क्‍ष"), cell("a=1")) == ("क्‍ष", "a=1")


@given(MANY, MANY)
def test_github_annotations_are_one_line_whose_parts_read_back(file, message):
    line = f"::error file={github_property(file)},title=x::{github_message(message)}"
    assert len(line.splitlines()) == 1
    found = re.fullmatch(r"::error file=([^:,]*),title=x::(.*)", line)
    assert found
    for part, text in zip(found.groups(), (file, message), strict=True):
        # Ends of lines read back as they are, all else that is obeyed as an escape.
        assert _unescaped(part) == "".join(c if c in "\r\n" else visible(c) for c in text)


def _unescaped(text):
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """Return the exit code of the command, and all that it prints."""
    code, out, err = main_in(folder, arguments)
    return code, out + err


NASTY = "\x1b[31m\u202e\x9b2J"


# Lines that would be commands to what keeps a log.

COMMAND = re.compile("[\\s\u00ad\u200b-\u200d\u2060\ufeff]*::|.*##\\w*\\[")
"""How GitHub reads a line: `::name::` at its begin, blanks or not; `##[name]` anywhere, as Azure `##vso[`."""

ENDS = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
LOGGED = (
    "::error::x", " ::warning file=a,line=1::x", "\u2003::debug::x", "\u200b::notice::x", "a\n::error::x",
    "a\r::error::x", "a\u2028::error::x", "a\x85::error::x", "##[error]x", "a ##[group]x", "###[add-mask]x",
    "##vso[task.setvariable variable=a]x", f"{NASTY}::error::x",
)  # fmt: skip
FORMS = ("text", "json", "csv", "tsv", "markdown", "yaml", "latex", "github")


def obeyed(text: str, form: str = "") -> list[str]:
    """The lines of an output that something would obey, those of GitHub's own form left out."""
    ours = re.compile(r"::(error|warning|notice) ([a-zA-Z]+=[^:,]*,?)*::")
    lines = [line for line in ENDS.split(text) if not (form == "github" and ours.match(line))]
    return [line for line in lines if COMMAND.match(line) or OBEYED.search(line.replace("\t", ""))]


@pytest.mark.parametrize("name", LOGGED)
def test_no_name_is_a_command_in_any_text(name):
    for text in (visible(name), harmless(name), cell(name), f"a\n{visible(name)}", str(Problem(name, name))):
        assert not obeyed(text), text
    assert visible(visible(name)) == visible(name)
    for ordinary in ("a::b", "C++::x y", "# [1]", "#[a]", "## a [b]", "car: dog", "10:20::30"):
        assert visible(ordinary) == harmless(ordinary) == ordinary
    assert json.loads(json_text(json.dumps(name))) == name


BAD = f"::error::bad{NASTY}.tsv"
"""A table whose name and rows a terminal and a log would obey."""


@pytest.fixture(scope="module")
def logged(tmp_path_factory) -> Path:
    """Tables, settings, tallies and results whose names are commands, and which are called so themselves."""
    folder = tmp_path_factory.mktemp("logged")
    for table, value in (("ref", 1.0), ("::error::sys", 0.75), ("##[error]other", 0.25)):
        given = rows(LOGGED) | {"soft_value": [value] * len(LOGGED)}
        lines = [json.dumps(dict(zip(given, row, strict=True))) for row in zip(*given.values(), strict=True)]
        (folder / f"{table}.jsonl").write_text("\n".join(lines) + "\n")
    names = [f'"{name}"' for name in LOGGED if name.isprintable()]
    (folder / BAD).write_text(
        "filename\tonset\toffset\tevent_label\n" + "".join(f"{name}\t{name}\t1\t{name}\n" for name in names)
    )
    (folder / "::error::bad.yaml").write_text("'::error::x': 1\n'##[error]': {'::error::y': 2}\n")
    (folder / "made").mkdir()
    for system in ("::error::sys", "##[error]other"):
        (folder / "made" / f"{system}.jsonl").write_bytes((folder / f"{system}.jsonl").read_bytes())
    (folder / "made" / BAD).write_bytes((folder / BAD).read_bytes())
    for system in ("::error::sys", "##[error]other"):
        arguments = ["ref.jsonl", f"{system}.jsonl", "--quiet", "--only", "segment"]
        assert run(folder, *arguments, "--save-tally", f"{system}.tally", "-o", f"{system}.txt")[0] == 0
        assert run(folder, *arguments, "--format", "json", "-o", f"{system}.json")[0] == 0
    return folder


REF, SYS, OTHER = "ref.jsonl", "::error::sys.jsonl", "##[error]other.jsonl"
ONLY = ("--only", "segment", "--only", "event")
CALLS = [
    *((0, [REF, SYS, *ONLY, "--format", form]) for form in FORMS),
    *((0, [REF, SYS, OTHER, *ONLY, "--replicates", "20", "--format", form]) for form in FORMS[:7:2]),
    (0, [REF, SYS, "--worst", "3", "--measures", "confusion"]),
    (0, ["chance", REF, SYS, "--draws", "10"]), (0, ["check", REF, SYS, "--with", "sed_eval"]),
    (0, [REF, SYS, OTHER, "--runs"]),
    *((0, [REF, SYS, OTHER, *ONLY, "--per-file", "--format", form]) for form in FORMS[:7:2]),
    (0, [REF, SYS, OTHER, "--score", "segment.soft.f1.macro"]),
    *((1, [REF, SYS, "--format", form, "--require", "segment.hard.f1[::error::x]>=2"])
      for form in ("text", "github", "junit")),
    (2, [REF, SYS, "--score", "::error::x", "--score", "##[error]x"]),
    (2, [REF, f"missing{NASTY}"]), (2, [REF, SYS, f"--opt{NASTY}"]), (2, [REF, SYS, "-o", f"no{NASTY}/x"]),
    (2, [REF, SYS, "--config", BAD]), (2, [REF, SYS, "--limit", f"x{NASTY}=1"]),
    (2, [REF, BAD]), (2, ["::error::x"]), (2, [REF, SYS, "--::error::x"]),
    (2, [REF, SYS, "--config", "::error::bad.yaml"]), (2, [REF, SYS, "--preset", "::error::x"]),
    (2, [REF, SYS, "--strict", "--classes", "::error::x", "--classes", "##[error]zz"]),
    (2, [REF, SYS, "--folds", BAD]), (2, [REF, SYS, "--durations", BAD]),
    (2, [REF, SYS, "-o", "::error::/x"]),
    (2, [REF, SYS, "--columns", "::error::x=1"]),
    (0, ["merge", "::error::sys.tally"]), (2, ["merge", "::error::sys.tally", "##[error]other.tally"]),
    (2, ["merge", BAD]),
    *((1, ["diff", "::error::sys.json", "##[error]other.json", "--format", f]) for f in ("text", "json")),
    (2, ["diff", "::error::sys.json", BAD]),
    (0, ["explain", "segment.hard.f1[::error::x]"]), (2, ["explain", "::error::x"]),
    (0, ["tune", REF, SYS]), (2, ["tune", REF, BAD]), (2, ["presets", "show", "::error::x"]),
    *((1, ["validate", BAD, "--reference", REF, "--format", f]) for f in ("text", "json", "sarif", "github")),
    (0, ["validate", SYS, OTHER]),
    *((0, ["annotate", SYS, OTHER, "--format", form]) for form in ("text", "json")),
    (2, ["annotate", SYS, BAD]), (2, ["plot", "::error::x", REF, SYS]),
    (2, ["plot", "pr", REF, BAD, "-o", "x.png"]),
    (0, ["board", "made", "--reference", REF, "-o", "site", "--no-reports", "--replicates", "20"]),
    (2, ["::error::x", REF, SYS]), (2, ["convert", SYS, "-", "--to", "::error::x"]),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("code", "arguments"), CALLS, ids=str)
def test_no_line_that_a_command_prints_is_obeyed(logged, code, arguments):
    found, text = run(logged, *arguments)
    form = "github" if "github" in arguments else ""
    assert (found, obeyed(text, form)) == (code, []), text
    assert "Traceback" not in text


def test_tables_are_exact_and_no_line_of_them_begins_a_command(tmp_path):
    names = [name for name in LOGGED if name.isprintable() and "\u2028" not in name]
    given = {name: column[: len(names)] for name, column in rows(LOGGED).items()}
    given |= {"filename": names, "event_label": names}
    for to in ("long", "wide", "jsonl"):
        path = tmp_path / f"table.{to}"
        sedeval_soft.convert(given, path, to=to)
        assert not [line for line in path.read_text().splitlines() if re.match(r"\s*(::|##\w*\[)", line)]
        assert dict(sedeval_soft.evaluate(given, path)) == dict(sedeval_soft.evaluate(given, given))


def test_settings_with_such_names_read_back():
    from sedeval_soft.settings_files import read_plain_yaml, write_plain_yaml

    written = write_plain_yaml({"thresholds": dict.fromkeys(LOGGED, 0.5), "classes": list(LOGGED)})
    assert not obeyed(written)
    assert read_plain_yaml(written) == {"thresholds": dict.fromkeys(LOGGED, 0.5), "classes": [*LOGGED]}
