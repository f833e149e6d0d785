"""Checks of names: those that are nearly alike, and those in the wrong column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sedeval_soft.names import folded


def similar_names(names: Iterable[str]) -> dict[str, str]:
    """Return names that differ from an earlier one as `folded` names do not, with that one."""
    by_look: dict[str, str] = {}
    return {name: other for name in names if (other := by_look.setdefault(folded(name), name)) != name}


def are_swapped(
    files: Iterable[str], classes: Iterable[str], reference_files: Iterable[str], known: Iterable[str]
) -> bool:
    """Return whether files stand where classes belong, and classes where files do.

    files, classes: of a table; reference_files, known: files and classes of the reference.
    """
    theirs, labels, files, classes = {*reference_files}, {*known}, {*files}, {*classes}
    return bool(theirs & classes and labels & files and not theirs & files)


def known_spellings(names: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Return the names that are not known, but differ from one known name alone as `folded` names do not."""
    by_look: dict[str, list[str]] = {}
    for name in known:
        by_look.setdefault(folded(name), []).append(name)
    alike = {name: by_look.get(folded(name), []) for name in {*names} - {*known}}
    return {name: others[0] for name, others in alike.items() if len(others) == 1}
