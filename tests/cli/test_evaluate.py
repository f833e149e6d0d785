"""The command line as its users call it: exit codes, streams, forms, requirements."""

from __future__ import annotations

import gzip
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from called import call
from click.testing import CliRunner
from launched import program

from sedeval_soft.cli.main import group
from sedeval_soft.settings import Settings
from sedeval_soft.settings_files import load_settings, split_classes

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
def scores():
    """The scores of the samples, in JSON."""
    return {
        name: score["value"] for name, score in call(REFERENCE, SYSTEM, "--format", "json").scores.items()
    }


def test_plain_results_are_a_table_for_people(scores):
    done, again = run(REFERENCE, SYSTEM), call(REFERENCE, SYSTEM)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == again.out
    summary = done.stdout[done.stdout.index("Summary") : done.stdout.index("Averages")]
    for row in (r"segment +hard", r"segment +optimal", r"segment +soft", r"event +hard"):
        assert re.search(rf"^{row}", summary, re.MULTILINE), row
    for name in ("birds singing", "car", "children voices", "door opens", "footsteps", "people talking"):
        assert len(re.findall(rf"^{name} ", done.stdout, re.MULTILINE)) >= 4
    # sample_data/README.md: 2 TP / (N_sys + N_ref) = 0.909 soft, 0.796 hard, computed there with numpy.
    assert (round(scores[F1], 3), round(scores["segment.hard.f1.micro"], 3)) == (0.909, 0.796)
    assert f"{scores[F1]:.4f}" in done.stdout
    # A pipe gets plain text.
    assert not re.search("[\x1b\u2500-\u257f]", done.stdout)
    assert all(line == line.rstrip() for line in done.stdout.splitlines())
    last = done.stdout.splitlines()[-1]
    assert last.startswith("soft-sed-eval ") and "segment_length=1.0" in last
    assert len(re.findall(r"sha256=[0-9a-f]{64}", last)) == 2 and "durations" not in last
    signed = call(REFERENCE, SYSTEM, "--durations", SAMPLES / "durations.tsv").out.splitlines()[-1]
    assert re.search(r" durations:sha256=[0-9a-f]{64}$", signed)


def test_just_numbers_are_printed_as_they_are(scores):
    undefined = "segment.hard.precision[door opens]"
    done = call(REFERENCE, SYSTEM, "--score", undefined, "--score", f" {F1} ")
    assert (done.code, done.out, done.err) == (0, f"-\n{scores[F1]!r}\n", "")


UNDEFINED = "segment.hard.precision[door opens]>=0"


@pytest.mark.parametrize(
    ("requirements", "code", "said"),
    [
        ((f"{F1}>=0.9", "segment.hard.error_rate.micro < 1"), 0, ()),
        ((f"{F1}>=0.95", "segment.hard.f1.micro>=0.1"), 1, (f"{F1}>=0.95: it is 0.9",)),
        ((UNDEFINED,), 1, (f"{UNDEFINED}.0: it is undefined",)),
        (
            ("segment.soft.f1.makro>=1", "segment.soft.ff>=x"),
            2,
            ("segment.soft.f1.macro", "is not a requirement"),
        ),
    ],
)
def test_requirements_are_met_or_said_to_be_missed(requirements, code, said):
    done = call(REFERENCE, SYSTEM, *(word for text in requirements for word in ("--require", text)))
    assert done.code == code
    assert all(text in done.err for text in said)
    assert len(done.err.splitlines()) == (1 if code == 1 else len(said))
    assert ("Summary" in done.out) == (code < 2)


@pytest.mark.parametrize(
    ("arguments", "usage"),
    [
        (["--help"], "soft-sed-eval [OPTIONS] REFERENCE SYSTEM..."),
        (["evaluate", "--help"], "soft-sed-eval [OPTIONS] REFERENCE SYSTEM..."),
        (["merge", "--help"], "soft-sed-eval merge [OPTIONS] TALLY..."),
        ([REFERENCE], "soft-sed-eval [OPTIONS] REFERENCE SYSTEM...\nTry 'soft-sed-eval --help' for help."),
        (["merge"], "soft-sed-eval merge [OPTIONS] TALLY...\nTry 'soft-sed-eval merge --help' for help."),
    ],
)
def test_usage_is_what_one_would_type(arguments, usage):
    done = CliRunner().invoke(group, arguments, prog_name="soft-sed-eval")
    assert done.output.startswith(f"Usage: {usage}\n")


def test_options_hold_over_settings_files(tmp_path):
    config = tmp_path / "settings.yaml"
    config.write_text("segment_length: 0.5\nthreshold: 0.4\n")
    asked = ("--only", "segment.soft", "--classes", "car,footsteps", "--threshold", "0.3", "-q")
    document = call(REFERENCE, SYSTEM, "--config", config, *asked, "--format", "json").document
    assert (document["settings"]["segment_length"], document["settings"]["threshold"]) == (0.5, 0.3)
    (system,) = document["systems"]
    assert system["classes"] == ["car", "footsteps"]
    assert {(score["basis"], score["reading"]) for score in system["scores"]} == {("segment", "soft")}


def test_quoted_classes_may_hold_commas():
    assert split_classes(['"a, b",c', ' d , "e ""f""" ']) == ("a, b", "c", "d", 'e "f"')


def test_shipped_settings_files_work():
    configs = sorted((SAMPLES.parent / "configs").glob("*.yaml"))
    assert len(configs) > 5
    for config in configs:
        assert call(REFERENCE, SYSTEM, "--config", config, "-q").code == 0, config
    values = load_settings(str(SAMPLES.parent / "configs" / "default.yaml"))
    assert Settings.of(**values) == Settings()
    assert set(values) == set(Settings().to_dict())


def test_operating_points_stand_in_place_of_the_system(tmp_path):
    (tmp_path / "ref.tsv").write_text("a.wav\t0\t2\tcar\na.wav\t5\t8\tcar\n")
    (tmp_path / "low.tsv").write_text("a.wav\t0\t2\tcar\na.wav\t5\t8\tcar\na.wav\t9\t9.5\tcar\n")
    (tmp_path / "high.tsv").write_text("a.wav\t0\t2\tcar\n")
    points = ["--operating-point", f"0.2={tmp_path / 'low.tsv'}"]
    points += ["--operating-point", f"0.6={tmp_path / 'high.tsv'}"]
    reference = str(tmp_path / "ref.tsv")
    done = call(reference, *points, "--score", "event.soft.tp.micro", "--score", "event.hard.n_sys.micro")
    assert done.out.split() == ["1.6", "3"]
    # The high threshold's list finds one of two; the second costs a false positive in the reference's 8 s.
    done = call(reference, *points, "--max-efpr", "1000", "--score", "intersection.hard.psds")
    assert float(done.out) == pytest.approx(0.5 + 0.5 * (1 - 3600 / 8 / 1000))


@pytest.mark.parametrize("form", ["text", "json", "csv", "tsv", "markdown", "yaml", "latex"])
def test_output_file_holds_what_would_be_printed(form, tmp_path):
    target = tmp_path / "out"
    done = call(REFERENCE, SYSTEM, "--format", form, "-o", target)
    assert (done.code, done.out) == (0, "")
    assert target.read_text() == call(REFERENCE, SYSTEM, "--format", form).out
    assert list(tmp_path.iterdir()) == [target]


def test_failed_output_leaves_the_old_file_and_no_other(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    bad = tmp_path / "bad.tsv"
    bad.write_text("onset\toffset\tevent_label\n1\t0\tcar\n")
    assert call(REFERENCE, bad, "-o", target).code == 2
    assert target.read_text() == "old"
    assert call(REFERENCE, SYSTEM, "-o", tmp_path / "missing" / "out.txt").code == 2
    assert call(REFERENCE, SYSTEM, "-o", tmp_path).code == 2
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
    done = call(REFERENCE, SYSTEM, "--config", config)
    assert done.code == 2
    assert expected in done.err
    assert "settings.yaml" in done.err


@pytest.mark.parametrize(
    ("text", "number"), [("1e-1", 0.1), ("1E1", 10.0), (".5", 0.5), ("+2", 2.0), ("010", 10.0), ("2.", 2.0)]
)
def test_numbers_of_settings_files_are_those_of_people(text, number, tmp_path):
    from sedeval_soft.settings_files import load_settings

    config = tmp_path / "settings.yaml"
    config.write_text(f"beta: {text}")
    assert load_settings(str(config)) == {"beta": number}


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


def test_check_prints_ours_theirs_and_the_difference():
    done = call(REFERENCE, SYSTEM, "--check", "sed_eval", "--compat", "sed_eval")
    assert done.code == 0
    assert re.search(r"(\d+) of \1 scores agree", done.out)
    differing = call(REFERENCE, SYSTEM, "--check", "sed_eval", "--only", "segment.hard").out
    wanted = r"^segment\.hard\.precision\.macro .*differs +which classes macro averages -"
    assert re.search(wanted, differing, re.MULTILINE)
    assert "event.hard" not in differing
    # Standard output is for a machine.
    done = call(REFERENCE, SYSTEM, "--check", "sed_eval", "--format", "json", "--only", "event")
    assert done.document
    assert "Second opinion" in done.err


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
