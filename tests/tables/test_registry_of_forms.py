"""What holds for every form of the registry: it is documented, it is found, it is written as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from drawn import WRITTEN
from test_corrupted_tables import SEEDS

from sedeval_soft.tables.forms import FORMS, TEXT_EXTENSIONS, form_at_once, form_by_extension, form_instead
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.ticks import TICKS_PER_SECOND

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "forms.md"


def documented():
    """Return the lines of the table of forms: extensions, and what is not held."""
    lines = re.findall(r"^\| `([\w-]+)`: [^|]* \|([^|]*)\|[^|]*\|([^|]*)\|$", PAGE.read_text(), re.MULTILINE)
    return {
        name: (tuple(re.findall(r"`(\.\w+)`", extensions)), lost.strip()) for name, extensions, lost in lines
    }


def not_held(form):
    """Return in words what a form says that it cannot hold."""
    holds = form.holds
    words = (
        (not holds.values, "values"),
        (not holds.long, "rows"),
        (not holds.recordings, "several recordings"),
        (not holds.silent, "recordings without rows"),
        (not holds.blanks, "blanks in names"),
        (not holds.name, "names of recordings"),
        (not holds.gaps, "gaps"),
        (not holds.classes, "classes without rows"),
        (form.folder, "extensions of audio files"),
        (not holds.nothing, "a table of nothing"),
        (holds.resolution > 0, f"times finer than {holds.resolution / TICKS_PER_SECOND:g} s"),
    )
    return {word for lacks, word in words if lacks}


def test_every_form_is_documented():
    table = documented()
    assert list(table) == [form.name for form in FORMS]
    for form in FORMS:
        extensions, lost = table[form.name]
        assert extensions == form.extensions, form.name
        if not form.written:
            assert lost == "(read only)"
        else:
            assert set(lost.split(", ")) == not_held(form), form.name


def test_no_two_forms_have_a_name_or_an_extension_in_common():
    names = [form.name for form in FORMS]
    extensions = [end for form in FORMS for end in form.extensions if end not in TEXT_EXTENSIONS]
    assert (len({*names}), len({*extensions})) == (len(names), len(extensions))


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed[0])
def test_what_a_form_holds_is_recognised_by_that_form_alone(seed):
    name, data = seed
    source = Source("x", data, lambda: "")
    found = [form.name for form in FORMS if form.reads(source)]
    text = {"long", "csv", "wide", "wide-csv", "sed-eval", "audacity"}
    assert found == [name] or (name in text and found == [])
    if found:
        assert form_instead(source) == found[0]
        assert form_at_once(source) == ("" if name in {"elan", "audacity"} else found[0])


def test_extensions_say_what_is_written():
    for form in WRITTEN:
        for extension in {*form.extensions} - TEXT_EXTENSIONS:
            assert form_by_extension(f"x{extension}", wide=False) is form
            assert form_by_extension(f"x{extension.upper()}.gz", wide=True) is form
    assert [form_by_extension(f"x{e}", wide=w).name for e in (".tsv", ".csv") for w in (False, True)] == [
        *("long", "wide", "csv", "wide-csv")
    ]
    for name in ("x.txt", "x", "folder/", "x.zip", ".tsv"):
        assert form_by_extension(name, wide=False) is None
