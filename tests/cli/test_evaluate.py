"""The command line as its users call it: exit codes, streams, forms, requirements."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from called import OTHER, REFERENCE, SAMPLES, SYSTEM, call
from click.testing import CliRunner
from launched import program

from sedeval_soft.cli.command import split_classes
from sedeval_soft.cli.main import group
from sedeval_soft.errors import missing_package
from sedeval_soft.report.requirements import meets

F1 = "segment.soft.f1.micro"


def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as a shell would."""
    return subprocess.run([*program(), *arguments], input=stdin, capture_output=True, check=False, text=True)


@pytest.fixture(scope="module")
def scores():
    """The scores of the samples, in JSON."""
    found = call(REFERENCE, SYSTEM, "--format", "json").scores
    return {name: score["value"] for name, score in found.items()}


def test_plain_results_are_a_table_for_people(scores):
    """Screens are in tests/data/screens; a pipe gets the same text, and the whole signature."""
    done = run(REFERENCE, SYSTEM, "-vv", "--durations", str(SAMPLES / "durations.tsv"))
    again = call(REFERENCE, SYSTEM, "-vv", "--durations", SAMPLES / "durations.tsv")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", again.out)
    # sample_data/README.md: 2 TP / (N_sys + N_ref) = 0.909 soft, 0.796 hard, computed there with numpy.
    assert (round(scores[F1], 3), round(scores["segment.hard.f1.micro"], 3)) == (0.909, 0.796)
    assert not re.search("[\x1b\u2500-\u257f]", done.stdout)
    last = done.stdout.splitlines()[-1]
    assert last.startswith("soft-sed-eval ") and "segment_length=1.0" in last
    assert len(re.findall(r"(?:reference|system|durations):sha256=[0-9a-f]{64}", last)) == 3


def test_just_numbers_are_printed_as_they_are(scores):
    undefined = "segment.hard.precision[door opens]"
    done = call(REFERENCE, SYSTEM, "--score", undefined, "--score", f" {F1} ")
    assert (done.code, done.out, done.err) == (0, f"-\n{scores[F1]!r}\n", "")


@pytest.mark.parametrize(
    ("requirements", "code", "said"),
    [
        ((f"{F1}>=0.9", "segment.hard.error_rate.micro < 1"), 0, ()),
        ((f"{F1}>=0.95", "segment.hard.f1.micro>=0.1"), 1, (f"{F1}>=0.95: it is 0.9",)),
        (("segment.hard.precision[door opens]>=0",), 1, ("[door opens]>=0.0: it is undefined",)),
        (("segment.soft.f1.makro>=1", "segment.soft.ff>=x"), 2, ("soft.f1.macro", "is not a requirement")),
    ],
)
def test_requirements_are_met_or_said_to_be_missed(requirements, code, said):
    done = call(REFERENCE, SYSTEM, *(f"--require={text}" for text in requirements))
    assert done.code == code
    assert all(text in done.err for text in said)
    assert len(done.err.splitlines()) == (1 if code == 1 else len(said))
    assert ("Weakest classes" in done.out) == (code < 2)


@pytest.mark.parametrize(
    ("arguments", "usage"),
    [
        (["evaluate", "--help"], "soft-sed-eval [OPTIONS] REFERENCE SYSTEM...\n"),
        ([REFERENCE], "soft-sed-eval [OPTIONS] REFERENCE SYSTEM...\nTry 'soft-sed-eval --help' for help."),
        (["merge"], "soft-sed-eval merge [OPTIONS] TALLY...\nTry 'soft-sed-eval merge --help' for help."),
    ],
)
def test_usage_is_what_one_would_type(arguments, usage):
    done = CliRunner().invoke(group, arguments, prog_name="soft-sed-eval")
    assert done.output.startswith(f"Usage: {usage}")


def test_quoted_classes_may_hold_commas():
    assert split_classes(None, None, ['"a, b",c', ' d , "e ""f""" ']) == ("a, b", "c", "d", 'e "f"')


def test_operating_points_stand_in_place_of_the_system(tmp_path):
    rows, points = ("a.wav\t0\t2\tcar\n", "a.wav\t5\t8\tcar\n", "a.wav\t9\t9.5\tcar\n"), tmp_path / "p"
    points.mkdir()
    for number, path in enumerate((points / "out_0.6.tsv", tmp_path / "ref.tsv", points / "out_0.2.tsv"), 1):
        path.write_text("".join(rows[:number]))
    asked = (tmp_path / "ref.tsv", points, "--operating-points", "--score")
    done = call(*asked, "event.soft.tp.micro", "--score", "event.hard.n_sys.micro")
    assert done.out.split() == ["1.6", "3"]
    # The high threshold's list finds one of two; the second costs a false positive in the reference's 8 s.
    done = call(*asked, "intersection.hard.psds", "--set", "max_efpr=1000")
    assert float(done.out) == pytest.approx(0.5 + 0.5 * (1 - 3600 / 8 / 1000))


def test_output_file_holds_what_would_be_printed_and_standard_input_reads_the_same(tmp_path):
    printed = call(REFERENCE, SYSTEM, "--score", F1).out
    done = call(REFERENCE, SYSTEM, "--score", F1, "-o", tmp_path / "out")
    assert (done.code, done.out, [*tmp_path.iterdir()]) == (0, "", [tmp_path / "out"])
    assert (tmp_path / "out").read_text() == printed
    assert run(REFERENCE, "-", "--score", F1, stdin=Path(SYSTEM).read_text()).stdout == printed


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.json", "json"), ("a.CSV", "csv"), ("a.tsv", "tsv"), ("a.md", "markdown"), ("a.yml", "yaml"),
     ("a.yaml", "yaml"), ("a.tex", "latex"), ("a.xml", "junit"), ("a.txt", "text"), ("json", "text")],
)  # fmt: skip
def test_the_extension_of_a_file_says_its_form_unless_format_does(name, form, tmp_path):
    def written(*more):
        assert call(REFERENCE, SYSTEM, "--require", f"{F1}>=0", "-q", "-o", tmp_path / name, *more).code == 0
        return (tmp_path / name).read_text()

    assert written() == written("--format", form)
    assert written("--format", "text") == call(REFERENCE, SYSTEM, "-q").out
    assert call("diagnose", REFERENCE, SYSTEM, "-o", tmp_path / "d.csv").code == 0
    assert (tmp_path / "d.csv").read_text() == call("diagnose", REFERENCE, SYSTEM, "--format", "csv").out


@pytest.mark.parametrize(
    ("command", "name", "expected"),
    [
        ([REFERENCE, SYSTEM], "a.html", "expected soft-sed-eval report REFERENCE SYSTEM... -o"),
        ([REFERENCE, SYSTEM, OTHER], "a.HTM", "expected soft-sed-eval report REFERENCE SYSTEM... -o"),
        ([REFERENCE, SYSTEM], "a.png", "expected soft-sed-eval plot KIND ... -o"),
        ([REFERENCE, SYSTEM], "a.xlsx", "expected --format text, json"),
        (["diagnose", REFERENCE, SYSTEM], "a.html", "expected --format text, json, csv, tsv, or"),
        (["validate", SYSTEM], "a.csv", "expected --format text, json, sarif, github, or"),
    ],
)
def test_a_file_of_another_kind_is_no_text(command, name, expected, tmp_path):
    done = call(*command, "-o", tmp_path / name)
    assert done.code == 2 and expected in done.err and not (tmp_path / name).exists()
    assert call(*command, "-o", tmp_path / name, "--format", "text").code == 0


def test_warnings_go_to_standard_error_and_can_be_silenced(tmp_path):
    table = tmp_path / "sys.tsv"
    table.write_text("filename\tonset\toffset\tevent_label\nother.wav\t0\t1\tcars\n")
    loud = call(REFERENCE, table)
    assert loud.code == 0
    for said in ("warning: ", "'cars' is not in the reference", "did you mean 'car'"):
        assert said in loud.err
    assert call(REFERENCE, table, "-q").err == ""
    strict = call(REFERENCE, table, "--strict")
    assert (strict.code, strict.out) == (2, "")
    assert "other.wav" in strict.err


def test_check_prints_ours_theirs_and_the_difference():
    done = call("check", REFERENCE, SYSTEM, "--with", "sed_eval", "--set", "compat=sed_eval")
    assert done.code == 0
    assert re.search(r"(\d+) of \1 scores agree", done.out)
    differing = call("check", REFERENCE, SYSTEM, "--with", "sed_eval", "--only", "segment.hard").out
    # Beside what differs is our number by its rules, which is its number.
    wanted = r"^segment\.hard\.precision\.macro +\S+ +(\S+) +\S+ +differs +\1$"
    assert re.search(wanted, differing, re.MULTILINE)
    assert "By its rules (compat=sed_eval) 3 of the 3 that differ agree, too.\n" in differing
    assert "\nmacro averages: sed_eval averages all classes with a defined value" in differing
    assert "event.hard" not in differing


def test_list_scores_and_version():
    lines = call("explain").out.splitlines()
    form = r"(segment|event|intersection|clip|ranking)\.\w+\.\w+(\.\w+|\[class\])?  "
    assert len(lines) > 500 and all(re.match(form, line) for line in lines)
    assert re.fullmatch(r"soft-sed-eval, version \d+\.\d+\.\d+\n", call("--version").out)


def test_a_defect_is_one_message():
    code = (
        "import sys, sedeval_soft.api.evaluation as api; from sedeval_soft.cli import main\n"
        "def fail(*a): raise KeyError('boom')\napi.sides_of = fail\n"
        f"sys.argv = ['x', {REFERENCE!r}, {SYSTEM!r}]\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    assert done.returncode == 2 and "defect: KeyError" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("module", "option", "installs"),
    [
        ("scipy", "--ci=bca", '"scipy>=1.15"'),
        ("yaml", "--preset=maestro-soft", '"pyyaml>=6.0"'),
        # What one of those needs that this package asks for: its own name may be another's.
        ("dcase_util", "--with=sed_eval", '"scipy>=1.15" "sed'),
    ],
)
def test_a_package_that_is_missing_is_named_with_what_installs_it(module, option, installs):
    command = ["check"] if "--with" in option else []
    code = (
        f"import sys; sys.modules[{module!r}] = None\nfrom sedeval_soft.cli.main import main\n"
        f"sys.argv = ['x', *{command!r}, {REFERENCE!r}, {SYSTEM!r}, '--quiet', {option!r}]\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    *_, said, command = done.stderr.splitlines()
    assert done.returncode == 2 and "defect" not in done.stderr
    assert said.startswith(f"soft-sed-eval: this needs {module}, which is not installed")
    assert command.startswith(f"{sys.executable} -m pip install ") and installs in command


@pytest.mark.parametrize("name", ["numpy.nothing", "sedeval_soft.nothing", None])
def test_a_part_that_a_package_lacks_is_no_missing_package(name):
    assert missing_package(ModuleNotFoundError("no", name=name)) is None


# A requirement, and the limit of a threshold, is met except for rounding.

HEAD = "filename\tonset\toffset\tevent_label\tvalue"


@pytest.mark.parametrize(
    ("sign", "met"), [(">=", True), ("<=", True), ("==", True), (">", False), ("<", False)]
)
def test_a_requirement_of_a_decimal_is_met_by_it(sign, met):
    assert meets(sum([0.7] * 3) / 3, sign, 0.7) == met and not meets(0.9, ">=", 0.900000001)


@pytest.mark.parametrize(("seconds", "limit"), [(2, 1800), (4, 900), (8, 450)])
def test_alarms_per_hour_are_counted_in_whole_ticks(seconds, limit, tmp_path):
    """Three files of some seconds, and three alarms above the only hit: just so many an hour."""
    pairs = [(0, 0.9)] * 3 + [(1, 0.8)] + [(0, 0)] * (3 * seconds - 4)
    for side in (0, 1):
        rows = (
            f"{k // seconds}.wav\t{k % seconds}\t{k % seconds + 1}\tcar\t{p[side]}"
            for k, p in enumerate(pairs)
        )
        (tmp_path / f"{side}.tsv").write_text("\n".join([HEAD, *rows, ""]), encoding="utf-8")
    asked = ("--set", f"satisfice=fpr_per_hour<={limit}", "--score", "segment.optimal.satisficed_recall[car]")
    assert call(tmp_path / "0.tsv", tmp_path / "1.tsv", "--only", "segment.optimal", *asked).out == "1.0\n"


# What is printed of one row, one file and one class: words in the singular.

_SEVERAL = "files|classes|rows|recordings|segments|scores|events|submissions|tables|shards|columns|problems"
PLURAL = re.compile(rf"(?<![\w.,])1 (?:\w+ )?(?:{_SEVERAL})\b")

SINGULAR = {
    "ref.tsv sys.tsv": "1 file, 1 s, 1 class",
    "ref.tsv sys.tsv -v": "ref.tsv: 1 row, 1 file, 1 class;",
    "validate submissions/": "folder of 1 table,",
    "simulate constant ref.tsv -o made.tsv": "1 row, 1 file\n",
    "convert ref.tsv made.txt --to sed-eval": "loses values of 1 row: those above 0",
    "board submissions --reference ref.tsv -o site": "1 submission: 1 ranked, 0 invalid; 0 unchanged\n",
    "diff a.json b.json --score segment.soft.f1.macro": "1 of 1 score differs\n",
}
"""Calls, and what each must print: else nothing would be looked at."""


def test_one_thing_is_not_spoken_of_as_several(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("submissions").mkdir()
    for name, value in {"ref.tsv": 0.8, "sys.tsv": 0.7, "submissions/one.tsv": 0.8}.items():
        Path(name).write_text(f"{HEAD}\na.wav\t0\t1\tcar\t{value}\n")
    for name, system in (("a", "ref"), ("b", "sys")):
        call("ref.tsv", f"{system}.tsv", "--format", "json", "-o", f"{name}.json", "-q")
    for line, expected in SINGULAR.items():
        done = call(*line.split())
        assert expected in done.out + done.err
        assert not PLURAL.findall(done.out + done.err), line
