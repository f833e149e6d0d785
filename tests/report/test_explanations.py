"""`explain`: every score has an explanation, made from the registry and the documentation."""

from __future__ import annotations

import re

import pytest
from called import REFERENCE, SYSTEM, call

from sedeval_soft.measures.explanation import DIFFERENCES, WORDS, explained
from sedeval_soft.measures.registry import FAMILIES, ScoreName, ScoreNameError, measure_of, score_names
from sedeval_soft.report.explanation import explanation_text

NAMES = list(score_names(["car"]))
LETTERS = r"(?<![\w.])(?:[A-Z]{1,3}(?:_(?:ref|sys|k))?|[yp]|n_k)(?!\w)"
ACRONYMS = {"ROC", "PSD", "PSDS", "FPR", "AP", "IoU", "KL", "F", "OR", "P", "R", "VOC", "AUC"}


def test_every_score_is_explained():
    assert len(NAMES) > 500
    for name in NAMES:
        found, measure = explained(name), measure_of(name)
        text = explanation_text(found)
        assert text.startswith(f"{name}\n")
        assert all(len(line) <= 100 for line in text.splitlines()[1:])
        flat = " ".join(text.split())
        for told in (measure.summary, measure.formula, measure.undefined, measure.source):
            assert " ".join(told.split()) in flat, name
        assert found.basis and found.reading and found.average


def test_words_of_the_screen_are_explained():
    done = call("explain", *WORDS, "f1", "F1", "psds")
    assert done.code == 0, done.err
    assert all(f"{word}\n  what " in done.out for word in WORDS)
    assert {explained(example).name for _, example in WORDS.values()} == {each for _, each in WORDS.values()}
    document = call("explain", "soft", "--format", "json").document
    assert document == [{"name": "soft", "summary": WORDS["soft"][0], "example": WORDS["soft"][1]}]


def test_every_letter_of_a_formula_is_told():
    for family in FAMILIES:
        for measure in family.measures:
            found = explained(f"{family.basis}.{family.reading}.{measure.name}")
            texts = [measure.formula, *found.letters.values()]
            if measure.name in {"joint_f", "joint_threshold"}:
                texts = texts[:1]
            used = {letter for text in texts for letter in re.findall(LETTERS, text)}
            assert used - ACRONYMS <= set(found.letters), (family.basis, family.reading, measure.name)


def test_every_difference_concerns_a_score_and_none_concerns_all():
    parsed = [ScoreName.parse(name) for name in NAMES]
    for difference in DIFFERENCES:
        concerned = [name for name in parsed if difference.concerns(name)]
        assert concerned, difference
        assert len(concerned) < len(parsed) / 2, difference
        for pattern in difference.scores:
            alone = type(difference)(difference.tool, "", "", "", (pattern,))
            assert any(map(alone.concerns, parsed)), pattern


def test_the_command_explains_several_scores_or_none():
    assert call("explain", "segment.soft.f1.macro", " event.hard.recall[a b] ").out.count("\n  what ") == 2
    done = call("explain", "segment.soft.f1.makro", "segment.hard.er", "segment.soft.f1.macro")
    assert (done.code, done.out) == (2, "")
    assert all(name in done.err for name in ("makro", "segment.hard.er", "segment.hard.error_rate.macro"))


def test_a_measure_is_explained_by_its_name_on_the_screen_with_the_scores_that_are_alike():
    headings = re.findall(r"^basis +reading +(F1 .*)$", call(REFERENCE, SYSTEM, "-v").out, re.MULTILINE)
    names = [*dict.fromkeys(headings[0].split())]
    assert names == ["F1", "P", "R", "ER", "KLD"]
    for name in names:
        explanation = explained(name)
        assert explanation.measure.short == name and not explanation.asked_by
        assert {explained(other).measure.short for other in explanation.alike} <= {name}
    explanation = explained("expected_calibration_error")
    alike = [explanation.name, *explanation.alike]
    assert alike[0] == "segment.hard.expected_calibration_error" and len({*alike}) == len(alike) == 4
    assert {explained(name).measure.name for name in alike} == {"expected_calibration_error"}
    # One that comes only with an option is explained by what it needs.
    assert explained("ECE").asked_by
    for name in ("", "..", "segment..f1", "segment.soft.f1[", "a.b.c", "segment.soft.f1@"):
        with pytest.raises(ScoreNameError):
            explained(name)
