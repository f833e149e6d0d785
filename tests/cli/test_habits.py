"""Calls as other tools would have them are answered with what does the same here."""

from __future__ import annotations

import inspect
import re
import subprocess
from pathlib import Path

import click
import pytest
from called import OTHER, REFERENCE, SYSTEM, call
from documents import ROOT
from launched import program

from sedeval_soft import UnknownScoreError
from sedeval_soft import evaluate as evaluate_tables
from sedeval_soft.cli.evaluate import evaluate
from sedeval_soft.cli.main import group
from sedeval_soft.cli.wrong_calls import message_of, of_words
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.names import aliases, by_alias, other_settings
from sedeval_soft.settings import Settings

CONTEXT = click.Context(group)
COMMANDS = group.list_commands(CONTEXT)
KNOWN = {flag for each in evaluate.params for flag in each.opts}


def answer(line: str) -> str:
    """Return what the command line says to a wrong call."""
    with pytest.raises((click.ClickException, EvaluationError)) as refused:
        group.main(line.split(), prog_name="soft-sed-eval", standalone_mode=False)
    if isinstance(refused.value, click.ClickException):
        return message_of(refused.value, line.split())
    return f"{refused.value}\n{of_words(line.split())}"


ANSWERS = {
    "a.tsv b.tsv --t_collar": "sed_eval's t_collar is --onset-collar and --offset-collar here.",
    "a.tsv b.tsv --evaluate_onset": "sed_eval's evaluate_onset is --set onset here.",
    "a.tsv b.tsv --timeline a.wav": "soft-sed-eval report REFERENCE SYSTEM -o FILE writes a page",
    "a.tsv b.tsv --check sed_eval": "soft-sed-eval check REFERENCE SYSTEM --with NAME",
    "a.tsv b.tsv --match-by iou": "It is a setting that few change: --set match_by=VALUE.",
    "a.tsv b.tsv -t": "--onset-collar and --offset-collar are tolerances",
    "a.tsv b.tsv --reference": "The reference is the first argument",
    "a.tsv b.tsv --treshold": "'--threshold', '--thresholds'",
    "tune a.tsv b.tsv --t_collar 1": "--onset-collar and --offset-collar",
    "simulate": "\n    shuffled-betas,\n",
    "check a.tsv b.tsv": "Missing option '--with'. Choose from:\n    sed_eval,",
    "compare ref.tsv a.tsv b.tsv": "compares systems; it needs no command.",
    "lint sys.tsv": "soft-sed-eval validate finds all problems in an output.",
    "a.tsv a.tsv --ci 5": "--replicates N",
    "a.tsv a.tsv --ci 0.95": "--set confidence=0.95",
    "a.tsv a.tsv --threshold prior": "--thresholds takes a file",
    "valdate sys.tsv": "there is no command 'valdate'; did you mean validate?",
    "Validate sys.tsv": "did you mean validate?",
    "baord subs/ --reference ref.tsv": "did you mean board?",
    "plto pr ref.tsv sys.tsv -o x.pdf": "did you mean plot?",
    "difff a.json b.json": "did you mean diff?",
    "evalute ref.tsv sys.tsv": "did you mean evaluate?",
}


@pytest.mark.parametrize("line", ANSWERS)
def test_a_call_of_another_tool_is_answered_with_ours(line):
    assert ANSWERS[line] in answer(line)


@pytest.mark.parametrize(
    ("line", "unsaid"),
    [("a.tsv b.tsv --t_collar", "Did you mean"), ("a.tsv b.tsv --qwertyuiop", "Did you mean"),
     # The command has no such option.
     ("validate a.tsv --t_collar 1", "--onset-collar"), ("board subs --ref a.tsv", "first argument")],
)  # fmt: skip
def test_an_option_that_only_looks_like_ours_is_not_hinted_at(line, unsaid):
    assert unsaid not in answer(line)


def test_every_answer_names_what_there_is():
    for hint in (*aliases()["options"], *aliases()["commands"], *aliases()["numbers"]):
        known = KNOWN | {"--help-all", "--version"}
        for command in re.findall(r"soft-sed-eval ([a-z]+)", hint):
            assert command in COMMANDS
            known |= {flag for each in group.get_command(CONTEXT, command).params for flag in each.opts}
        assert set(re.findall(r"--[a-z][a-z-]+", hint)) <= known, hint
    for name, found in other_settings().items():
        assert {*found[1]} <= {*Settings.__slots__}, name
        assert name not in Settings.__slots__
    for name in by_alias("options"):
        assert f"--{name.replace('_', '-')}" not in KNOWN, name
    assert not set(by_alias("commands")) & set(COMMANDS)


def test_names_of_sed_eval_are_its_arguments():
    from sed_eval.sound_event import EventBasedMetrics, SegmentBasedMetrics, SoundEventMetrics

    kinds = (EventBasedMetrics, SegmentBasedMetrics, SoundEventMetrics)
    theirs = {name for each in kinds for name in inspect.signature(each.__init__).parameters}
    named = {name for name, found in other_settings().items() if found[0] == "sed_eval's"}
    assert named == theirs - {"self", "kwargs"}
    guide = (ROOT / "docs" / "guides" / "other-tools.md").read_text(encoding="utf-8")
    assert all(name in guide for name in named)


def test_a_setting_of_another_tool_is_answered_with_ours():
    for name, said in (
        ("t_collar", "sed_eval's t_collar is onset_collar and offset_collar here"),
        ("segment_len", "did you mean 'segment_length'"),
        ("zoo", "known: segment_length"),
    ):
        with pytest.raises(SettingsError, match=said):
            Settings.of(**{name: 1})


def test_what_is_no_command_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("valdate", "presets"):
        Path(name).write_text(Path(SYSTEM).read_text(encoding="utf-8"))
    assert call("valdate", "valdate", "--score", "segment.hard.n_ref.micro").code == 0
    # A command is one whatever files there are.
    assert call("presets").out.startswith("dcase2016")
    # Paths are not taken for commands, nor words that look like none.
    for name in ("validate.tsv", "./valdat", "board/", "system", "-"):
        assert "there is no command" not in call(name, SYSTEM).err


@pytest.mark.parametrize("line", ["help", "a.tsv a.tsv --folds 5", "valdate sys.tsv"])
def test_the_program_says_so_in_its_last_line(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.tsv").write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    done = subprocess.run([*program(), *line.split()], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    hint = of_words(line.split()) or "soft-sed-eval: there is no command 'valdate'; did you mean validate?"
    assert done.stderr.splitlines()[-1] == hint
    # If there is such a file, it is meant.
    for name in ("help", "5"):
        Path(name).write_text("")
    assert of_words(line.split()) == ""


COMPUTED = {
    "": {f"{basis}.{reading}" for basis in ("segment", "event") for reading in ("hard", "optimal", "soft")},
    "--only intersection.hard": {"intersection.hard"},
    "--only clip.soft --only event.soft --cross-tune 2": {"clip.soft", "event.soft"},
    "--only event.hard --only event.tuned --thresholds prior": {"event.hard", "event.tuned"},
}


@pytest.mark.parametrize("options", COMPUTED)
@pytest.mark.parametrize("asked", ["--score f1", "--require f1>=0.5", "--rank-by f1"])
def test_a_part_of_a_scores_name_is_answered_with_what_is_computed(options, asked):
    systems = [SYSTEM, OTHER] if "rank" in asked else [SYSTEM]
    done = call(REFERENCE, *systems, *options.split(), *asked.split())
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert done.err.startswith("no score is named 'f1'")
    named = {*re.findall(r"\w+\.\w+\.f1\.\w+", done.err)}
    assert named == {f"{stem}.f1.{average}" for stem in COMPUTED[options] for average in ("macro", "micro")}


def test_a_part_of_a_scores_name_is_answered_wherever_one_is_named(tmp_path):
    results = tmp_path / "a.json"
    results.write_text(call(REFERENCE, SYSTEM, "--format", "json").out)
    board = ("board", tmp_path, "--reference", REFERENCE, "-o", tmp_path / "site", "--rank-by", "f1")
    for arguments in (("diff", results, results, "--score", "f1"), board):
        done = call(*arguments)
        assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
        assert "it could be segment.hard.f1.macro, segment.hard.f1.micro, " in done.err
    with pytest.raises(UnknownScoreError, match="it could be event.soft.f1.macro, event.soft.f1.micro"):
        _ = evaluate_tables(REFERENCE, SYSTEM, only=["event.soft", "clip.hard"])["f1"]
