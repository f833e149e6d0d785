"""Which names mean one file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft.tables.filenames import match_names, without_extension, without_folders

CASES = [
    # reference, other, what the other names go by, which are ambiguous
    (["a.wav"], ["a.wav"], {"a.wav": "a.wav"}, ()),
    (["a.wav"], ["a"], {"a": "a.wav"}, ()),
    (["a"], ["a.FLAC"], {"a.FLAC": "a"}, ()),
    (["a.wav"], ["a.mp3"], {"a.mp3": "a.wav"}, ()),
    (["audio/a.wav"], ["a.wav"], {"a.wav": "audio/a.wav"}, ()),
    (["a.wav"], ["x\\y\\a.wav"], {"x\\y\\a.wav": "a.wav"}, ()),
    (["audio/a.wav"], ["other/a"], {"other/a": "audio/a.wav"}, ()),
    # Only audio extensions are cut off: a.001 and a.002 are two recordings.
    (["a.001"], ["a.002"], {"a.002": "a.002"}, ()),
    (["a.csv"], ["a"], {"a": "a"}, ()),
    # Upper and lower case differ.
    (["A.wav"], ["a.wav"], {"a.wav": "a.wav"}, ()),
    # An exact match wins, and its look-alike is ambiguous.
    (["a.wav"], ["a.wav", "a"], {"a.wav": "a.wav", "a": "a"}, ("a",)),
    # Two reference names look like it: none is taken.
    (["x/a.wav", "y/a.wav"], ["a.wav"], {"a.wav": "a.wav"}, ("a.wav",)),
    (["a.wav", "a.flac"], ["a"], {"a": "a"}, ("a",)),
    # Two other names look like it: neither is taken.
    (["a.wav"], ["x/a.wav", "y/a.wav"], {"x/a.wav": "x/a.wav", "y/a.wav": "y/a.wav"}, ("x/a.wav", "y/a.wav")),
    # With less of the name a file may become ambiguous, which with more it is not.
    (["x/a.wav", "y/a.wav"], ["x/a", "y/a"], {"x/a": "x/a.wav", "y/a": "y/a.wav"}, ()),
    (["x/a", "y/a"], ["x/a", "a"], {"x/a": "x/a", "a": "a"}, ("a",)),
    # Nothing is like it.
    (["a.wav"], ["b.wav"], {"b.wav": "b.wav"}, ()),
    ([], ["b.wav"], {"b.wav": "b.wav"}, ()),
    (["a.wav"], [], {}, ()),
]


@pytest.mark.parametrize(("reference", "other", "canonical", "ambiguous"), CASES)
def test_match_names(reference, other, canonical, ambiguous):
    match = match_names(reference, other)
    assert match.canonical == canonical
    assert match.ambiguous == ambiguous


NAMES = st.builds(
    lambda folder, stem, extension: folder + stem + extension,
    st.sampled_from(["", "x/", "y/", "x/y/", "x\\"]),
    st.sampled_from(["a", "b", "a.1"]),
    st.sampled_from(["", ".wav", ".flac", ".txt"]),
)
NAME_LISTS = st.lists(NAMES, unique=True, max_size=6)


@given(NAME_LISTS, NAME_LISTS)
def test_matching_is_one_to_one_and_never_guesses(reference, other):
    match = match_names(reference, other)
    assert set(match.canonical) == set(other)
    assert len(set(match.canonical.values())) == len(other)
    for name, known in match.canonical.items():
        if name in reference:
            assert known == name
        elif known != name:
            looks = [look for look in (without_extension, without_folders, stem) if look(known) == look(name)]
            assert looks
            # At the first look at which they are alike, nothing else of either table is.
            assert any(
                [r for r in reference if look(r) == look(name)] == [known]
                and [o for o in other if look(o) == look(name)] == [name]
                for look in looks
            )
            assert name not in match.ambiguous


def stem(name):
    return without_extension(without_folders(name))


@given(NAME_LISTS, NAME_LISTS, st.randoms())
def test_matching_does_not_depend_on_the_order(reference, other, random):
    match = match_names(reference, other)
    random.shuffle(reference)
    random.shuffle(other)
    again = match_names(reference, other)
    assert again.canonical == match.canonical
    assert set(again.ambiguous) == set(match.ambiguous)
