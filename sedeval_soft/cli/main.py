"""The entry point and its group of commands; without a command's name it is `evaluate`.

Exit codes: 0 done; 1 a requirement was not met; 2 the call or the input is wrong; 130 interrupted, 143 ended
from outside, as shells have it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import click
from click_default_group import DefaultGroup

from sedeval_soft import __version__
from sedeval_soft.cli.command import HELP_ALL
from sedeval_soft.cli.output import hold_streams, remark

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from sedeval_soft.cli.command import Command

PROGRAM = "soft-sed-eval"
DEFAULT = "evaluate"
DEBUG_VARIABLE = "SOFT_SED_EVAL_DEBUG"

SHORT_HELPS = {
    "annotate": "Make a soft reference from the labels of several annotators.",
    "board": "Make a leaderboard of a folder of submissions: a static site.",
    "chance": "Give each score beside its chance level.",
    "check": "Score with another package, too, and print both numbers.",
    "convert": "Write a table in another form.",
    "diagnose": "Say where a score went: what each kind of error costs.",
    "diff": "Compare two results of --format json, score by score.",
    "evaluate": "Score sound event detection systems against a hard or soft reference.",
    "explain": "Explain scores: formula, source, and when they are undefined.",
    "merge": "Score tallies of --save-tally together, as if counted at once.",
    "plot": "Draw a figure of one or more systems, for papers and talks.",
    "presets": "List the settings of challenges that --preset takes.",
    "published": "Reproduce the output of a challenge's official scoring script.",
    "report": "Write a page of HTML of one system or several, to look at.",
    "simulate": "Make up the output of a system, to compare real ones with.",
    "tune": "Find the best threshold of each class, to score other data.",
    "validate": "Find all problems in a system's output before it is scored.",
}
"""The first sentence of each command's help; a test compares them with the commands."""

_MODULES = {
    **dict.fromkeys(("chance", "check", "published"), "opinions"),
    **dict.fromkeys(("board", "diagnose", "report"), "pages"),
    **dict.fromkeys(("annotate", "convert", "simulate", "tune", "validate"), "tables"),
    **dict.fromkeys(("diff", "explain", "merge", "presets"), "results"),
}
"""The modules of commands that are not named after them."""


class _Group(DefaultGroup):  # type: ignore[misc]  # untyped package
    """Commands that are imported when they are called: start-up is a feature."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Return a command; any other word is the first argument of the default command."""
        name = cmd_name if cmd_name in SHORT_HELPS else DEFAULT
        if name not in self.commands:
            module = import_module(f"sedeval_soft.cli.{_MODULES.get(name, name)}")
            self.add_command(getattr(module, name))
        return cast("click.Command", super().get_command(ctx, cmd_name))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:  # noqa: ANN401 - click's own
        """Return the command, its name and arguments; raises SettingsError for a word that looks like one."""
        if args[0] not in SHORT_HELPS and not (ctx.resilient_parsing or os.path.lexists(args[0])):
            from sedeval_soft.cli.wrong_calls import refuse_misspelt

            refuse_misspelt(args[0], SHORT_HELPS)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own
        """Return the names of all commands, whether they were imported or not."""
        return [*SHORT_HELPS]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of the default command with the list of all, of which no other is imported."""
        cast("Command", self.get_command(ctx, DEFAULT)).format_help(ctx, formatter, self.format_commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write all commands but the default one with their short helps; none is imported."""
        width = formatter.width - 6 - max(map(len, SHORT_HELPS))
        with formatter.section(f"Commands ({PROGRAM} COMMAND -h says more)"):
            formatter.write_dl(
                [
                    (name, click.Command(name, help=text).get_short_help_str(width))
                    for name, text in SHORT_HELPS.items()
                    if name != DEFAULT
                ]
            )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the first argument: a command, a REFERENCE, or an option of the default command."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            default = self.get_command(ctx, DEFAULT)
            items = [*super().shell_complete(ctx, incomplete), *default.shell_complete(ctx, incomplete)]
            return [*{item.value: item for item in items}.values()]
        names = [name for name in SHORT_HELPS if name.startswith(incomplete)]
        # Shells look for files where no name fits, if that is said first.
        files = CompletionItem(incomplete, type="file")
        return [files, *(CompletionItem(name, help=SHORT_HELPS[name]) for name in names)]


group = click.version_option(__version__, prog_name=PROGRAM)(
    _Group(
        "group",
        default=DEFAULT,
        default_if_no_args=False,
        subcommand_metavar="REFERENCE SYSTEM...",
        params=[HELP_ALL],
        context_settings={"max_content_width": 100, "help_option_names": ["--help", "-h"]},
    )
)
"""All commands; the help comes from `evaluate`."""


_SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""Signals that end the process, after it has undone unfinished work."""


class StoppedError(BaseException):
    """The process is to end: no `except Exception` may keep it, and all that is open is closed on the way."""


def stop_cleanly() -> None:
    """Let SIGINT and SIGTERM end the process by way of a `StoppedError`, once.

    A signal that the caller has us ignore (`nohup`, a shell's background) stays ignored.
    """

    def stop(number: int, _: FrameType | None) -> None:
        for each in _SIGNALS:
            # A second one must not break into the clearing up.
            signal.signal(each, signal.SIG_IGN)
        raise StoppedError(number)

    for number in _SIGNALS:
        # Not in the main thread, where this is a library's, there is nothing to set.
        with contextlib.suppress(ValueError):
            if signal.getsignal(number) not in {signal.SIG_IGN, None}:
                signal.signal(number, stop)


def main() -> None:
    """Run the command line; every expected failure is one message and an exit code."""
    hold_streams()
    stop_cleanly()
    # Products are small, and independent pieces of work are on all processors already. Threads of numpy's
    # beside them wait for one another, and where processors are shared they take several times as long.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is imported stays until the end: to look for garbage among it again and again takes time.
    gc.set_threshold(50_000)
    code: object = 0
    try:
        code = group.main(prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
    except StoppedError as stopped:
        (number,) = stopped.args
        code = _say(_SIGNALS[number], 128 + number)
    except click.exceptions.Abort:
        code = _say("interrupted", 130)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        from sedeval_soft.cli.wrong_calls import message_of

        code = error.exit_code
        remark(message_of(error, sys.argv[1:]))
    except (BrokenPipeError, SystemExit):
        # Nobody reads what we write any more, of which click makes an exit; or a shell has its completions.
        # What is still in our buffer must go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except MemoryError:
        code = _say("there is not enough memory for this input", 2)
    except Exception as error:
        code = _explain(error)
    # The process ends at once, all output written: threads of pyarrow's that still let go of Python objects
    # can abort an interpreter that is being taken down; and taking it down takes time.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.flush()
    os._exit(code if isinstance(code, int) else 0)


def _say(message: str, code: int = 2) -> int:
    remark(f"{PROGRAM}: {message}")
    return code


def _explain(error: Exception) -> int:
    """Print an error of this package as it is, a missing package with its fix, any other error as a defect.

    Returns the exit code.
    """
    from sedeval_soft.errors import EvaluationError, InputError, missing_package

    if isinstance(error, EvaluationError):
        from sedeval_soft.cli.wrong_calls import as_options, of_words

        text = str(error)
        if not isinstance(error, InputError):
            # Settings are those of the evaluation, and options of the command that was called.
            for name in dict.fromkeys((DEFAULT, *sys.argv[1:2])):
                text = as_options(text, group.get_command(click.Context(group), name))
        hint = of_words(sys.argv[1:])
        if hint:
            return _say(f"{text}\n{hint}")
        return _say(text if "\n" not in text else f"several problems:\n{text}")
    if isinstance(error, OSError) and error.errno is not None and error.filename is None:
        # Files are read and written elsewhere, by name: this is standard output.
        return _say(f"standard output: cannot be written: {error.strerror or error}")
    if os.environ.get(DEBUG_VARIABLE):
        raise error
    missing = missing_package(error) if isinstance(error, ModuleNotFoundError) else None
    if missing:
        return _say(missing)
    please = f"Please report it; {DEBUG_VARIABLE}=1 shows where it happened."
    return _say(f"defect: {type(error).__name__}: {error}\n{please}")
