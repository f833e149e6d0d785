r"""What a message proposes helps: wrong tables, each of which scores as the right one if that is followed.

A proposal is taken from the message by rules that hold for all of them: a command is run, an option is added
to the command, a name is written in the header. No case has a rule of its own.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from called import call
from drawn import cases

from sedeval_soft.errors import InputError
from sedeval_soft.memory import RoomError
from sedeval_soft.tables.stored_rows import UnfitError, blocks_of

RIGHT = "filename\tonset\toffset\tevent_label\nr1\t1\t3\tcar\nr1\t4\t6\tdog\nr2\t0\t2\tcar\n"
REFERENCE = "filename\tonset\toffset\tevent_label\nr1\t1\t4\tcar\nr1\t4\t6\tdog\nr2\t1\t2\tcar\n"
MOST = 8
"""Proposals for one table: what is wrong with it may show only when something else is right."""

WRONG = {case["name"]: case for case in cases("wrong_tables.tsv")}
"""Wrong tables of text, and where each is refused first: line and column.

right: what it should be, `RIGHT` where nothing is said. reference: of its recordings, `REFERENCE` likewise.
more: what the message's option adds beside the table.
"""

WORD = r"(?:'[^']*'|\"[^\"]*\"|[^\s;)'\"])+"
COMMAND = re.compile(rf"soft-sed-eval (validate {WORD} --fix {WORD})")
OPTION = re.compile(rf"(--[a-z]+(?:-[a-z]+)*) ({WORD})")
NAMED = re.compile(r"'([^']+)' in place of '([^']+)' in the header")


def followed(arguments: list[str], path: Path, message: str) -> list[str]:
    """Return the arguments of a call after the first proposal of a message was followed."""
    if match := COMMAND.search(message):
        given = shlex.split(match[1])
        call(*given)
        return [given[-1] if each == str(path) else each for each in arguments]
    if match := OPTION.search(message):
        (value,) = shlex.split(match[2])
        value = value if value[-1:] not in ",.;:" else value[:-1]
        # A column has the role that was proposed last.
        again = arguments[-1].endswith(f"={value.rpartition('=')[2]}")
        return [*(arguments[:-2] if again and match[1] == "--columns" else arguments), match[1], value]
    new, old = NAMED.search(message).groups()
    path.write_text(path.read_text().replace(old, new, 1))
    return arguments


def scores(*arguments: object) -> tuple[str, dict[str, object]]:
    """Return what a call says, and its scores, none if it is refused."""
    done = call(*arguments, "--format", "json")
    assert done.code in {0, 2} and (done.code == 0 or not done.out), done
    return done.err, {} if done.code else {n: score["value"] for n, score in done.scores.items()}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_table_scores_as_the_right_one_when_its_mends_are_followed(name, tmp_path):
    wrong = WRONG[name]
    ref, right, path = (tmp_path / each for each in ("ref.tsv", "right.tsv", "the system's.tsv"))
    ref.write_text(wrong["reference"] or REFERENCE)
    right.write_text(wrong["right"] or RIGHT)
    path.write_bytes(wrong["text"].encode(wrong["encoding"] or "utf-8"))
    arguments, said = [str(ref), str(path)], []
    for _ in range(MOST):
        message, found = scores(*arguments)
        if found:
            break
        said.append(message)
        assert said.count(message) == 1, "the mend changed nothing"
        first = message[message.index(str(path)) + len(str(path)) :].splitlines()[0]
        assert len(first) < 400, "messages are short"
        arguments = followed(arguments, path, first)
    place = re.search(rf"{re.escape(str(path))}((?::\d+)*): \S", said[0])
    assert place[1].lstrip(":") == wrong["at"]
    assert found == scores(ref, right, *wrong["more"].split())[1]


def test_a_wrong_table_is_not_read_block_by_block_but_as_a_whole(tmp_path, monkeypatch):
    """So what mends it is told by all rows; of one that memory cannot hold, the first block that is wrong."""
    path, head = tmp_path / "sys.tsv", "filename\tonset\toffset\tevent_label\n"
    path.write_text(head + "a\t0\t1\tcar\na\t1\t2\tcar\na\t1\tx\tcar\na\t3\ty\tcar\n")
    with pytest.raises(UnfitError):
        list(blocks_of(str(path), tmp_path, 1)[0])

    def refuse(*_):
        raise RoomError("too large")

    monkeypatch.setattr("sedeval_soft.tables.stored_rows.check_text_room", refuse)
    with pytest.raises(InputError) as raised:
        list(blocks_of(str(path), tmp_path, 1)[0])
    assert [(p.line, p.column, p.code) for p in raised.value.problems] == [(4, 3, "not-a-number")]
