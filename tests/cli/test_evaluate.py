"""The command line as its users call it: exit codes, streams, forms, requirements."""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from launched import program

from sedeval_soft.cli.main import group
from sedeval_soft.settings import Settings

SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE, SYSTEM = str(SAMPLES / "ref.tsv"), str(SAMPLES / "sys.tsv")
F1 = "segment.soft.f1.micro"


def run(*arguments: str, stdin: bytes | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as a shell would."""
    done = subprocess.run(
        [*program(), *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="module")
def printed() -> str:
    done = run(REFERENCE, SYSTEM)
    assert done.returncode == 0
    assert done.stderr == ""
    return done.stdout


def test_tables_hold_every_reading_and_class(printed):
    summary = printed[printed.index("Summary") : printed.index("Averages")]
    for row in (r"segment +hard", r"segment +optimal", r"segment +soft", r"event +hard"):
        assert re.search(rf"^{row}", summary, re.MULTILINE), row
    for name in ("birds singing", "car", "children voices", "door opens", "footsteps", "people talking"):
        assert len(re.findall(rf"^{name} ", printed, re.MULTILINE)) >= 4


def test_soft_micro_f1_is_the_hand_calculation_of_the_samples(printed):
    # sample_data/README.md: 2 TP / (N_sys + N_ref) = 0.909 soft, 0.796 hard, computed there with numpy.
    document = json.loads(run(REFERENCE, SYSTEM, "--format", "json").stdout)
    scores = {score["name"]: score["value"] for score in document["systems"][0]["scores"]}
    assert round(scores[F1], 3) == 0.909
    assert round(scores["segment.hard.f1.micro"], 3) == 0.796
    assert f"{scores[F1]:.4f}" in printed


def test_a_pipe_gets_plain_text(printed):
    assert "\x1b" not in printed
    assert not re.search("[\u2500-\u257f]", printed)
    assert all(line == line.rstrip() for line in printed.splitlines())


def test_same_input_gives_same_bytes(printed):
    assert run(REFERENCE, SYSTEM).stdout == printed


def test_signature_repeats_settings_and_hashes(printed):
    last = printed.splitlines()[-1]
    assert last.startswith("soft-sed-eval ")
    assert "segment_length=1.0" in last
    assert len(re.findall(r"sha256=[0-9a-f]{64}", last)) == 2


def test_score_prints_just_the_number():
    done = run(REFERENCE, SYSTEM, "--score", F1)
    assert done.stderr == ""
    assert round(float(done.stdout), 3) == 0.909
    assert done.stdout == f"{float(done.stdout)!r}\n"


def test_undefined_score_prints_a_dash():
    done = run(REFERENCE, SYSTEM, "--score", "segment.hard.precision[door opens]", "--score", F1)
    assert done.stdout.splitlines()[0] == "-"
    assert len(done.stdout.splitlines()) == 2


def test_requirement_met_is_silent():
    done = run(REFERENCE, SYSTEM, "--require", f"{F1}>=0.9", "--require", "segment.hard.error_rate.micro < 1")
    assert (done.returncode, done.stderr) == (0, "")


def test_requirement_not_met_exits_1_and_says_which_after_printing_the_results():
    done = run(REFERENCE, SYSTEM, "--require", f"{F1}>=0.95", "--require", "segment.hard.f1.micro>=0.1")
    assert done.returncode == 1
    assert f"{F1}>=0.95: it is 0.9" in done.stderr
    assert "hard" not in done.stderr
    assert "Summary" in done.stdout


def test_undefined_requirement_is_not_met():
    done = run(REFERENCE, SYSTEM, "--require", "segment.hard.precision[door opens]>=0")
    assert done.returncode == 1
    assert "it is undefined" in done.stderr


def test_all_bad_names_are_reported_at_once_with_close_matches():
    done = run(REFERENCE, SYSTEM, "--require", "segment.soft.f1.makro>=1", "--require", "segment.soft.ff>=x")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "segment.soft.f1.macro" in done.stderr
    assert "is not a requirement" in done.stderr


def test_class_of_a_requirement_may_hold_comparison_signs(tmp_path):
    table = tmp_path / "t.tsv"
    table.write_text("onset\toffset\tevent_label\n0\t1\ta>=b\n")
    done = run(str(table), str(table), "--require", "segment.hard.f1[a>=b]>=1")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("form", ["text", "json", "csv", "tsv", "markdown", "yaml", "latex"])
def test_output_file_holds_what_would_be_printed(form, tmp_path):
    target = tmp_path / "out"
    done = run(REFERENCE, SYSTEM, "--format", form, "-o", str(target))
    assert (done.returncode, done.stdout) == (0, "")
    assert target.read_text() == run(REFERENCE, SYSTEM, "--format", form).stdout
    assert list(tmp_path.iterdir()) == [target]


def test_failed_output_leaves_the_old_file_and_no_other(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    bad = tmp_path / "bad.tsv"
    bad.write_text("onset\toffset\tevent_label\n1\t0\tcar\n")
    assert run(REFERENCE, str(bad), "-o", str(target)).returncode == 2
    assert target.read_text() == "old"
    assert run(REFERENCE, SYSTEM, "-o", str(tmp_path / "missing" / "out.txt")).returncode == 2
    assert run(REFERENCE, SYSTEM, "-o", str(tmp_path)).returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.tsv", "out.txt"]


def test_output_keeps_permissions_and_follows_links(tmp_path):
    target, link = tmp_path / "out.txt", tmp_path / "link.txt"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    assert run(REFERENCE, SYSTEM, "--score", F1, "-o", str(link)).returncode == 0
    assert link.is_symlink()
    assert target.read_text().startswith("0.9")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_standard_output_by_name_is_added_to_not_replaced(tmp_path):
    held = tmp_path / "held.txt"
    for name in ("/dev/stdout", "-"):
        held.write_text("before\n")
        command = (
            f"'{sys.executable}' -m sedeval_soft '{REFERENCE}' '{SYSTEM}' --score {F1} -o {name} >> '{held}'"
        )
        subprocess.run(["bash", "-c", command], check=True, cwd=tmp_path)
        assert held.read_text().splitlines()[0] == "before"
        assert len(held.read_text().splitlines()) == 2
    assert list(tmp_path.iterdir()) == [held]


def test_standard_input_and_gzip_read_the_same(tmp_path):
    packed = tmp_path / "sys.tsv.gz"
    packed.write_bytes(gzip.compress(Path(SYSTEM).read_bytes()))
    wanted = run(REFERENCE, SYSTEM, "--score", F1).stdout
    assert run(REFERENCE, "-", "--score", F1, stdin=Path(SYSTEM).read_bytes()).stdout == wanted
    assert run(REFERENCE, str(packed), "--score", F1).stdout == wanted


def test_both_from_standard_input_is_refused():
    done = run("-", "-", stdin=b"")
    assert done.returncode == 2
    assert "standard input" in done.stderr


def test_warnings_go_to_standard_error_and_can_be_silenced(tmp_path):
    table = tmp_path / "sys.tsv"
    table.write_text("filename\tonset\toffset\tevent_label\nother.wav\t0\t1\tcars\n")
    loud = run(REFERENCE, str(table))
    assert loud.returncode == 0
    assert "warning: " in loud.stderr
    assert "'cars' is not in the reference" in loud.stderr
    assert "did you mean 'car'" in loud.stderr
    assert run(REFERENCE, str(table), "-q").stderr == ""
    strict = run(REFERENCE, str(table), "--strict")
    assert (strict.returncode, strict.stdout) == (2, "")
    assert "other.wav" in strict.stderr


def test_only_and_classes_restrict_what_is_evaluated():
    done = run(
        REFERENCE, SYSTEM, "--only", "segment.soft", "--classes", "car,footsteps", "--format", "json", "-q"
    )
    system = json.loads(done.stdout)["systems"][0]
    assert system["classes"] == ["car", "footsteps"]
    assert {(score["basis"], score["reading"]) for score in system["scores"]} == {("segment", "soft")}


def test_score_computes_only_what_it_needs_and_gets_the_same_number():
    whole = json.loads(run(REFERENCE, SYSTEM, "--format", "json").stdout)["systems"][0]["scores"]
    for name in ("segment.hard.f1.macro", "segment.optimal.f1.macro", "event.hard.error_rate.micro"):
        wanted = next(score["value"] for score in whole if score["name"] == name)
        assert run(REFERENCE, SYSTEM, "--score", name).stdout == f"{wanted!r}\n"


def test_settings_file_is_overridden_by_options(tmp_path):
    config = tmp_path / "settings.yaml"
    config.write_text("segment_length: 0.5\nthreshold: 0.4\n")
    done = run(REFERENCE, SYSTEM, "--config", str(config), "--threshold", "0.3", "--format", "json")
    settings = json.loads(done.stdout)["settings"]
    assert (settings["segment_length"], settings["threshold"]) == (0.5, 0.3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("segment_lenght: 1", "segment_length"),
        ("threshold: high", "finite number"),
        ("a: [1", "not YAML"),
        ("- 1", "expected settings"),
        ("beta: 1\nthreshold: 0.4\nbeta: 2", "settings.yaml:3:1: setting 'beta' is given a second time"),
        ("segment-length: 1\nsegment_length: 2", "settings.yaml:2:1: setting 'segment_length' is given a"),
        ("? [a]\n: 1", "unhashable key"),
        ("cls: 1", "unknown setting 'cls'"),
        ("[" * 5000, "nested"),
        ("strict: yes", "strict must be true or false, not 'yes'"),
        ("segment_length: 1:30", "finite number, not '1:30'"),
        ("threshold: 0x1", "finite number, not '0x1'"),
        ("classes: [1]", "classes must be names"),
        ("beta: 0", "0.001 to 1000"),
        ("only: 3", "must be a list"),
        ("matching: best", "optimal, greedy"),
    ],
)
def test_bad_settings_files_are_explained(text, expected, tmp_path):
    config = tmp_path / "settings.yaml"
    config.write_text(text)
    done = run(REFERENCE, SYSTEM, "--config", str(config))
    assert done.returncode == 2
    assert expected in done.stderr
    assert "settings.yaml" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "number"), [("1e-1", 0.1), ("1E1", 10.0), (".5", 0.5), ("+2", 2.0), ("010", 10.0), ("2.", 2.0)]
)
def test_numbers_of_settings_files_are_those_of_people(text, number, tmp_path):
    from sedeval_soft.settings_files import load_settings

    config = tmp_path / "settings.yaml"
    config.write_text(f"beta: {text}")
    assert load_settings(str(config)) == {"beta": number}


@pytest.mark.parametrize("classes", ["a\nb", "a\rb", '"a', 'a,"b,c', '"a"b', "a,,b", ""])
def test_classes_that_cannot_be_split_are_refused(classes):
    done = run(REFERENCE, SYSTEM, "--classes", classes)
    assert (done.returncode, done.stdout) == (2, "")
    assert "classes" in done.stderr
    assert "defect" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_quoted_classes_may_hold_commas():
    from sedeval_soft.settings_files import split_classes

    assert split_classes(['"a, b",c', ' d , "e ""f""" ']) == ("a, b", "c", "d", 'e "f"')


@pytest.mark.parametrize(
    "config", sorted((SAMPLES.parent / "configs").glob("*.yaml")), ids=lambda path: path.stem
)
def test_shipped_settings_files_work(config):
    assert run(REFERENCE, SYSTEM, "--config", str(config), "-q").returncode == 0


def test_default_settings_file_lists_every_default():
    from sedeval_soft.settings_files import load_settings

    values = load_settings(str(SAMPLES.parent / "configs" / "default.yaml"))
    assert Settings.of(**values) == Settings()
    assert set(values) == set(Settings().to_dict())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--segment-length", "0"],
        ["--segment-length", "nan"],
        ["--threshold", "x"],
        ["--beta", "-1"],
        ["--no-onset", "--no-offset"],
        ["--only", "frames"],
        ["--classes", "car,car"],
        ["--onset-collar", "-0.1"],
        ["--format", "xml"],
        ["--segment-lengthh", "1"],
        ["--beta", "1_0"],
        ["--threshold", "0.\uff15"],
        ["--segment-length", "\u0661"],
        ["--require", f"{F1}>=0.\uff15"],
        ["--require", f"{F1}>=1_0"],
        ["missing.tsv"],
    ],
    ids=lambda arguments: " ".join(arguments).encode("ascii", "backslashreplace").decode(),
)
def test_bad_calls_exit_2_with_one_message(arguments):
    done = run(REFERENCE, SYSTEM, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_usage_names_the_program_alone():
    done = run(REFERENCE)
    assert done.stderr.splitlines()[:2] == [
        "Usage: soft-sed-eval [OPTIONS] REFERENCE SYSTEM...",
        "Try 'soft-sed-eval --help' for help.",
    ]


@pytest.mark.parametrize(
    ("arguments", "usage"),
    [
        (["--help"], "soft-sed-eval [OPTIONS] REFERENCE SYSTEM..."),
        (["evaluate", "--help"], "soft-sed-eval [OPTIONS] REFERENCE SYSTEM..."),
        (["merge", "--help"], "soft-sed-eval merge [OPTIONS] TALLY..."),
    ],
)
def test_usage_is_what_one_would_type(arguments, usage):
    done = run(*arguments)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"Usage: {usage}")


def test_hints_of_a_command_name_it():
    done = run("merge")
    assert done.stderr.splitlines()[:2] == [
        "Usage: soft-sed-eval merge [OPTIONS] TALLY...",
        "Try 'soft-sed-eval merge --help' for help.",
    ]


def test_blanks_around_a_score_name_are_not_part_of_it():
    assert run(REFERENCE, SYSTEM, "--score", f" {F1} ").stdout == run(REFERENCE, SYSTEM, "--score", F1).stdout


def test_what_a_terminal_might_obey_is_escaped_in_messages(tmp_path):
    table = tmp_path / "t.tsv"
    table.write_text("onset\toffset\tevent_label\n0\t1\tr\x1b[31m\u2028ed\n")
    done = run(str(table), str(table), "--require", "segment.hard.f1[r\x1b[31m\u2028ed]>=2")
    assert done.returncode == 1
    assert done.stderr == r"requirement not met: segment.hard.f1[r\x1b[31m\u2028ed]>=2.0: it is 1.0" + "\n"
    done = run("no\n\x1b[31m.tsv", SYSTEM)
    # The bracket makes it a pattern.
    assert done.stderr.startswith(r"soft-sed-eval: 'no\n\x1b[31m.tsv': fits no file")
    assert len(done.stderr.splitlines()) == 1


def test_missing_files_are_named(tmp_path):
    done = run(str(tmp_path / "no.tsv"), SYSTEM)
    assert done.returncode == 2
    assert "no.tsv: cannot be read: No such file" in done.stderr


def test_check_prints_ours_theirs_and_the_difference():
    done = run(REFERENCE, SYSTEM, "--check", "sed_eval", "--compat", "sed_eval")
    assert done.returncode == 0
    assert re.search(r"(\d+) of \1 scores agree", done.stdout)
    differing = run(REFERENCE, SYSTEM, "--check", "sed_eval").stdout
    assert re.search(
        r"^segment\.hard\.precision\.macro .*differs +which classes macro averages -", differing, re.MULTILINE
    )


def test_check_leaves_machine_readable_output_alone():
    done = run(REFERENCE, SYSTEM, "--check", "sed_eval", "--format", "json", "--only", "event")
    json.loads(done.stdout)
    assert "Second opinion" in done.stderr


def test_broken_pipe_is_quiet():
    command = f"'{sys.executable}' -m sedeval_soft '{REFERENCE}' '{SYSTEM}' --format csv | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    assert done.stdout.startswith(b"system,")
    assert done.stderr == b""


def test_list_scores_and_version():
    lines = run("--list-scores").stdout.splitlines()
    assert any(line.startswith(f"{F1} ") for line in lines)
    assert all(
        re.match(r"(segment|event|intersection|clip|ranking)\.\w+\.\w+(\.\w+|\[class\])?  ", line)
        for line in lines
    )
    assert re.fullmatch(r"soft-sed-eval, version \d+\.\d+\.\d+\n", run("--version").stdout)


def test_help_shows_every_option_and_true_defaults():
    text = CliRunner().invoke(group, ["--help"], prog_name="soft-sed-eval").output
    defaults = Settings().to_dict()
    # Mappings have their place in a settings file.
    for name in set(defaults) - {"groups", "scenes"}:
        flag = {"onset": "no-onset", "offset": "no-offset"}.get(name, name).replace("_", "-")
        assert f"--{flag}" in text, name
    flat = re.sub(r"\s+", " ", text)
    for option, name in (
        *(("segment-length", "segment_length"), ("threshold", "threshold"), ("onset-collar", "onset_collar")),
        *(("offset-collar", "offset_collar"), ("offset-collar-rate", "offset_collar_rate"), ("beta", "beta")),
        *(("pool", "pool"), ("matching", "matching"), ("events", "events")),
        *(("replicates", "replicates"), ("confidence", "confidence"), ("seed", "seed"), ("worst", "worst")),
    ):
        shown = re.search(rf"--{option} [^-].*?\[default: ([^\]]*)\]", flat)
        assert shown, option
        assert shown[1] == str(getattr(Settings(), name)), option
    assert "--version" in text


def test_a_defect_is_one_message_unless_debugging(monkeypatch):
    code = (
        "import sys, sedeval_soft.api.evaluation as api; from sedeval_soft.cli import main\n"
        "def fail(*a): raise KeyError('boom')\napi.sides_of = fail\n"
        f"sys.argv = ['x', {REFERENCE!r}, {SYSTEM!r}]\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert "defect: KeyError" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_gets_colours_and_whole_names():
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "sedeval_soft", REFERENCE, SYSTEM],
        stdout=theirs,
        env={**os.environ, "TERM": "xterm"},
    ):
        os.close(theirs)
        chunks = []
        while True:
            try:
                chunks.append(os.read(ours, 65536))
            except OSError:  # the other end was closed
                break
    os.close(ours)
    shown = b"".join(chunks).decode()
    assert "\x1b[" in shown
    assert shown.count("people talking") >= 4
    assert "\u2026" not in shown


def test_operating_points_stand_in_place_of_the_system(tmp_path):
    (tmp_path / "ref.tsv").write_text("a.wav\t0\t2\tcar\na.wav\t5\t8\tcar\n")
    (tmp_path / "low.tsv").write_text("a.wav\t0\t2\tcar\na.wav\t5\t8\tcar\na.wav\t9\t9.5\tcar\n")
    (tmp_path / "high.tsv").write_text("a.wav\t0\t2\tcar\n")
    points = ["--operating-point", f"0.2={tmp_path / 'low.tsv'}"]
    points += ["--operating-point", f"0.6={tmp_path / 'high.tsv'}"]
    reference = str(tmp_path / "ref.tsv")
    done = run(reference, *points, "--score", "event.soft.tp.micro", "--score", "event.hard.n_sys.micro")
    assert done.stdout.split() == ["1.6", "3"]
    # The high threshold's list finds one of two; the second costs a false positive in the reference's 8 s.
    done = run(reference, *points, "--max-efpr", "1000", "--score", "intersection.hard.psds")
    assert float(done.stdout) == pytest.approx(0.5 + 0.5 * (1 - 3600 / 8 / 1000))
    for wrong in (
        ["--operating-point", "x=y"],
        ["--operating-point", "0.2=b", "--operating-point", "0.20=c"],
    ):
        refused = run(reference, *wrong)
        assert refused.returncode == 2
        assert "each threshold in [0, 1] once" in refused.stderr
    both = run(reference, reference, *points)
    assert both.returncode == 2
    assert "in place of SYSTEM" in both.stderr


@pytest.mark.parametrize(
    "name", ["intersection.hard.psds", "intersection.hard.pipsds", "intersection.soft.psds[car]"]
)
def test_psds_that_was_not_asked_for_says_how_to_ask(name):
    done = run(REFERENCE, SYSTEM, "--score", name)
    assert done.returncode == 2
    assert "needs --psds" in done.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--only", "intersection", "--compat", "sed_eval"], "only leaves them out"),
        (["--only", "segment.soft", "--check", "sed_eval"], "--only leaves them out"),
        (["--only", "segment.hard", "--score", F1], f"{F1} is left out by --only segment.hard"),
        (["--only", "intersections"], "intersection, clip, ranking, all"),
    ],
    ids=str,
)
def test_settings_that_leave_out_what_is_asked_for_are_refused(options, expected):
    done = run(REFERENCE, SYSTEM, *options)
    assert done.returncode == 2
    assert expected in done.stderr


def test_check_looks_at_the_hard_readings_that_are_evaluated():
    done = run(REFERENCE, SYSTEM, "--only", "segment.hard", "--check", "sed_eval")
    assert "segment.hard.f1.micro" in done.stdout
    assert "event.hard" not in done.stdout


def test_durations_are_signed():
    def signature(*options):
        return run(REFERENCE, SYSTEM, "--only", "segment.hard", *options).stdout.splitlines()[-1]

    durations = str(SAMPLES / "durations.tsv")
    assert re.search(r" durations:sha256=[0-9a-f]{64}$", signature("--durations", durations))
    assert "durations" not in signature()


def test_psds_is_computed_beside_any_choice_of_readings():
    done = run(
        REFERENCE, SYSTEM, "--only", "intersection.optimal", "--psds", "dcase-psds1", "--format", "csv"
    )
    for reading in ("hard", "soft"):
        assert f"intersection.{reading}.psds," in done.stdout
