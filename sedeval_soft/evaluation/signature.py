"""The signature of a result, which makes it repeatable: in full, and in short for people.

In full: the version, every setting, and the hash of every input. In short: the version, the settings that are
not the default ones, and the first letters of hashes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.evaluation.shard import Input
from sedeval_soft.settings import Settings, short_fraction

if TYPE_CHECKING:
    from sedeval_soft.tables.file_groups import Partition

_LETTERS = 8
"""Letters of a hash that are shown in short."""

_LATER: dict[str, Any] = {"match_by": "collar", "means": [], "map": {}, "variants": []}
"""Settings that older signatures lack, and the values they imply: signatures do not name these values."""

_LONGEST = 40
"""Letters of a setting that are shown in short; of a longer one its hash."""

_LISTED = ("only", "measures", "means", "variants")
"""Settings that are names of ours, which are shown in full: nobody can repeat a hash of them."""

POINT = " \N{MIDDLE DOT} "
"""Separator of the parts of a signature in short."""

_MOST_SYSTEMS = 3
"""Systems up to which each has its hash in short."""


def sign(
    version: str,
    settings: Settings,
    inputs: Sequence[Input],
    durations: Mapping[str, float] | None = None,
    **partitions: Partition | None,
) -> tuple[str, str]:
    """Return the signature in full and in short.

    In full it is `soft-sed-eval 0.1.0 | segment_length=1 ... | reference:sha256=...`.
    durations: seconds by file name; their hash is the hash of lines of name, tabulator and seconds by name.
    partitions: of the files, by the name of their option.
    """
    # Defaults of intervals are among the words with intervals only.
    chosen, default = _words(settings), _words(Settings(ci=settings.ci)) | {"ci": "", "region_edges": "cut"}
    hashes = [f"{item.role}:sha256={item.sha256 or 'none'}" for item in inputs]
    said = ((item.role, *text.partition("=")) for item in inputs for text in item.options)
    options = dict.fromkeys(f"{role}:{name}={json.dumps(value)}" for role, name, _, value in said)
    hashes += options
    roles = [{"reference": "ref", "system": "sys"}.get(item.role, item.role) for item in inputs]
    short = [f"{role} {_first(item.sha256)}" for role, item in zip(roles, inputs, strict=True)]
    if durations is not None:
        lines = "".join(f"{name}\t{float(durations[name])!r}\n" for name in sorted(durations))
        hashed = sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
        hashes.append(f"durations:sha256={hashed}")
        short.append(f"durations {_first(hashed)}")
    for name, partition in partitions.items():
        if partition is not None:
            hashed = f"sha256={partition.sha256}" if partition.sha256 else json.dumps(partition.source)
            hashes.append(f"{name}:{hashed}")
            short.append(f"{name} {_first(partition.sha256 or _hash(partition.source))}")
    differing = {name: text for name, text in chosen.items() if default.get(name) != text}
    # Lists of names without the marks of JSON.
    listed = {name: ",".join(getattr(settings, name)) for name in _LISTED if name in differing}
    told = [f"{name}={listed.get(name) or _brief(text)}" for name, text in differing.items()]
    program, words = f"soft-sed-eval {version}", " ".join(f"{name}={text}" for name, text in chosen.items())
    return (
        f"{program} | {words} | {' '.join(hashes)}",
        POINT.join([program, *told, *map(_brief, options), *short]),
    )


_OF_ALL = ("reference_threshold", "events", "median_filter", "min_gap", "min_duration", "beta")
_OF_BASES = {
    "segment": ("segment_length", "pool"),
    "clip": ("segment_length", "pool"),
    "event": ("onset", "onset_collar", "offset", "offset_collar", "offset_collar_rate", "match_by", "iou"),
    "intersection": ("dtc", "gtc"),
}
"""Settings on which best thresholds depend, beside the settings of every basis, by the basis of the
thresholds."""


def doubts_of_tuning(path: str, made: str, settings: Settings, inputs: Sequence[Input]) -> list[str]:
    """Return reasons to distrust tuned scores: same tables, or other settings.

    path: of the file of thresholds. made: the signature in it. settings, inputs: of the evaluation.
    """
    _, words, hashes = [*made.split(" | "), "", ""][:3]
    doubts = []
    if inputs and all(f"{i.role}:sha256={i.sha256}" in hashes.split() for i in inputs):
        doubts.append(
            f"{path} was tuned on these very tables: tuned scores are as optimistic as optimal ones; tune on "
            "other files"
        )
    then = dict(word.split("=", 1) for word in re.split(r" (?=[a-z_]+=)", words) if "=" in word)
    now = _words(settings)
    basis = then.get("objective", "").partition(".")[0]
    names = (*_OF_ALL, *_OF_BASES[basis]) if basis in _OF_BASES else ()
    different = [
        f"{name} {then.get(name, 'none')}, not {now.get(name, 'none')}"
        for name in names
        if then.get(name) != now.get(name)
    ]
    if different:
        doubts.append(f"{path} was tuned with other settings: {'; '.join(different)}")
    return doubts


def sign_together(systems: Sequence[Scores], **asked: object) -> tuple[str, str]:
    """Return the signature of several systems in full and in short: the first one, the others, and options.

    asked: other options that shaped the numbers, None without any.
    """
    others = [item.sha256 for each in systems[1:] for item in each.inputs if item.role == "system"]
    hashes = "".join(f" system:sha256={hashed or 'none'}" for hashed in others)
    given = {name: json.dumps(value) for name, value in asked.items() if value is not None}
    short = [f"sys {_first(hashed)}" for hashed in others]
    if len(systems) > _MOST_SYSTEMS:
        short = [f"{len(others)} others {_first(_hash(hashes))}"]
    return (
        f"{systems[0].signature}{hashes} |{''.join(f' {name}={value}' for name, value in given.items())}",
        POINT.join(
            [
                systems[0].short_signature,
                *short,
                *(f"{n}={value if n == 'rank_by' else _brief(value)}" for n, value in given.items()),
            ]
        ),
    )


def _words(settings: Settings) -> dict[str, str]:
    """Return the settings as texts, without settings that are None."""
    words: dict[str, Any] = {name: value for name, value in settings.to_dict().items() if name != "rank_by"}
    words = {name: value for name, value in words.items() if value is not None and value != _LATER.get(name)}
    for name, value in words.items():
        if name == "segment_length":
            words[name] = short_fraction(value)
        elif isinstance(value, bool):
            words[name] = "yes" if value else "no"
        elif isinstance(value, list | dict):
            words[name] = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return {name: str(value) for name, value in words.items()}


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _first(hashed: str | None) -> str:
    return hashed[:_LETTERS] if hashed else "in memory"


def _brief(text: str) -> str:
    return text if len(text) <= _LONGEST else f"#{_first(_hash(text))}"
