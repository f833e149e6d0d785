"""The command line as users call it: exit codes, streams, forms; several systems, and parts."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from called import OTHER, REFERENCE, SYSTEM, call

from sedeval_soft import evaluate, mean_of_runs
from sedeval_soft.cli.command import split_classes
from sedeval_soft.errors import install_command, missing_package
from sedeval_soft.report import render
from sedeval_soft.report.requirements import meets

F1 = "segment.soft.f1.micro"


@pytest.mark.parametrize(
    ("text", "options", "first"),
    [
        # Rows with onsets only are events, but no segment is active.
        ("filename\tonset\tevent_label\na\t1\tdog\na\t2\tdog\n", "", "event.hard.f1.macro   1.000"),
        # Clips without times have no duration.
        ("filename\tevent_label\na\tdog\nb\tcat\n", "--only clip", "clip.hard.f1.macro   1.000"),
    ],
)
def test_the_score_to_report_is_defined(text, options, first, tmp_path):
    (tmp_path / "t.tsv").write_text(text)
    title, _, named, *_ = call(*[tmp_path / "t.tsv"] * 2, *options.split(), "-q").out.splitlines()
    assert named.startswith(first) and (" s," in title) == (options == "")


@pytest.mark.parametrize(
    ("requirements", "code", "named"),
    [
        ((f"{F1}>=0.9", "segment.hard.error_rate.micro < 1"), 0, ()),
        ((f"{F1}>=0.95", "segment.hard.f1.micro>=0.1"), 1, (f"{F1}>=0.95: it is 0.9",)),
        (("segment.hard.precision[door opens]>=0",), 1, ("[door opens]>=0.0: it is undefined",)),
        (("segment.soft.f1.makro>=1", "segment.soft.ff>=x"), 2, ("soft.f1.macro", "segment.soft.ff>=x")),
    ],
)
def test_requirements_are_met_or_said_to_be_missed(requirements, code, named):
    done = call(REFERENCE, SYSTEM, *(f"--require={text}" for text in requirements))
    assert (done.code, "Weakest classes" in done.out) == (code, code < 2)
    assert all(text in done.err for text in named)
    assert len(done.err.splitlines()) == (1 if code == 1 else len(named))


@pytest.mark.parametrize(
    ("sign", "met"), [(">=", True), ("<=", True), ("==", True), (">", False), ("<", False)]
)
def test_a_requirement_of_a_decimal_is_met_by_it(sign, met):
    assert meets(sum([0.7] * 3) / 3, sign, 0.7) == met and not meets(0.9, ">=", 0.900000001)


def test_quoted_classes_may_hold_commas():
    assert split_classes(None, None, ['"a, b",c', ' d , "e ""f""" ']) == ("a, b", "c", "d", 'e "f"')


def test_numbers_are_exact_on_standard_output_in_a_file_and_of_standard_input(tmp_path):
    asked = ("--score", "segment.hard.precision[door opens]", "--score", f" {F1} ")
    printed, done = (call(REFERENCE, SYSTEM, *asked, *to) for to in ((), ("-o", tmp_path / "out")))
    assert (printed.code, printed.out, printed.err) == (0, f"-\n{evaluate(REFERENCE, SYSTEM)[F1]!r}\n", "")
    assert (done.code, done.out, [*tmp_path.iterdir()]) == (0, "", [tmp_path / "out"])
    assert (tmp_path / "out").read_text() == printed.out
    assert call(REFERENCE, "-", *asked, stdin=Path(SYSTEM).read_text()).out == printed.out


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.json", "json"), ("a.CSV", "csv"), ("a.tsv", "tsv"), ("a.md", "markdown"), ("a.yml", "yaml"),
     ("a.yaml", "yaml"), ("a.tex", "latex"), ("a.xml", "junit"), ("a.txt", "text"), ("json", "text")],
)  # fmt: skip
def test_the_extension_of_a_file_says_its_form_unless_format_does(name, form, tmp_path):
    asked = (REFERENCE, SYSTEM, "--score", F1, "--require", f"{F1}>=0", "-q")
    for more, said in (((), form), (("--format", "text"), "text")):
        assert call(*asked, "-o", tmp_path / name, *more).code == 0
        assert (tmp_path / name).read_text() == call(*asked, "--format", said).out


@pytest.mark.parametrize(
    ("command", "name", "expected"),
    [
        ([REFERENCE, SYSTEM], "a.html", "report"),
        ([REFERENCE, SYSTEM, OTHER, "--replicates", "2"], "a.HTM", "report"),
        ([REFERENCE, SYSTEM], "a.png", "plot"),
        ([REFERENCE, SYSTEM], "a.xlsx", "text, json"),
        (["diagnose", REFERENCE, SYSTEM, "--only", "event.hard"], "a.html", "text, json, csv, tsv"),
        (["validate", SYSTEM], "a.csv", "text, json, sarif, github"),
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
    assert loud.code == 0 and all(t in loud.err for t in ("warning: ", "other.wav", "'cars'", "'car'"))
    assert (quiet.code, quiet.err, quiet.out) == (0, "", loud.out)
    assert (strict.code, strict.out) == (2, "") and "other.wav" in strict.err


FAIL = "def fail(*a): raise KeyError('boom')\nimport sedeval_soft.api.evaluation as api\napi.to_rows = fail"


@pytest.mark.parametrize(
    ("broken", "options", "named"),
    [
        (FAIL, (), ("defect: KeyError",)),
        ("sys.modules['scipy'] = None", ("--ci=bca",), ("scipy", "-m pip install", '"scipy>=1.15"')),
    ],
)
def test_a_defect_and_a_package_that_is_missing_are_one_message(broken, options, named):
    arguments = ["x", REFERENCE, SYSTEM, *options, "--quiet"]
    code = f"import sys\n{broken}\nfrom sedeval_soft.cli import main\nsys.argv = {arguments!r}\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    assert done.returncode == 2 and all(text in done.stderr for text in named)
    assert "Traceback" not in done.stderr and ("defect" in done.stderr) == (broken == FAIL)


def test_a_missing_package_is_named_with_what_installs_it():
    assert '"pyyaml>=6.0"' in install_command("yaml")
    # The missing module may belong to a package that one of our dependencies needs.
    assert '"scipy>=1.15" "sed' in install_command("dcase_util")
    names = ("numpy.nothing", "sedeval_soft.nothing", None)
    assert {missing_package(ModuleNotFoundError("no", name=name)) for name in names} == {None}


# A preset with compat=sed_eval changes only hard scores: no other score, no tuning and no figure.

PRESET = ("--preset", "dcase2019-2022-task4", "-q")


@pytest.mark.parametrize(
    ("name", "options", "settings"),
    [
        ("intersection.hard.psds", "--psds dcase-psds1", {"psds": "dcase-psds1", "only": "intersection"}),
        ("segment.soft.f1.macro", "", {}),
        ("event.optimal.f1.macro", "", {}),
        ("event.soft.f1.harmonic", "", {"means": "harmonic"}),
        ("segment.hard.f1.macro", "", {"compat": "sed_eval"}),
        ("segment.hard.f1.macro", "--set compat=none", {}),
    ],
)
def test_each_score_is_computed_with_and_without_it(name, options, settings):
    done = call(REFERENCE, SYSTEM, *PRESET, *options.split(), "--score", name)
    assert float(done.out) == evaluate(REFERENCE, SYSTEM, offset_collar_rate=0.2, **settings)[name]


def test_tuning_and_figures_work(tmp_path):
    asked = ("tune", REFERENCE, SYSTEM, "--objective", "event.f1", "-q")
    tuned, plain = (call(*asked, *more).out for more in (PRESET[:2], ("--offset-collar-rate", "0.2")))
    assert tuned.split("signature")[0] == plain.split("signature")[0] != ""
    plotted = (REFERENCE, SYSTEM, *PRESET, "-o", tmp_path / "x.tsv")
    assert [call("plot", kind, *plotted).code for kind in ("psd-roc", "f-thresholds", "pr")] == [0, 0, 0]


# Intervals, several systems, runs, groups and scenes.

MACRO = "segment.soft.f1.macro"
LITTLE = ("--replicates", "20", "-q")
TWO = (REFERENCE, SYSTEM, OTHER)


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        ("$R $S -q --replicates 20 --ci --format json", {"ci": "bootstrap", "seed": 0}),
        ("--format json -q --replicates 20 --seed 1 --ci -- $R $S", {"ci": "bootstrap", "seed": 1}),
        ("evaluate --ci Bootstrap $R $S --format json --replicates 20 -q", {"ci": "bootstrap"}),
        ("$R $S -q --ci bca --set confidence=0.5 --format json", {"ci": "bca", "confidence": 0.5}),
    ],
)
def test_a_method_need_not_be_named(line, settings):
    words = line.replace("$R", REFERENCE).replace("$S", SYSTEM).split()
    assert settings.items() <= call(*words).document["settings"].items()


@pytest.mark.parametrize("systems", [[SYSTEM], [SYSTEM, OTHER]])
def test_wanted_numbers_come_with_their_intervals_below_their_names(systems):
    size = "segment.hard.n_ref.micro"
    done = call(REFERENCE, *systems, "--score", MACRO, "--score", size, "--ci", *LITTLE)
    head, *lines = (line.split("\t") for line in done.out.splitlines())
    assert head == ["system", *(f"{name}{end}" for name in (MACRO, size) for end in ("", ".low", ".high"))]
    for system, (name, *numbers) in zip(systems, lines, strict=True):
        value, low, high = map(float, numbers[:3])
        assert name == Path(system).name and low <= value == evaluate(REFERENCE, system)[MACRO] <= high


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex", "text", "github", "junit"])
def test_a_system_has_one_name_in_every_output(form):
    """The name is the file's, or comes from --name."""
    two = (*TWO, "--require", f"{MACRO}>=0", "--format", form, *LITTLE, "--only", "segment.soft")
    for names, asked in ((("sys.tsv", "sys_b.tsv"), ()), (("A", "B&"), ("--name", "A", "--name", "B&"))):
        shown = call(*two, *asked).out.replace("\\", "").replace("&amp;", "&")
        assert [name in shown for name in names] == [True, True]


def test_files_of_one_name_are_called_by_their_paths(tmp_path):
    twin = shutil.copy(OTHER, tmp_path / "sys.tsv")
    two = (REFERENCE, SYSTEM, twin, *LITTLE)
    _, *lines = call(*two, "--score", MACRO).out.splitlines()
    assert {line.split("\t")[0] for line in lines} == {SYSTEM, str(twin)}
    assert str(twin) in call(*two, "--baseline", "sys.tsv").err


@pytest.mark.parametrize(
    ("asked", "compared_to", "baseline"),
    [
        ((), "sys.tsv", None),
        (("--baseline", OTHER), "sys_b.tsv", "sys_b.tsv"),
        (("--baseline", "sys_b.tsv"), "sys_b.tsv", "sys_b.tsv"),
    ],
)
def test_systems_are_ranked_and_compared_to_the_best_or_a_baseline(asked, compared_to, baseline):
    done = call(REFERENCE, OTHER, SYSTEM, *asked, "--format", "json", *LITTLE)
    board, systems = done.document["board"], [system["name"] for system in done.document["systems"]]
    assert [entry["system"] for entry in board["entries"]] == systems == ["sys.tsv", "sys_b.tsv"]
    assert (board["rank_by"], board["compared_to"], board["baseline"]) == (MACRO, compared_to, baseline)


def test_runs_have_a_mean_and_its_interval():
    mean = mean_of_runs(REFERENCE, [SYSTEM, OTHER]).score(MACRO)
    line = call(*TWO, "--runs", "-q", "--score", MACRO).out.splitlines()[1]
    assert [*map(float, line.split("\t")[1:])] == [mean.value, mean.low, mean.high]
    assert call(*TWO, "--runs", "-q", "--name", "A").out.startswith("A, ")


# Groups of classes, scenes, and averages.

PARTS = {
    "groups": {"traffic": ["car"], "people": ["people talking", "footsteps", "children voices"]},
    "scenes": {"street": "s*", "out": ["park.*", "street.*"]},
}


@pytest.fixture
def run(tmp_path):
    (tmp_path / "parts.yaml").write_text(yaml.safe_dump(PARTS, sort_keys=False), encoding="utf-8")
    return lambda *options: call(REFERENCE, SYSTEM, "--config", tmp_path / "parts.yaml", *options, "--quiet")


def test_scores_of_parts_are_printed_and_required_by_name(run):
    scores = evaluate(REFERENCE, SYSTEM, name="sys.tsv", **PARTS)
    assert run("--format", "json").out == render([scores], "json")
    names = [f"{MACRO}@people", "segment.soft.f1[car]@street", "event.hard.recall.weighted@out", MACRO]
    assert [run("--score", name).out for name in names] == [f"{scores[name]!r}\n" for name in names]
    assert [run("--require", f"{names[0]}>={least}").code for least in (0.01, 2)] == [0, 1]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"{MACRO}@trafic", f"'{MACRO}@traffic'"),
        ("segment.soft.f1[car]@traffic", "'segment.soft.f1[car]'"),
        (f"{MACRO}@a@b", f"{MACRO}@a@b"),
        ("intersection.hard.psds@people", "--psds"),
    ],
)
def test_names_of_no_group_are_refused(name, words, run):
    for asked in (("--score", name), ("--require", f"{name}>=0")):
        done = run(*asked)
        assert done.code == 2 and words in done.err


def test_averages_are_chosen_where_no_score_is(run):
    asked = ("--average", "micro", "--average", "weighted", "--require", f"{MACRO}>=0.1")
    done = run(*asked, "--format", "json")
    assert {score["average"] for score in done.scores.values()} == {None, "micro", "weighted"}
