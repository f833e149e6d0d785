"""Shards made for tests of tally files, and what makes two of them the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tables import long_rows

from sedeval_soft.evaluation.count import recipe_of, tally_pair
from sedeval_soft.evaluation.scores import Input
from sedeval_soft.evaluation.shard import Shard
from sedeval_soft.evaluation.tally_file import EVENT_KINDS, pack_shard
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.alignment_report import AlignmentReport
from sedeval_soft.timeline.recordings import align

ODD = ("", "\ud800\udc00", "\udcff.wav", "a\0b", "scène/ü 1.wav", 'tab\t"quote"', "\U0001f600", "…@[x]")
EVERYTHING = {"only": ("all",), "measures": ("all",), "max_efpr": 100.0}


def rows(seed: int, files: tuple[str, ...], n: int = 12):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        onset = float(rng.integers(0, 90)) / 10
        label = str(rng.choice(["car", "dog", "b\u00ebll"]))
        value = float(rng.choice([rng.random(), 0.5, 1.0]))
        found.append((str(rng.choice(files[:-1] or files)), onset, onset + 0.7, label, value))
    return long_rows(found, files=files)


def shard(made: Settings, files: tuple[str, ...] = ("a", "b", "c"), seed: int = 0, **parts) -> Shard:
    pair = align(rows(seed, files), rows(seed + 1, files), made)
    groups = {
        name: tally_pair(pair.with_classes(tuple(c for c in labels if c in pair.classes)), made)
        for name, labels in made.groups.items()
    }
    inputs = (Input("r.tsv", "reference", "0" * 64, 12, 3, 3, "long", True, "merge", ("scène",)),)
    whole = Shard(made, "sys\udcff", tally_pair(pair, made), groups, pair.findings, inputs)
    return replace(whole, **parts)


def same_array(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape) and ours.tobytes() == theirs.tobytes()


def same_tally(ours: Tally, theirs: Tally) -> bool:
    if (ours.files, ours.classes, ours.recipe) != (theirs.files, theirs.classes, theirs.recipe):
        return False
    for group in ("per_class", "per_file", "samples"):
        mine, other = getattr(ours, group), getattr(theirs, group)
        if set(mine) != set(other) or not all(same_array(mine[name], other[name]) for name in mine):
            return False
    return set(ours.events) == set(theirs.events) and all(
        ours.events[name].nested is theirs.events[name].nested
        and all(
            same_array(getattr(ours.events[name], at), getattr(theirs.events[name], at)) for at in EVENT_KINDS
        )
        for name in ours.events
    )


def same(ours: Shard, theirs: Shard) -> bool:
    plain = [
        (s.settings, s.system, list(s.groups), s.findings, s.inputs, s.durations, recipe_of(s.settings))
        for s in (ours, theirs)
    ]
    tallies = [
        (ours.tally, theirs.tally),
        *((ours.groups[name], theirs.groups[name]) for name in ours.groups),
    ]
    return plain[0] == plain[1] and all(same_tally(a, b) for a, b in tallies)


def full() -> Shard:
    """A shard with something in every place."""
    made = Settings.of(**EVERYTHING, groups={"z": ["dog", "car"], "a": ["car"]}, psds_median_filters=[0.5])
    found = AlignmentReport(
        missing=frozenset({"\udcff", "b"}),
        notes=frozenset({"n"}),
        system_classes=frozenset({"car"}),
        beyond={"system": (3, 0.1 + 0.2), "reference": (1, 7.0)},
    )
    whole = shard(made, tuple(sorted(ODD)), durations=dict.fromkeys(ODD, 1 / 3), findings=found)
    nan = whole.tally.per_class["segment.soft.kl_divergence"].copy()
    nan[0, 0] = np.nan
    kept = {**whole.tally.per_class, "segment.soft.kl_divergence": nan, "odd.flags": nan > 0}
    return replace(whole, tally=replace(whole.tally, per_class=kept))


WHOLE = full()
PACKED = pack_shard(WHOLE, "0.1")
