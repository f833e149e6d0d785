"""The entry point and its group of commands; without a command's name it is `evaluate`.

Exit codes: 0 done; 1 a requirement was not met; 2 the call or the input is wrong; 130 interrupted, 143 ended
from outside, as shells have it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click_default_group import DefaultGroup

from sedeval_soft import __version__
from sedeval_soft.cli.commands import SHORT_HELPS, Commands, listing
from sedeval_soft.cli.output import hold_streams, remark

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PROGRAM = "soft-sed-eval"
DEFAULT = "evaluate"
DEBUG_VARIABLE = "SOFT_SED_EVAL_DEBUG"


class UnreadError(BaseException):
    """Nobody reads what we write any more. Of a BrokenPipeError click itself would make an exit with 1."""


class _Group(DefaultGroup):  # type: ignore[misc]  # untyped package
    """A group whose help is that of its default command, followed by the list of commands."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:  # noqa: ANN401 - click's own
        with _pipes_told():
            context: click.Context = super().make_context(*args, **kwargs)
            return context

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as above
        with _pipes_told():
            return super().invoke(ctx)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] REFERENCE SYSTEM...")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.commands[DEFAULT].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's own
        with formatter.section("Commands"):
            formatter.write_dl(listing(DEFAULT, formatter.width))

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.commands[DEFAULT].format_help_text(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.commands[DEFAULT].format_epilog(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete what may stand first: a command, a REFERENCE, or an option of the default command."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            own = super().shell_complete(ctx, incomplete)
            known = {item.value for item in own}
            more = self.commands[DEFAULT].shell_complete(ctx, incomplete)
            return [*own, *(item for item in more if item.value not in known)]
        names = [name for name in SHORT_HELPS if name.startswith(incomplete)]
        # Shells look for files where no name fits, if that is said first.
        files = CompletionItem(incomplete, type="file")
        return [files, *(CompletionItem(name, help=SHORT_HELPS[name]) for name in names)]


@contextlib.contextmanager
def _pipes_told() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise UnreadError from error


@click.group(
    cls=_Group,
    commands=Commands(),
    default=DEFAULT,
    default_if_no_args=False,
    context_settings={"max_content_width": 100},
)
@click.version_option(__version__, prog_name=PROGRAM)
def group() -> None:
    """Hold the commands together; the help comes from `evaluate`."""


def main() -> None:
    """Run the command line; every expected failure is one message and an exit code."""
    hold_streams()
    stop_cleanly()
    try:
        code = group.main(prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
    except StoppedError as stopped:
        code = _say(str(stopped), stopped.code)
    except click.exceptions.Abort:
        code = _say("interrupted", 130)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        from sedeval_soft.cli.wrong_calls import message_of

        code = error.exit_code
        remark(message_of(error, sys.argv[1:]))
    except (BrokenPipeError, UnreadError):
        code = _unread()
    except MemoryError:
        code = _say("there is not enough memory for this input", 2)
    except Exception as error:
        code = _explain(error)
    _leave(code if isinstance(code, int) else 0)


def _unread() -> int:
    """Return the code for a reader that has gone: there is nothing to say, and nobody to say it to."""
    # What is still in our buffer must go somewhere.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _leave(code: int) -> NoReturn:
    """End the process at once, all output written.

    Threads of pyarrow's that still let go of Python objects can abort an interpreter that is being taken
    down; and taking it down takes time.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.flush()
    os._exit(code)


def _say(message: str, code: int) -> int:
    remark(f"{PROGRAM}: {message}")
    return code


def _explain(error: Exception) -> int:
    """Print an error of the package as it is, any other as a defect; return the exit code."""
    from sedeval_soft.errors import EvaluationError, InputError

    if isinstance(error, EvaluationError):
        from sedeval_soft.cli.wrong_calls import as_options, of_words

        text = str(error) if isinstance(error, InputError) else as_options(str(error))
        hint = of_words(sys.argv[1:])
        if hint:
            return _say(f"{text}\n{hint}", 2)
        return _say(text if "\n" not in text else f"several problems:\n{text}", 2)
    if isinstance(error, OSError) and error.errno is not None and error.filename is None:
        # Files are read and written elsewhere, by name: this is standard output.
        return _say(f"standard output: cannot be written: {error.strerror or error}", 2)
    if os.environ.get(DEBUG_VARIABLE):
        raise error
    return _say(
        f"defect: {type(error).__name__}: {error}\n"
        f"Please report it; {DEBUG_VARIABLE}=1 shows where it happened.",
        2,
    )


# Signals that end the process: what was begun is taken back first.


_SAID = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class StoppedError(BaseException):
    """The process is to end: no `except Exception` may keep it, and all that is open is closed on the way."""

    def __init__(self, number: int) -> None:
        super().__init__(_SAID.get(signal.Signals(number), "stopped"))
        self.code = 128 + number


def stop_cleanly() -> None:
    """Let SIGINT and SIGTERM end the process by way of a `StoppedError`, once.

    A signal that the caller has us ignore (`nohup`, a shell's background) stays ignored.
    """
    for number in _SAID:
        # Not in the main thread, where this is a library's, there is nothing to set.
        with contextlib.suppress(ValueError):
            if signal.getsignal(number) not in {signal.SIG_IGN, None}:
                signal.signal(number, _stop)


def _stop(number: int, _: FrameType | None) -> None:
    for each in _SAID:
        # A second one must not break into the clearing up.
        signal.signal(each, signal.SIG_IGN)
    raise StoppedError(number)
