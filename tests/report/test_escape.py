"""Names that a program would run as code or a command: outputs escape them, and JSON keeps them exactly."""

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
from called import main_in
from hypothesis import example, given, settings
from hypothesis import strategies as st
from samples import build, render_board
from tables import columns_of

import sedeval_soft
from sedeval_soft.errors import Problem, visible
from sedeval_soft.report import Verdict, job_summary, json_text, render
from sedeval_soft.report.escape import cell, github_message, github_property, harmless
from sedeval_soft.report.latex import escaped
from sedeval_soft.settings_files import read_plain_yaml, write_plain_yaml

OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that no output may have, apart from line ends."""

HOSTILE = (
    *("=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\uff1d1", '=HYPERLINK("http://x")'),
    *("\x1b[31mred", "\x1b]0;title\x07", "\x9b2J", "a\x7fb", "right\u202etxt.exe", "\u2066iso\u2069", "a\rb"),
    *("[bold]x[/bold]", "[link=http://x]y[/link]", "<script>alert(1)</script>", "a|b", "`x`", "](http://x)"),
    *("::error::no", "%0A::error::no", "\u200bzero", "\u2028line", "&amp;", "'quoted", "\"; rm -rf /"),
)  # fmt: skip
MANY = st.text(st.characters(codec=None), min_size=1, max_size=12)


def rows(names: Sequence[str], value: float = 0.9) -> dict[str, list[object]]:
    """Return a table in which each name is both a file and a class."""
    return columns_of([(name, i, i + 1, name, value) for i, name in enumerate(names)])


def test_no_output_has_what_a_terminal_obeys():
    """Render one system with its largest costs, and a board."""
    table, how = rows(HOSTILE), {"replicates": 2, "only": "segment"}
    board = sedeval_soft.compare(table, dict.fromkeys(HOSTILE[:10], table), **how)
    scores = sedeval_soft.evaluate(table, table, name=HOSTILE[8], worst=3, only="segment")
    for form in ("text", "json", "csv", "tsv", "markdown"):
        found = {*OBEYED.findall(render([scores], form) + render_board(board, form))}
        assert found == ({"\t"} if form == "tsv" else set()), form


@given(MANY)
@example('|"=1')
@example("b;\uff1d1")
def test_any_name_is_harmless_in_texts_cells_and_json(text):
    assert visible(text).isprintable()
    assert visible(text) == text or not text.isprintable()
    assert OBEYED.search(harmless(text)) is None
    # A spreadsheet may split the cell at any of these.
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
    parts = re.fullmatch(r"::error file=([^:,]*),title=x::(.*)", line)
    # Line ends read back unchanged, other control characters as an escape.
    assert [*map(unquote, parts.groups())] == [
        "".join(c if c in "\r\n" else visible(c) for c in text) for text in (file, message)
    ]


NASTY = "\x1b[31m\u202e\x9b2J"


# Lines that a service would run as commands when they appear in its log.

COMMAND = re.compile("[\\s\u00ad\u200b-\u200d\u2060\ufeff]*::|.*##\\w*\\[")
"""Commands to GitHub: `::name::` at the begin of a line, `##[name]` anywhere; to Azure: `##vso[`."""

ENDS = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
LOGGED = (
    "::error::x", " ::warning file=a,line=1::x", "\u2003::debug::x", "\u200b::notice::x", "a\n::error::x",
    "a\r::error::x", "a\u2028::error::x", "a\x85::error::x", "##[error]x", "a ##[group]x", "###[add-mask]x",
    "##vso[task.setvariable variable=a]x", f"{NASTY}::error::x",
)  # fmt: skip
FORMS = ("text", "json", "csv", "tsv", "markdown", "yaml", "latex", "github")


def obeyed(text: str, form: str = "") -> list[str]:
    """Return the lines of an output that are commands, except ours in the form `github`."""
    ours = re.compile(r"::(error|warning|notice) ([a-zA-Z]+=[^:,]*,?)*::")
    lines = [line for line in ENDS.split(text) if not (form == "github" and ours.match(line))]
    return [line for line in lines if COMMAND.match(line) or OBEYED.search(line.replace("\t", ""))]


@pytest.mark.parametrize("name", LOGGED)
def test_no_name_is_a_command_in_any_text(name):
    asked = {"thresholds": {name: 0.5}, "classes": [name]}
    written, seen = write_plain_yaml(asked), visible(name)
    assert (read_plain_yaml(written), visible(seen)) == (asked, seen)
    for shown in (seen, harmless(name), cell(name), f"a\n{seen}", str(Problem(name, name)), written):
        assert obeyed(shown) == []


@pytest.mark.parametrize("name", ["a::b", "C++::x y", "# [1]", "#[a]", "## a [b]", "car: dog", "10:20::30"])
def test_an_ordinary_name_is_shown_as_it_is(name):
    assert visible(name) == harmless(name) == name


BAD = f"::error::bad{NASTY}.tsv"
"""A table with control characters and commands in its name and rows."""


REF, SYS, OTHER = "ref.jsonl", "::error::sys.jsonl", "##[error]other.jsonl"


@pytest.fixture(scope="module")
def logged(tmp_path_factory) -> Path:
    """Write tables, settings, tallies and results with commands as names, in files of such names."""
    folder = tmp_path_factory.mktemp("logged")
    for table, value in ((REF, 1.0), (SYS, 0.75), (OTHER, 0.25)):
        pd.DataFrame(rows(LOGGED, value)).to_json(folder / table, orient="records", lines=True)
    bad = [f'"{name}"\t"{name}"\t1\t"{name}"\n' for name in LOGGED if name.isprintable()]
    (folder / BAD).write_text("filename\tonset\toffset\tevent_label\n" + "".join(bad))
    (folder / "::error::bad.yaml").write_text("'::error::x': 1\n'##[error]': {'::error::y': 2}\n")
    (folder / "made").mkdir()
    for table in (SYS, OTHER, BAD):
        shutil.copy(folder / table, folder / "made")
    for system in ("::error::sys", "##[error]other"):
        made = "--only", "segment", "--save-tally", f"{system}.tally", "-o", f"{system}.json"
        assert main_in(folder, [REF, f"{system}.jsonl", "--quiet", "--format", "json", *made])[0] == 0
    return folder


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
    found, out, err = main_in(logged, arguments)
    lines = obeyed(out + err, "github" if "github" in arguments else "")
    assert (found, lines, "Traceback" in err) == (code, [], False), out + err


@pytest.mark.parametrize("to", ["long", "wide", "jsonl"])
def test_tables_are_exact_and_no_line_of_them_begins_a_command(tmp_path, to):
    given = rows([name for name in LOGGED if name.isprintable()])
    path = tmp_path / f"table.{to}"
    sedeval_soft.convert(given, path, to=to)
    assert not [line for line in path.read_text().splitlines() if re.match(r"\s*(::|##\w*\[)", line)]
    assert dict(sedeval_soft.evaluate(given, path)) == dict(sedeval_soft.evaluate(given, given))


@given(st.text(max_size=20))
@example("".join(map(chr, range(256))))
@example("\\\\[2em]")
@example("----")
def test_no_character_of_a_name_is_obeyed_by_latex(name):
    """Only commands without arguments, signs after a backslash, and brackets in braces are not plain text."""
    text = re.sub(r"\\[a-zA-Z]+\d*\{\}|\\[#$%&_{}]|\{[\[\]*]?\}", "", escaped(name))
    assert not set(text) & set('#$%&_~^\\<>|"{}[]*\n') and "--" not in escaped(name)


@settings(max_examples=6)
@given(st.text(min_size=1, max_size=10))
@example("::error::x")
@example("\n::error::x")
@example("##[error]x")
@example("<script>|`")
def test_no_line_of_a_summary_is_a_command(name):
    wanted = f"segment.soft.f1[{name}]"
    scores = replace(
        build((name,), (("segment", "soft"),), system=name),
        warnings=(name,),
        signature=f"soft-sed-eval {name}",
    )
    for shown in ((), (wanted,)):
        text = job_summary([scores], None, [Verdict(name, f"{wanted}>=1", None, met=False)], shown)
        assert not obeyed(text) and not re.search(r"(?<!\\)<script", text)
