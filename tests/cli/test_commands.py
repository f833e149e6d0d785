"""Commands are imported when they are called, and known before."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from sedeval_soft.cli.main import DEFAULT, SHORT_HELPS, group


def test_the_listing_has_the_help_of_all_commands():
    made = {name: group.get_command(click.Context(group), name) for name in SHORT_HELPS}
    assert {name: command.get_short_help_str(1000) for name, command in made.items()} == SHORT_HELPS
    assert list(SHORT_HELPS) == sorted(SHORT_HELPS)


def commands(command: click.Command = group, *before: str) -> dict[str, click.Command]:
    """Return all commands by their names, those of groups, too."""
    found = {} if command is group else {" ".join(before): command}
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found |= commands(command.get_command(click.Context(command), name), *before, name)
    return found


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


COMPLETED = {
    # Files first: bash looks for files if nothing else fits.
    "": ["file,", *(f"plain,{name}" for name in SHORT_HELPS)],
    "ex": ["file,ex", "plain,explain"],
    # Options of the default command are completed without its name, also options that only the full help has.
    "--segment-l": ["plain,--segment-length"],
    "ref.tsv --segment-l": ["plain,--segment-length"],
    "--set ct": ["plain,cttc="],
    "--set pool=": ["plain,pool=max", "plain,pool=mean"],
    "--help-": ["plain,--help-all", "plain,--help-settings"],
    "validate --fi": ["plain,--files", "plain,--fix"],
}


@pytest.mark.parametrize("words", COMPLETED)
def test_words_are_completed(words):
    environment = {
        "COMP_WORDS": f"soft-sed-eval {words}", "COMP_CWORD": str(words.count(" ") + 1),
        "_SOFT_SED_EVAL_COMPLETE": "bash_complete",
    }  # fmt: skip
    done = CliRunner().invoke(group, [], prog_name="soft-sed-eval", env=environment)
    assert (done.exit_code, done.stdout.split()) == (0, COMPLETED[words])
