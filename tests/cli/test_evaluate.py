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

from sedeval_soft import evaluate
from sedeval_soft.cli.command import split_classes
from sedeval_soft.cli.main import group
from sedeval_soft.errors import missing_package
from sedeval_soft.report.requirements import meets

F1 = "segment.soft.f1.micro"
SCORES = evaluate(REFERENCE, SYSTEM)


def run(*arguments, stdin=None):
    """Run the command in a process of its own, as a shell would."""
    return subprocess.run([*program(), *arguments], input=stdin, capture_output=True, check=False, text=True)


def started(code, *arguments):
    """Run the command in a new interpreter after some code."""
    code = f"import sys\n{code}\nfrom sedeval_soft.cli import main\nsys.argv = ['x', *{arguments!r}]\nmain()"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)


def test_plain_results_are_a_table_for_people():
    """Screens are in tests/data/screens; a pipe gets the same text, and the whole signature."""
    asked = (REFERENCE, SYSTEM, "-vv", "--durations", str(SAMPLES / "durations.tsv"))
    done = run(*asked)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", call(*asked).out)
    # sample_data/README.md: 2 TP / (N_sys + N_ref) = 0.909 soft, 0.796 hard, computed there with numpy.
    assert (round(SCORES[F1], 3), round(SCORES["segment.hard.f1.micro"], 3)) == (0.909, 0.796)
    assert not re.search("[\x1b\u2500-\u257f]", done.stdout)
    last = done.stdout.splitlines()[-1]
    assert last.startswith("soft-sed-eval ") and "segment_length=1.0" in last
    assert len(re.findall(r"(?:reference|system|durations):sha256=[0-9a-f]{64}", last)) == 3


@pytest.mark.parametrize(
    ("text", "options", "first"),
    [
        # Onsets alone are events; no segment is active.
        ("filename\tonset\tevent_label\na\t1\tdog\na\t2\tdog\n", "", "event.hard.f1.macro   1.000"),
        # Clips without times have no length.
        ("filename\tevent_label\na\tdog\nb\tcat\n", "--only clip", "clip.hard.f1.macro   1.000"),
    ],
)
def test_the_score_to_report_is_defined(text, options, first, tmp_path):
    (tmp_path / "t.tsv").write_text(text)
    title, _, named, *_ = call(*[tmp_path / "t.tsv"] * 2, *options.split(), "-q").out.splitlines()
    assert named.startswith(first) and (" s," in title) == (options == "")


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
    assert (done.code, "Weakest classes" in done.out) == (code, code < 2)
    assert all(text in done.err for text in said)
    assert len(done.err.splitlines()) == (1 if code == 1 else len(said))


@pytest.mark.parametrize(
    ("sign", "met"), [(">=", True), ("<=", True), ("==", True), (">", False), ("<", False)]
)
def test_a_requirement_of_a_decimal_is_met_by_it(sign, met):
    assert meets(sum([0.7] * 3) / 3, sign, 0.7) == met and not meets(0.9, ">=", 0.900000001)


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


def test_numbers_are_exact_on_standard_output_in_a_file_and_of_standard_input(tmp_path):
    asked = ("--score", "segment.hard.precision[door opens]", "--score", f" {F1} ")
    printed, done = (call(REFERENCE, SYSTEM, *asked, *to) for to in ((), ("-o", tmp_path / "out")))
    assert (printed.code, printed.out, printed.err) == (0, f"-\n{SCORES[F1]!r}\n", "")
    assert (done.code, done.out, [*tmp_path.iterdir()]) == (0, "", [tmp_path / "out"])
    assert (tmp_path / "out").read_text() == printed.out
    assert run(REFERENCE, "-", *asked, stdin=Path(SYSTEM).read_text()).stdout == printed.out


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.json", "json"), ("a.CSV", "csv"), ("a.tsv", "tsv"), ("a.md", "markdown"), ("a.yml", "yaml"),
     ("a.yaml", "yaml"), ("a.tex", "latex"), ("a.xml", "junit"), ("a.txt", "text"), ("json", "text")],
)  # fmt: skip
def test_the_extension_of_a_file_says_its_form_unless_format_does(name, form, tmp_path):
    asked = (REFERENCE, SYSTEM, "--require", f"{F1}>=0", "-q", "-o", tmp_path / name)
    texts = []
    for more in ((), ("--format", form), ("--format", "text")):
        assert call(*asked, *more).code == 0
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1] and texts[2] == call(REFERENCE, SYSTEM, "-q").out


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
    loud, quiet, strict = (call(REFERENCE, table, *more) for more in ((), ("-q",), ("--strict",)))
    assert loud.code == 0 and "warning: " in loud.err
    assert "'cars' is not in the reference" in loud.err and "did you mean 'car'" in loud.err
    assert (quiet.code, quiet.err, quiet.out) == (0, "", loud.out)
    assert (strict.code, strict.out) == (2, "") and "other.wav" in strict.err


def test_check_prints_ours_theirs_and_the_difference():
    """The numbers are in tests/apps/second_opinion."""
    same, differing = (
        call("check", REFERENCE, SYSTEM, "--with", "sed_eval", *more).out
        for more in (("--set", "compat=sed_eval"), ("--only", "segment.hard"))
    )
    assert re.search(r"(\d+) of \1 scores agree", same)
    assert "By its rules (compat=sed_eval) 3 of the 3 that differ agree, too.\n" in differing
    assert "event.hard" not in differing
    assert call("check", REFERENCE, SYSTEM, "--with", "sed_evl").code == 2


def test_list_scores_and_version():
    lines = call("explain").out.splitlines()
    form = r"(segment|event|intersection|clip|ranking)\.\w+\.\w+(\.\w+|\[class\])?  "
    assert len(lines) > 500 and all(re.match(form, line) for line in lines)
    assert re.fullmatch(r"soft-sed-eval, version \d+\.\d+\.\d+\n", call("--version").out)


def test_a_defect_is_one_message():
    fail = (
        "def fail(*a): raise KeyError('boom')\nimport sedeval_soft.api.evaluation as api\napi.to_rows = fail"
    )
    done = started(fail, REFERENCE, SYSTEM)
    assert done.returncode == 2 and "defect: KeyError" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("module", "options", "installs"),
    [
        ("scipy", (REFERENCE, SYSTEM, "--ci=bca"), '"scipy>=1.15"'),
        ("yaml", (REFERENCE, SYSTEM, "--preset=maestro-soft"), '"pyyaml>=6.0"'),
        # A package that one of ours needs: its own name may be another's.
        ("dcase_util", ("check", REFERENCE, SYSTEM, "--with=sed_eval"), '"scipy>=1.15" "sed'),
    ],
)
def test_a_package_that_is_missing_is_named_with_what_installs_it(module, options, installs):
    done = started(f"sys.modules[{module!r}] = None", *options, "--quiet")
    *_, said, command = done.stderr.splitlines()
    assert done.returncode == 2 and "defect" not in done.stderr
    assert said.startswith(f"soft-sed-eval: this needs {module}, which is not installed")
    assert command.startswith(f"{sys.executable} -m pip install ") and installs in command


@pytest.mark.parametrize("name", ["numpy.nothing", "sedeval_soft.nothing", None])
def test_a_part_that_a_package_lacks_is_no_missing_package(name):
    assert missing_package(ModuleNotFoundError("no", name=name)) is None


# One row, one file and one class: words in the singular.

_SEVERAL = "files|classes|rows|recordings|segments|scores|events|submissions|tables|shards|columns|problems"
PLURAL = re.compile(rf"(?<![\w.,])1 (?:\w+ )?(?:{_SEVERAL})\b")

SINGULAR = {
    "ref.tsv sys.tsv": "1 file, 1 s, 1 class",
    "ref.tsv sys.tsv -v": "ref.tsv: 1 row, 1 file, 1 class;",
    "validate submissions/": "folder of 1 table,",
    "simulate constant ref.tsv -o made.tsv": "1 row, 1 file\n",
    "convert ref.tsv made.txt --to sed-eval": "loses values of 1 row: those above 0",
    "board submissions --reference ref.tsv -o site": "1 submission: 1 ranked, 0 invalid; 0 unchanged\n",
    "ref.tsv ref.tsv --format json -o a.json": "",
    "ref.tsv sys.tsv --format json -o b.json": "",
    "diff a.json b.json --score segment.soft.f1.macro": "1 of 1 score differs\n",
}
"""Calls, and what each must print: else nothing would be looked at."""


def test_one_thing_is_not_spoken_of_as_several(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("submissions").mkdir()
    for name, value in {"ref.tsv": 0.8, "sys.tsv": 0.7, "submissions/one.tsv": 0.8}.items():
        Path(name).write_text(f"filename\tonset\toffset\tevent_label\tvalue\na.wav\t0\t1\tcar\t{value}\n")
    for line, expected in SINGULAR.items():
        done = call(*line.split())
        assert expected in done.out + done.err and not PLURAL.findall(done.out + done.err), line


# A preset that computes hard scores as sed_eval does changes no other score, no tuning and no figure.

PRESET = ("--preset", "dcase2019-2022-task4", "-q")
COLLARS = {"offset_collar_rate": 0.2}
HARD = "segment.hard.f1.macro"


@pytest.mark.parametrize(
    ("name", "options", "settings"),
    [
        (
            "intersection.hard.psds",
            "--psds dcase-psds1",
            {"psds": "dcase-psds1", "only": "intersection.hard"},
        ),
        ("segment.soft.f1.macro", "", {}),
        ("event.optimal.f1.macro", "", {}),
        ("event.soft.f1.harmonic", "", {"means": "harmonic"}),
        (HARD, "", {"compat": "sed_eval"}),
        (HARD, "--set compat=none", {}),
    ],
)
def test_each_score_is_computed_with_and_without_it(name, options, settings):
    done = call(REFERENCE, SYSTEM, *PRESET, *options.split(), "--score", name)
    assert float(done.out) == evaluate(REFERENCE, SYSTEM, **COLLARS, **settings)[name]


def test_its_scores_differ_and_it_lacks_some():
    assert (
        len({evaluate(REFERENCE, SYSTEM, compat=each, **COLLARS)[HARD] for each in ("sed_eval", None)}) == 2
    )
    done = call(REFERENCE, SYSTEM, *PRESET, "--score", "event.hard.f1.harmonic")
    assert (done.code, done.out) == (2, "") and "is none of sed_eval's" in done.err


def test_tuning_and_figures_work(tmp_path):
    asked = ("tune", REFERENCE, SYSTEM, "--objective", "event.f1", "-q")
    tuned, plain = (call(*asked, *more).out for more in (PRESET[:2], ("--offset-collar-rate", "0.2")))
    assert tuned.split("signature")[0] == plain.split("signature")[0] != ""
    for kind in ("psd-roc", "f-thresholds", "pr"):
        assert call("plot", kind, REFERENCE, SYSTEM, *PRESET, "-o", tmp_path / "x.svg").code == 0, kind
