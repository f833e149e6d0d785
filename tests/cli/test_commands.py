"""Commands are imported when they are called, and known before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from called import call
from click.testing import CliRunner

from sedeval_soft.cli.main import DEFAULT, SHORT_HELPS, group
from sedeval_soft.settings_files import PRESETS, load_preset, load_settings, schema_text

CONTEXT = click.Context(group)


@pytest.mark.parametrize("name", SHORT_HELPS)
def test_short_help_is_that_of_the_command(name):
    command = group.get_command(CONTEXT, name)
    assert command.name == name
    assert command.get_short_help_str(1000) == SHORT_HELPS[name]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_listing_is_what_click_makes_of_the_commands(width):
    def listed(of: click.Group) -> list[str]:
        formatter = click.HelpFormatter(width=width)
        of.format_commands(click.Context(of), formatter)
        return [" ".join(line.replace("*", " ").split()) for line in formatter.getvalue().splitlines()]

    expected = listed(click.Group(commands={name: group.get_command(CONTEXT, name) for name in SHORT_HELPS}))
    lines = listed(group)
    assert sorted(lines) == sorted(expected)
    assert lines[1].split()[0] == DEFAULT
    assert f"{DEFAULT}* " in call("--help").out
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
    done = call(*name.split(), "--help")
    said = " ".join(done.out.rpartition("Exit status: 0 ")[2].split())
    assert said.endswith(".") and ", 2 " in said and len(said) < 150
    options = {each for parameter in commands()[name].params for each in parameter.opts}
    # What can be asked of results, or finds something wrong, has an answer for scripts.
    answers = name in ("diff", "validate") or not options.isdisjoint({"--require", "--fail-on-invalid"})
    assert (", 1 " in said) == answers


MODULES = {"board", "evaluate", "plot", "results", "tables"}
"""Those that have commands."""


def imported(*arguments: str) -> set[str]:
    """Return the modules of the command line that are imported by a call."""
    code = (
        "import sys; from sedeval_soft.cli.main import group; import click\n"
        f"try: group.main({[*arguments]!r}, prog_name='x', standalone_mode=False)\n"
        "except click.exceptions.Exit: pass\n"
        "print(*[m for m in sys.modules if m.startswith('sedeval_soft.cli.')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return {name.rpartition(".")[2] for name in done.stderr.split()} & {*MODULES}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--version"], set()),
        (["--help"], {"evaluate"}),
        (["explain", "--help"], {"results"}),
        (["presets"], {"results"}),
    ],
)
def test_a_call_imports_its_own_command_alone(arguments, expected):
    assert imported(*arguments) == expected


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


def test_the_first_word_is_a_command_or_a_file():
    # Files first: bash looks for them where nothing else fits.
    assert completed("") == ["file,", *(f"plain,{name}" for name in SHORT_HELPS)]
    assert completed("ex") == ["file,ex", "plain,explain"]
    assert completed("ref") == ["file,ref"]


def test_options_of_the_default_command_are_completed_without_its_name():
    assert completed("--segment-l") == ["plain,--segment-length"]
    assert completed("ref.tsv", "--segment-l") == ["plain,--segment-length"]
    assert completed("--vers") == ["plain,--version"]
    assert completed("--hel") == ["plain,--help"]
    assert completed("validate", "--fi") == ["plain,--fix"]


SHIPPED = Path(__file__).parents[2] / "sedeval_soft" / "presets"


def test_all_presets_are_listed_a_line_each():
    done = call("presets")
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines] == list(PRESETS)
    assert {path.stem for path in SHIPPED.glob("*.yaml")} == {*PRESETS}
    for line in lines:
        assert len(line) <= 115
        assert line.endswith(".") and not line.split("  ", 1)[1].strip().startswith("#")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_shown_as_it_stands_with_its_source(name, tmp_path):
    done = call("presets", "show", name)
    assert done.code == 0
    assert done.out == (SHIPPED / f"{name}.yaml").read_text(encoding="utf-8")
    assert "https://" in done.out
    path = tmp_path / "mine.yaml"
    path.write_text(done.out, encoding="utf-8")
    assert load_settings(str(path)) == load_preset(name)


def test_what_is_no_preset_is_answered_with_the_closest():
    done = call("presets", "show", "dcase2017-task33")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("there is no preset 'dcase2017-task33'")
    assert "did you mean 'dcase2017-task3'?" in done.err
    assert call("presets", "shew").code == call("presets", "show").code == 2


def test_the_schema_is_printed():
    assert call("presets", "schema").out == schema_text()
