"""Proposals in messages help: the tests follow each proposal, for each refused table.

The same rules find the proposal in every message: run a command, add an option to the call, or write a name
in the header.

`advice.tsv` has small copies of tables of other tools, with the proposals for them, worked out by hand.
`wrong_tables.tsv` has tables that score like the right table after the proposals are followed. Its columns:

- at: line and column of the first problem
- right, reference: the right table and the reference, by default `RIGHT` and `REFERENCE`
- more: options that the right table needs because of the proposals
"""

import csv
import io
import re
import shlex
from pathlib import Path

import pytest
from called import call
from drawn import cases, lay_out

from sedeval_soft import validate
from sedeval_soft.tables import is_number

RIGHT = "filename\tonset\toffset\tevent_label\nr1\t1\t3\tcar\nr1\t4\t6\tdog\nr2\t0\t2\tcar\n"
REFERENCE = "filename\tonset\toffset\tevent_label\nr1\t1\t4\tcar\nr1\t4\t6\tdog\nr2\t1\t2\tcar\n"
MOST = 8
"""Most proposals for one table: solving one problem may reveal another."""

WORD = r"(?:'[^']*'|\"[^\"]*\"|[^\s;)'\"])+"
COMMAND = re.compile(rf"soft-sed-eval (validate {WORD} --fix {WORD})")
OPTION = re.compile(rf"(--[a-z]+(?:-[a-z]+)*) ({WORD})")
COLUMNS = re.compile(rf"--columns ({WORD})")
NAMED = re.compile(r"'([^']+)' in place of '([^']+)' in the header")


def proposed(message: str) -> list[str]:
    """Return the values for --columns that a message proposes, without the shell's quotes."""
    return [shlex.split(text)[0].rstrip(",.;:") for text in COLUMNS.findall(message)]


def converted(path: Path, *options: str) -> tuple[str, list[dict[str, str]]]:
    """Convert a table; return the message if it is refused, and the rows."""
    done = call("convert", path, "-", *options)
    assert done.code in {0, 2}, done
    rows = csv.DictReader(io.StringIO(done.out), delimiter="\t", quoting=csv.QUOTE_NONE)
    return (done.err, []) if done.code else ("", [*rows])


def check_followed(path: Path, *options: str) -> None:
    """Check that each proposal leads to sensible rows or to another question."""
    first, _ = converted(path, *options)
    taken = {pair.rpartition("=")[2] for text in options for pair in text.split(",") if "=" in pair}
    for said in proposed(first):
        roles, names = zip(*(pair.split("=", 1) for pair in re.split(r",(?=\w+=)", said)), strict=True)
        assert not taken & {*names}, "it takes a column that was spoken of"
        again, rows = converted(path, *options, "--columns", said)
        assert again != first, f"a circle: {said}"
        labels = [row.get("event_label", "") for row in rows if row.get("onset")]
        asked = {*roles} == {"event_label"} or "could be" in first
        assert asked or not labels or not all(map(is_number, labels)), f"numbers as classes: {said}"
        assert len({*labels}) < 3 or len({*labels}) < len(labels), f"a class for each row: {said}"
        assert all(float(row["onset"]) <= float(row["offset"]) < 86_400 for row in rows if row.get("onset"))


@pytest.mark.parametrize("case", cases("advice.tsv"), ids=lambda case: case["name"])
def test_tables_of_other_tools_are_refused_with_advice_that_helps(case, tmp_path):
    path = tmp_path / ("x.rttm" if case["text"].startswith("SPEAKER") else "x.txt")
    path.write_bytes(case["text"].encode("latin-1"))
    options = case["options"].split()
    message, _ = converted(path, *options)
    assert proposed(message) == case["proposed"].split()
    given = {name.lstrip("-"): text for name, text in zip(options[::2], options[1::2], strict=True)}
    first = validate(path, **given).problems[0]
    place = ":".join(str(n) for n in (first.line, first.column) if n)
    assert (place, first.code) == (case["at"], case["code"])
    check_followed(path, *options)


@pytest.mark.parametrize(
    "text",
    [
        *(each["text"] for each in cases("../tools/bad_inputs.tsv") if not each["form"]),
        *(each["text"] for each in cases("wrong_tables.tsv") if not each["encoding"]),
    ],
    ids=lambda text: text[:60],
)
def test_advice_about_all_refused_tables_of_the_tests_helps(text, tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(text.encode("latin-1", "replace"))
    check_followed(path)


def followed(arguments: list[str], path: Path, message: str) -> list[str]:
    """Follow the first proposal of a message; return the new arguments of the call."""
    if match := COMMAND.search(message):
        given = shlex.split(match[1])
        call(*given)
        return [given[-1] if each == str(path) else each for each in arguments]
    if match := OPTION.search(message):
        (value,) = shlex.split(match[2])
        value = value if value[-1:] not in ",.;:" else value[:-1]
        # The last proposal for a column replaces an earlier one.
        again = arguments[-1].endswith(f"={value.rpartition('=')[2]}")
        return [*(arguments[:-2] if again and match[1] == "--columns" else arguments), match[1], value]
    new, old = NAMED.search(message).groups()
    path.write_text(path.read_text().replace(old, new, 1))
    return arguments


def scores(*arguments: object) -> tuple[str, dict[str, object]]:
    """Evaluate; return the message, and the scores, none if the call is refused."""
    done = call(*arguments, "--format", "json")
    assert done.code in {0, 2} and (done.code == 0 or not done.out), done
    return done.err, {} if done.code else {n: score["value"] for n, score in done.scores.items()}


@pytest.mark.parametrize("wrong", cases("wrong_tables.tsv"), ids=lambda wrong: wrong["name"])
def test_a_wrong_table_scores_as_the_right_one_when_its_advice_is_followed(wrong, tmp_path):
    texts = {"ref.tsv": wrong["reference"] or REFERENCE, "right.tsv": wrong["right"] or RIGHT}
    ref, right, path = (lay_out(tmp_path, texts) / each for each in (*texts, "the system's.tsv"))
    path.write_bytes(wrong["text"].encode(wrong["encoding"] or "utf-8"))
    arguments, messages = [str(ref), str(path)], []
    for _ in range(MOST):
        message, found = scores(*arguments)
        if found:
            break
        assert message not in messages, "the advice changed nothing"
        messages.append(message)
        first = message[message.index(str(path)) + len(str(path)) :].splitlines()[0]
        assert len(first) < 400, "messages are short"
        arguments = followed(arguments, path, first)
    place = re.search(rf"{re.escape(str(path))}((?::\d+)*): \S", messages[0])
    assert place[1].lstrip(":") == wrong["at"]
    assert found == scores(ref, right, *wrong["more"].split())[1]
