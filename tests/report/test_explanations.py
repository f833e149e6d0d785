"""`explain`: every score has an explanation, made from the registry and the documentation."""

import re
from dataclasses import replace

import pytest
from called import call

from sedeval_soft.measures.explanation import DIFFERENCES, WORDS, explained
from sedeval_soft.measures.registry import FAMILIES, ScoreName, ScoreNameError, score_names
from sedeval_soft.report.explanation import explanation_text

NAMES = list(score_names(["car"]))
LETTERS = r"(?<![\w.])(?:[A-Z]{1,3}(?:_(?:ref|sys|k))?|[yp]|n_k)(?!\w)"
ACRONYMS = {"ROC", "PSD", "PSDS", "FPR", "AP", "IoU", "KL", "F", "OR", "P", "R", "VOC", "AUC"}


def test_every_score_is_explained():
    for name in (*NAMES, *(example for _, example in WORDS.values())):
        found = explained(name)
        assert found.name == name and found.basis and found.reading and found.average


def test_every_measure_is_told_with_every_letter_of_its_formula():
    for family in FAMILIES:
        for measure in family.measures:
            found = explained(f"{family.basis}.{family.reading}.{measure.name}")
            flat = " ".join(explanation_text(found).split())
            told = (measure.summary, measure.formula, measure.undefined, measure.source)
            assert all(" ".join(text.split()) in flat for text in told), found.name
            of = [] if measure.name in {"joint_f", "joint_threshold"} else found.letters.values()
            used = {letter for text in (measure.formula, *of) for letter in re.findall(LETTERS, text)}
            assert used - ACRONYMS <= {*found.letters}, found.name


def test_every_difference_concerns_a_score_and_none_concerns_all():
    parsed = [ScoreName.parse(name) for name in NAMES]
    for difference in DIFFERENCES:
        assert sum(map(difference.concerns, parsed)) < len(parsed) / 2, difference
        alone = [replace(difference, scores=(pattern,)) for pattern in difference.scores]
        assert [each for each in alone if not any(map(each.concerns, parsed))] == []


def test_the_command_explains_several_scores_or_none():
    assert call("explain", "segment.soft.f1.macro", " event.hard.recall[a b] ").out.count("\n  what ") == 2
    done = call("explain", "segment.soft.f1.makro", "segment.hard.er", "segment.soft.f1.macro")
    assert (done.code, done.out) == (2, "")
    assert all(name in done.err for name in ("makro", "segment.hard.er", "segment.hard.error_rate.macro"))


def test_a_measure_is_explained_by_its_heading_with_the_scores_that_are_alike():
    for heading in ("F1", "P", "R", "ER", "KLD", "ECE"):
        found = explained(heading)
        headings = {explained(name).measure.short for name in (found.name, *found.alike)}
        # The explanation of a score that needs an option names the option.
        assert (headings, bool(found.asked_by)) == ({heading}, heading == "ECE")
    alike = [found.name, *found.alike]
    assert alike[0] == "segment.hard.expected_calibration_error" and len({*alike}) == len(alike) == 4
    for name in ("", "..", "segment..f1", "segment.soft.f1[", "a.b.c", "segment.soft.f1@"):
        with pytest.raises(ScoreNameError):
            explained(name)
