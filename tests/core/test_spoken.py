"""Names of scores as people say them are answered with the names that we give them."""

from __future__ import annotations

import pytest

from sedeval_soft.measures.names import OVERALL, ScoreName, ScoreNameError
from sedeval_soft.measures.registry import measure_of, score_names
from sedeval_soft.names import MEASURE_ALIASES, by_alias


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("f1", "'segment.hard.f1.macro' or 'segment.optimal.f1.macro' or 'segment.soft.f1.macro'"),
        ("psds", "'intersection.hard.psds' or 'intersection.soft.psds'"),
        ("PSDS1", "'intersection.hard.psds' or 'intersection.soft.psds'"),
        ("event.f1.macro", "'event.hard.f1.macro' or 'event.optimal.f1.macro' or 'event.soft.f1.macro'"),
        ("segment.hard.er.micro", "'segment.hard.error_rate.micro'"),
        ("event_based.hard.f_measure.class_wise_average", "'event.hard.f1.macro'"),
        ("segment.soft.f1", "'segment.soft.f1.macro'"),
        ("segment.soft.f[car]", "'segment.soft.f1[car]'"),
        ("segment.soft.f1.micr", "'segment.soft.f1.micro' or "),
        ("segment.soft.kld", "'segment.soft.kl_divergence.macro'"),
    ],
)
def test_a_name_as_it_is_said_is_answered_with_ours(said, meant):
    with pytest.raises(ScoreNameError) as refused:
        measure_of(said)
    assert f"; did you mean {meant}" in str(refused.value)


@pytest.mark.parametrize("said", ["", ".", "nonsense", "[", "[car]", "]", "x" * 100_000, "f1.zoo", "\x1b[2J"])
def test_nothing_is_made_up(said):
    with pytest.raises(ScoreNameError) as refused:
        measure_of(said)
    assert "did you mean" not in str(refused.value)


def test_every_word_leads_to_a_part_of_a_name():
    parts = set()
    for name in score_names():
        parsed = ScoreName.parse(name)
        parts |= {parsed.basis, parsed.reading, parsed.measure, parsed.average}
    words = by_alias("scores") | MEASURE_ALIASES
    assert set(words.values()) <= parts
    # A word that is a part itself would never be looked up rightly.
    assert not (parts - {OVERALL}) & set(words)
