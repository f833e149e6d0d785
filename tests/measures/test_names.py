"""Names of scores, also of groups and scenes, and names that people use for them."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sedeval_soft.measures.registry import (
    AVERAGES,
    OVERALL,
    ScoreName,
    ScoreNameError,
    measure_of,
    score_names,
)
from sedeval_soft.names import MEASURE_ALIASES, by_alias
from sedeval_soft.settings import CLASS_MEANS, PART_MEANS, is_part_name

PART_NAMES = st.text(min_size=1, max_size=8).filter(is_part_name)
FORMS = st.sampled_from([*AVERAGES, *CLASS_MEANS]).map(lambda average: {"average": average})


@given(
    st.text(max_size=12).map(lambda label: {"class_name": label}) | FORMS,
    st.none() | PART_NAMES | st.just("scenes.harmonic"),
)
@example({"class_name": "a]@b"}, "c")
@example({"class_name": "x[y]"}, "macro")
def test_names_parse_back_with_groups_and_without(form, group):
    for measure, of in (("f1", form), ("psds", {"average": OVERALL})):
        name = ScoreName("intersection", "hard", measure, **of, group=group)
        assert ScoreName.parse(str(name)) == name and str(name).endswith(f"@{group}" if group else "")
        assert measure_of(str(name)).name == measure


@given(st.text(max_size=20))
@example(".macro@a[b]")
def test_what_parses_is_spelled_the_same_again(text):
    for whole in (text, f"segment.soft.f1{text}", f"segment.soft.f1.macro{text}", f"segment.soft.f1[{text}"):
        try:
            name = ScoreName.parse(whole)
        except ScoreNameError:
            continue
        assert str(name) == whole
        assert name.group is None or name.group in PART_MEANS or is_part_name(name.group)


NO_NAMES = ("", "f1", "a.b", "a..c.micro", "a.b.c.mean", "a.b.c.d.e", "a.b[c", "a.b.c[d", "a.b.c[d]e")
NO_GROUPS = ("@g[car]", ".macro@", "[car]@", "[car]b", ".macro@a]", ".macro@a@b", ".macro@\x1b", ".macro@ a")


@pytest.mark.parametrize("text", [*NO_NAMES, *(f"segment.soft.f1{text}" for text in NO_GROUPS)])
def test_no_name_is_refused_with_the_forms(text):
    with pytest.raises(ScoreNameError, match=r"basis\.reading\.measure\[class\]"):
        ScoreName.parse(text)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("psds", "'intersection.hard.psds' or 'intersection.soft.psds'"),
        ("PSDS1", "'intersection.hard.psds' or 'intersection.soft.psds'"),
        ("segment.hard.er.micro", "'segment.hard.error_rate.micro'"),
        ("event_based.hard.f_measure.class_wise_average", "'event.hard.f1.macro'"),
        ("segment.soft.f[car]", "'segment.soft.f1[car]'"),
        ("segment.soft.f1.micr", "'segment.soft.f1.micro' or "),
        ("segment.soft.kld", "'segment.soft.kl_divergence.macro' or 'segment.soft.kl_divergence.micro'?"),
        ("event.soft.f1", "'event.soft.f1.macro' or 'event.soft.f1.micro'?"),
        ("segment.sofd.f1.macro@traffic", "'segment.soft.f1.macro'"),
        # Other texts get no suggestion.
        *(
            (said, None)
            for said in ("", ".", "nonsense", "[", "[car]", "]", "x" * 100_000, "f1.zoo", "\x1b[2J")
        ),
    ],
)
def test_a_name_as_it_is_said_is_answered_with_ours(said, meant):
    with pytest.raises(ScoreNameError) as refused:
        measure_of(said)
    answered = re.search("; did you mean (.*)|it could be", str(refused.value))
    assert answered is None if meant is None else answered[1].startswith(meant)


@pytest.mark.parametrize(
    "said", ["f1", "F1", "segment.f1", "optimal.er", "macro", "segment.soft", "ap", "f1[car]"]
)
def test_a_part_of_a_name_is_answered_with_the_names_that_it_could_mean(said):
    with pytest.raises(ScoreNameError) as refused:
        measure_of(said)
    listed = re.findall(r"\w+\.\w+\.\w+(?:\.\w+|\[car\])", str(refused.value))
    assert 4 <= len(listed) <= 12 and len(str(refused.value)) < 500
    assert all(measure_of(name) for name in listed)
    stems = [f"{b}.{r}.f1" for b in ("segment", "event") for r in ("hard", "optimal", "soft")]
    assert said != "f1" or listed == [f"{stem}.{average}" for stem in stems for average in ("macro", "micro")]


def test_every_word_leads_to_a_part_of_a_name():
    parts = {part for name in score_names(means=CLASS_MEANS) for part in ScoreName.parse(name)}
    words = by_alias("scores") | MEASURE_ALIASES
    assert {*words.values()} <= parts
    # An alias that is itself a part of names would be ambiguous.
    assert not (parts - {OVERALL}) & {*words}
