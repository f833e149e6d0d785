r"""What is refused says the mend: wrong tables, each of which scores as the right one where that is followed.

A mend is taken from the message by rules that hold for all of them (`MENDS`): an option is added to the
command, a command is run, and what is to be written where is written there. No case has a rule of its own.
"""

from __future__ import annotations

import ast
import math
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from called import Called, call
from drawn import cases

from sedeval_soft.errors import InputError
from sedeval_soft.memory import RoomError
from sedeval_soft.tables.blocks import UnfitError, blocks_of

HEAD = "filename\tonset\toffset\tevent_label\n"
RIGHT = HEAD + "r1\t1\t3\tcar\nr1\t4\t6\tdog\nr2\t0\t2\tcar\n"
VALUES = HEAD[:-1] + "\tvalue\nr1\t1\t3\tcar\t0.75\nr1\t4\t6\tdog\t0.25\nr2\t0\t2\tcar\t1\n"
ONE = "1\t3\tcar\n4\t6\tdog\n"
REFERENCE = HEAD + "r1\t1\t4\tcar\nr1\t4\t6\tdog\nr2\t1\t2\tcar\n"
REFERENCE_OF_ONE = HEAD + "r1\t1\t4\tcar\nr1\t4\t6\tdog\n"
MOST = 8
"""Mends of one table: what is wrong with it may show only when something else is mended."""


@dataclass(frozen=True)
class State:
    """A call that is to be mended: what is wrong (a table, a folder ...), and the arguments of the command.

    line, column: where in what is wrong the message is.
    """

    arguments: tuple[str, ...]
    line: int = 0
    column: int = 0
    path: Path = Path()

    def edited(self, edit: Callable[[list[str]], None]) -> State:
        """Edit the lines of what is wrong; a text of another encoding is written as UTF-8."""
        data = self.path.read_bytes()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode("latin-1")
        lines = text.splitlines()
        edit(lines)
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return self


def cells(line: str) -> tuple[list[str], str]:
    delimiter = max("\t;, ", key=line.count)
    return line.split(delimiter), delimiter


def literal(text: str) -> str:
    return str(ast.literal_eval(text)) if text[0] in "'\"" else text.rstrip(".,;)")


def value_of(option: str) -> str:
    """Return what a shell makes of the argument of an option, without what ends a clause behind it."""
    (value,) = shlex.split(option)
    value = value if value[-1:] not in ",.;:" else value[:-1]
    assert not re.search(r"(^|=)[A-Z]+(,|$)", value), f"{value} is not filled in"
    return value


def with_option(state: State, option: str, value: str) -> State:
    """Add an option; one before the system takes it along, a column has the role that was said last."""
    rest = list(state.arguments)
    column = value_of(value).rpartition("=")[2]
    if option == "--columns" and rest[-1].endswith(f"={column}"):
        del rest[-2:]
    return replace(state, arguments=(*rest, option, value_of(value)))


def with_command(state: State, command: str) -> State:
    """Run a command that writes a copy, which is scored instead."""
    _, *given = shlex.split(command)
    call(*given)
    old, new = str(state.path), given[-1]
    arguments = tuple(new if each == old else each for each in state.arguments)
    return replace(state, arguments=arguments, path=Path(new))


def with_cell(state: State, text: str) -> State:
    def edit(lines: list[str]) -> None:
        fields, delimiter = cells(lines[state.line - 1])
        fields[state.column - 1] = literal(text)
        lines[state.line - 1] = delimiter.join(fields)

    return state.edited(edit)


def with_line(state: State, text: str) -> State:
    return state.edited(lambda lines: lines.__setitem__(state.line - 1, literal(text)))


def without_lines(state: State, more: str | None) -> State:
    return state.edited(lambda lines: lines.__delitem__(slice(state.line - 1, state.line + int(more or 0))))


def written_by(formula: str, x: float) -> float:
    return float(eval(formula, {"x": x, "exp": math.exp}))  # noqa: S307 - a message of ours


def with_each(state: State, formula: str) -> State:
    """Write each number of the column by a formula of x."""

    def edit(lines: list[str]) -> None:
        for i in range(state.line - 1, len(lines)):
            fields, delimiter = cells(lines[i])
            x = float(fields[state.column - 1])
            fields[state.column - 1] = repr(written_by(formula, x))
            lines[i] = delimiter.join(fields)

    return state.edited(edit)


def in_header(state: State, new: str, old: str) -> State:
    return state.edited(lambda lines: lines.__setitem__(0, lines[0].replace(literal(old), literal(new))))


QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
WORD = r"(?:'[^']*'|\"[^\"]*\"|[^\s;)'\"])+"
OPTION = rf"(--[a-z]+(?:-[a-z]+)*) ({WORD})"
EACH = r"(\S*\bx\b\S*) for each x"

MENDS: tuple[tuple[str, Callable[..., State]], ...] = (
    (rf"(soft-sed-eval validate {WORD} --fix {WORD})", with_command),
    (OPTION, with_option),
    (rf"write the line as ({QUOTED})", with_line),
    (rf"write ({QUOTED}|\S+)", with_cell),
    (r"leave out this line(?: and the (\d+) after it)?", without_lines),
    (EACH, with_each),
    (r"('[^']+') in place of ('[^']+') in the header", in_header),
)
"""What messages tell to do, and what does it: the first one that a message has is followed."""


def mended(state: State, message: str) -> State:
    """Return the call after the first mend of a message was followed."""
    first = next(line for line in message.splitlines() if str(state.path) in line)
    place = re.search(rf"{re.escape(str(state.path))}(?:/[^\s:]*)?(?::(\d+))?(?::(\d+))?", first)
    assert place is not None
    rest = first[place.end() :]
    found = [
        (match.start(), k, match) for k, (rule, _) in enumerate(MENDS) if (match := re.search(rule, rest))
    ]
    assert found, f"no mend in {first!r}"
    _, k, match = min(found)
    line, column = (int(group or 0) for group in place.groups())
    return MENDS[k][1](replace(state, line=line, column=column), *match.groups())


def scores(done: Called) -> dict[str, object]:
    return {name: score["value"] for name, score in done.scores.items()}


def follow(path: Path, *arguments: str) -> tuple[dict[str, object], list[str]]:
    """Return the scores of a call that is refused, after its mends were followed, and what was refused."""
    state, said = State(tuple(arguments), path=path), []
    for _ in range(MOST):
        done = call(*state.arguments, "--format", "json")
        if done.code == 0:
            return scores(done), said
        assert (done.code, done.out) == (2, ""), done
        assert done.err not in said, "the mend changed nothing"
        said.append(done.err)
        state = mended(state, done.err)
    raise AssertionError(said)


WRONG = {case["name"]: case for case in cases("wrong_tables.tsv")}
"""Wrong tables of text, and where each is refused first: line and column.

right: what it should be, `RIGHT` where nothing is said. reference: of its recordings, `REFERENCE` likewise.
more: what the message's option adds beside the table.
"""


def place(said: str, path: Path) -> str:
    match = re.match(rf"(?:several problems:\n)?{re.escape(str(path))}((?::\d+)*): \S", said)
    assert match, said
    return match[1].lstrip(":")


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_table_scores_as_the_right_one_when_its_mends_are_followed(name, tmp_path):
    wrong = WRONG[name]
    ref, right, path = (tmp_path / each for each in ("ref.tsv", "right.tsv", "the system's.tsv"))
    ref.write_text(wrong["reference"] or REFERENCE)
    right.write_text(wrong["right"] or RIGHT)
    path.write_bytes(wrong["text"].encode(wrong["encoding"] or "utf-8"))
    found, said = follow(path, str(ref), str(path))
    assert found == scores(call(ref, right, *wrong["more"].split(), "--format", "json"))
    assert place(said[0], path) == wrong["at"]
    assert len(said[0].split(str(path), 1)[1].splitlines()[0]) < 400, "messages are short"


def test_a_wrong_table_is_not_read_block_by_block_but_as_a_whole(tmp_path, monkeypatch):
    """So what mends it is told by all rows; of one that memory cannot hold, the first block that is wrong."""
    path, head = tmp_path / "sys.tsv", "filename\tonset\toffset\tevent_label\n"
    path.write_text(head + "a\t0\t1\tcar\na\t1\t2\tcar\na\t1\tx\tcar\na\t3\ty\tcar\n")
    with pytest.raises(UnfitError):
        list(blocks_of(str(path), tmp_path, 1)[0])

    def refuse(*_):
        raise RoomError("too large")

    monkeypatch.setattr("sedeval_soft.tables.blocks.check_text_room", refuse)
    with pytest.raises(InputError) as raised:
        list(blocks_of(str(path), tmp_path, 1)[0])
    assert [(p.line, p.column, p.code) for p in raised.value.problems] == [(4, 3, "not-a-number")]
