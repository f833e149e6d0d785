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
from sedeval_soft.errors import SettingsError
from sedeval_soft.names import aliases, by_alias, other_settings
from sedeval_soft.settings import Settings

CONTEXT = click.Context(group)
COMMANDS = group.list_commands(CONTEXT)
KNOWN = {flag for each in evaluate.params for flag in each.opts}


def answer(*arguments: str) -> str:
    """Return what the command line says to a wrong call."""
    with pytest.raises(click.ClickException) as refused:
        group.main(list(arguments), prog_name="soft-sed-eval", standalone_mode=False)
    return message_of(refused.value, arguments)


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
}
NOT_HINTED = {
    # Nothing that only looks like it.
    "a.tsv b.tsv --t_collar": "Did you mean",
    "a.tsv b.tsv --qwertyuiop": "Did you mean",
    # The command has no such option.
    "validate a.tsv --t_collar 1": "--onset-collar",
    "board subs --ref a.tsv": "first argument",
}


def test_an_option_of_another_tool_is_answered_with_ours():
    for line, told in ANSWERS.items():
        assert told in answer(*line.split()), line
    for line, untold in NOT_HINTED.items():
        assert untold not in answer(*line.split()), line


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


def test_a_verb_or_a_number_in_the_place_of_a_file_is_answered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.tsv").write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    for line, told in (
        ("compare ref.tsv a.tsv b.tsv", "compares systems; it needs no command."),
        ("lint sys.tsv", "soft-sed-eval validate finds all problems in an output."),
        ("help", "soft-sed-eval -h shows the commands, --help-all every option."),
        ("a.tsv a.tsv --ci 5", "--replicates N"),
        ("a.tsv a.tsv --ci 0.95", "--set confidence=0.95"),
        ("a.tsv a.tsv --folds 5", "--cross-tune K"),
        ("a.tsv a.tsv --threshold prior", "--thresholds takes a file"),
        ("a.tsv a.tsv --durations 5", "a table"),
    ):
        done = subprocess.run([*program(), *line.split()], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr.splitlines()[-1], line
    for name in ("help", "5"):
        Path(name).write_text("")
    assert of_words(["help"]) == of_words(["a.tsv", "a.tsv", "--ci", "5"]) == ""


MISSPELT = {
    "valdate sys.tsv": "validate",
    "Validate sys.tsv": "validate",
    "baord subs/ --reference ref.tsv": "board",
    "explian segment.soft.f1.macro": "explain",
    "plto pr ref.tsv sys.tsv -o x.pdf": "plot",
    "tnue ref.tsv sys.tsv": "tune",
    "evalute ref.tsv sys.tsv": "evaluate",
    "difff a.json b.json": "diff",
}


@pytest.mark.parametrize("line", MISSPELT)
def test_a_misspelt_command_is_answered_as_one(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    word = line.split()[0]
    done = subprocess.run([*program(), *line.split()], capture_output=True, text=True, check=False)
    said = f"soft-sed-eval: there is no command '{word}'; did you mean {MISSPELT[line]}?\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_what_is_no_command_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = Path(SYSTEM).read_text(encoding="utf-8")
    # There is such a file.
    Path("valdate").write_text(table)
    Path("plots").mkdir()
    Path("plots", "a.tsv").write_text(table)
    for name in ("valdate", "plots"):
        assert call(name, "valdate", "--score", "segment.hard.n_ref.micro").code == 0
    # A command is one whatever files there are.
    Path("presets").write_text(table)
    assert call("presets").out.startswith("dcase2016")
    # Paths are not taken for commands, nor what resembles none.
    for name in ("validate.tsv", "./valdat", "board/", "system", "dev", "-"):
        done = call(name, SYSTEM)
        assert "there is no command" not in done.err


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
    results, said = tmp_path / "a.json", "it could be segment.hard.f1.macro, segment.hard.f1.micro, "
    results.write_text(call(REFERENCE, SYSTEM, "--format", "json").out)
    board = ("board", tmp_path, "--reference", REFERENCE, "-o", tmp_path / "site", "--rank-by", "f1")
    for arguments in (("diff", results, results, "--score", "f1"), board):
        done = call(*arguments)
        assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
        assert said in done.err and len(done.err) < 500
    with pytest.raises(
        UnknownScoreError, match="it could be event.soft.f1.macro, event.soft.f1.micro"
    ) as told:
        _ = evaluate_tables(REFERENCE, SYSTEM, only=["event.soft", "clip.hard"])["f1"]
    assert len(re.findall(r"\.f1\.", str(told.value))) == 4
