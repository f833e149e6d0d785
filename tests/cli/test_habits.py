"""Calls as other tools would have them are answered with what does the same here."""

from __future__ import annotations

import inspect
import re
import subprocess
from pathlib import Path

import click
import pytest
from documents import ROOT
from launched import program

from sedeval_soft import annotate
from sedeval_soft.cli.evaluate import evaluate
from sedeval_soft.cli.main import group
from sedeval_soft.cli.wrong_calls import message_of, of_words
from sedeval_soft.errors import SettingsError
from sedeval_soft.names import aliases, by_alias, other_settings
from sedeval_soft.settings import Settings

COMMANDS = group.list_commands(click.Context(group))
KNOWN = {flag for each in evaluate.params for flag in each.opts}


def answer(*arguments: str) -> str:
    """Return what the command line says to a wrong call."""
    with pytest.raises(click.ClickException) as refused:
        group.main(list(arguments), prog_name="soft-sed-eval", standalone_mode=False)
    return message_of(refused.value, arguments)


@pytest.mark.parametrize(
    ("option", "ours"),
    [
        ("--t_collar", "sed_eval's t_collar is --onset-collar and --offset-collar here."),
        ("--evaluate_onset", "sed_eval's evaluate_onset=False is --no-onset here."),
        ("-t", "--onset-collar and --offset-collar are tolerances"),
        ("--reference", "The reference is the first argument"),
    ],
)
def test_an_option_of_another_tool_is_answered_with_ours(option, ours):
    told = answer("a.tsv", "b.tsv", option)
    assert told.splitlines()[-1].find(ours) >= 0
    # Nothing that only looks like it.
    assert "Did you mean" not in told


def test_options_that_nobody_has_choices_and_commands_that_lack_an_option():
    told = answer("a.tsv", "b.tsv", "--treshold")
    assert "Did you mean one of: '--fixed-thresholds', '--threshold'" in told
    assert answer("a.tsv", "b.tsv", "--qwertyuiop").endswith("No such option '--qwertyuiop'.")
    assert "\n    shuffled-betas,\n" in answer("simulate") and "\t" not in answer("simulate")
    assert "--onset-collar and --offset-collar" in answer("tune", "a.tsv", "b.tsv", "--t_collar", "1")
    assert "--onset-collar" not in answer("validate", "a.tsv", "--t_collar", "1")
    assert "first argument" not in answer("board", "subs", "--ref", "a.tsv")


def test_every_answer_names_what_there_is():
    for hint in (*aliases()["options"], *aliases()["commands"], *aliases()["numbers"]):
        assert set(re.findall(r"--[a-z][a-z-]+", hint)) - {"--help", "--version"} <= KNOWN, hint
        for command in re.findall(r"soft-sed-eval ([a-z]+)", hint):
            assert command in COMMANDS
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
    guide = (ROOT / "docs" / "guides" / "from-sed-eval.md").read_text(encoding="utf-8")
    assert all(name in guide for name in named)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"t_collar": 0.25}, "sed_eval's t_collar is onset_collar and offset_collar here"),
        ({"segment_len": 1}, "did you mean 'segment_length'"),
        ({"zoo": 1}, "known: segment_length"),
    ],
)
def test_a_setting_of_another_tool_is_answered_with_ours(given, said):
    with pytest.raises(SettingsError, match=said):
        Settings.of(**given)


def run(*arguments: str, cwd: Path) -> str:
    done = subprocess.run([*program(), *arguments], capture_output=True, text=True, cwd=cwd, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def test_a_verb_that_is_no_command_is_answered(tmp_path):
    told = run("compare", "ref.tsv", "a.tsv", "b.tsv", cwd=tmp_path)
    assert "compare: cannot be read" in told
    assert told.endswith("compares systems; it needs no command.\n")
    assert run("help", cwd=tmp_path).endswith("soft-sed-eval --help shows all options and commands.\n")
    (tmp_path / "help").write_text("onset\toffset\tevent_label\n")
    assert "shows all options and commands" not in run("help", cwd=tmp_path)


@pytest.mark.parametrize(
    ("option", "ours"),
    [("--ci", "--replicates N"), ("--folds", "--cross-tune K"), ("--durations", "a table")],
)
def test_a_number_where_none_belongs_is_answered(option, ours, tmp_path):
    (tmp_path / "a.tsv").write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    told = run("a.tsv", "a.tsv", option, "5", cwd=tmp_path)
    assert "5: cannot be read" in told
    assert ours in told.splitlines()[-1]
    (tmp_path / "5").write_text("")
    assert of_words(["a.tsv", "a.tsv", option, str(tmp_path / "5")]) == ""


@pytest.mark.parametrize(
    ("name", "said"), [("", "the name of an annotator must not be empty"), (3, "must be a text, not 3")]
)
def test_names_of_annotators_are_told_apart(name, said):
    with pytest.raises(SettingsError, match=said):
        annotate({"a": "x.tsv", name: "y.tsv"})
