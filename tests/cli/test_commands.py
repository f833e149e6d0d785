"""Commands are imported when they are called, and known before."""

from __future__ import annotations

import re

import click
import pytest
from called import call
from click.testing import CliRunner

from sedeval_soft.cli.main import DEFAULT, SHORT_HELPS, group
from sedeval_soft.settings_files import PRESETS, load_preset, schema_text, text_of_preset

CONTEXT = click.Context(group)


def test_the_listing_is_what_click_makes_of_the_commands():
    def listed(of: click.Group) -> list[str]:
        formatter = click.HelpFormatter(width=80)
        of.format_commands(click.Context(of), formatter)
        return [" ".join(line.split()) for line in formatter.getvalue().splitlines()[1:]]

    made = {name: group.get_command(CONTEXT, name) for name in SHORT_HELPS}
    assert {name: command.get_short_help_str(1000) for name, command in made.items()} == SHORT_HELPS
    del made[DEFAULT]
    assert listed(group) == listed(click.Group(commands=made))
    assert list(SHORT_HELPS) == sorted(SHORT_HELPS)


def commands(command: click.Command = group, *before: str) -> dict[str, click.Command]:
    """Return all commands by their names, those of groups, too."""
    found = {} if command is group else {" ".join(before): command}
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found |= commands(command.get_command(click.Context(command), name), *before, name)
    return found


@pytest.mark.parametrize("name", commands())
def test_help_ends_with_the_exit_status(name):
    done = call(*name.split(), "--help-all")
    said = " ".join(done.out.rpartition("Exit status: 0 ")[2].split())
    assert said.endswith(".") and ", 2 " in said and len(said) < 150
    options = {each for parameter in commands()[name].params for each in parameter.opts}
    # What can be asked of results, or finds something wrong, has an answer for scripts.
    answers = name in ("diff", "validate") or not options.isdisjoint({"--require", "--fail-on-invalid"})
    assert (", 1 " in said) == answers


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", ["", *commands()])
def test_the_short_help_is_one_screen_and_the_full_one_has_every_option(name, columns):
    def printed(flag: str) -> str:
        done = CliRunner().invoke(group, [*name.split(), flag], terminal_width=columns, prog_name="x")
        assert done.exit_code == 0
        return done.output

    short, full = printed("-h"), printed("--help-all")
    assert printed("--help") == short
    assert len(short.splitlines()) <= 45
    assert max(map(len, (short + full).splitlines())) <= columns
    parameters = [*group.params, *(commands().get(name) or commands()[DEFAULT]).params]
    options = {flag for each in parameters if isinstance(each, click.Option) for flag in each.opts}
    shown = {*re.findall(r"(?<![\w-])--?[a-z][\w-]*", full)}
    left_out = {"--version", "--help-all"} if name else set()  # of the program; hidden where it adds nothing
    assert options - left_out <= shown
    # What is left out is named by the way to it, and by nothing else.
    assert ("--help-all shows every option" in short) == (len(short) < len(full))
    examples = re.findall("^    soft-sed-eval", short, re.MULTILINE)
    assert len(examples) == 3 or len(short) == len(full)


def completed(*words: str) -> list[str]:
    """Return what bash is told of the last word."""
    environment = {
        "COMP_WORDS": " ".join(("soft-sed-eval", *words)),
        "COMP_CWORD": str(len(words)),
        "_SOFT_SED_EVAL_COMPLETE": "bash_complete",
    }
    done = CliRunner().invoke(group, [], prog_name="soft-sed-eval", env=environment)
    assert done.exit_code == 0
    return done.stdout.split()


def test_words_are_completed():
    # Files first: bash looks for them where nothing else fits.
    assert completed("") == ["file,", *(f"plain,{name}" for name in SHORT_HELPS)]
    assert completed("ex") == ["file,ex", "plain,explain"]
    # Options of the default command are completed without its name.
    assert completed("--segment-l") == completed("ref.tsv", "--segment-l") == ["plain,--segment-length"]
    # Those that the short help leaves out, too.
    assert completed("--set", "ct") == ["plain,cttc="]
    assert completed("--set", "pool=") == ["plain,pool=max", "plain,pool=mean"]
    assert completed("--help-") == ["plain,--help-all", "plain,--help-settings"]
    assert completed("validate", "--fi") == ["plain,--files", "plain,--fix"]


def test_presets_are_listed_shown_with_their_sources_and_answered_with_the_closest():
    """Their files are held by tests/config."""
    lines = call("presets").out.splitlines()
    assert [line.split()[0] for line in lines[::2]] == list(PRESETS)
    assert [line.split()[2] for line in lines[1::2]] == [load_preset(name)["rank_by"] for name in PRESETS]
    assert all(len(line) <= 115 and line.endswith(".") and "  #" not in line for line in lines[::2])
    for name in PRESETS:
        shown = call("presets", "show", name)
        assert (shown.code, shown.out) == (0, text_of_preset(name)) and "https://" in shown.out
    done = call("presets", "show", "dcase2017-task33")
    assert (done.code, done.out) == (2, "") and "did you mean 'dcase2017-task3'?" in done.err
    assert call("presets", "shew").code == call("presets", "show").code == 2
    assert call("presets", "schema").out == schema_text()
