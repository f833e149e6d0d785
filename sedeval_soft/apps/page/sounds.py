"""Sounds of the recordings that a page shows over time: embedded in the page or beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sedeval_soft.apps.page.audio_file import LEVELS, Strip, flac_of, opened, strip_of
from sedeval_soft.apps.page.page_data import Packer
from sedeval_soft.arrays import for_each
from sedeval_soft.errors import SettingsError, be, counted, one_line, visible
from sedeval_soft.report import OutputError, write_folder
from sedeval_soft.tables import AUDIO_EXTENSIONS, UNNAMED, listing, match_names, named_alike, stem_of

INSIDE = 20_000_000
"""The most bytes of samples embedded in a page; FLAC has half of them. With more, all are files beside it."""

_OURS = re.compile(r"\d{3,}-[A-Za-z0-9-]*\.flac")
"""Names of files beside a page."""

Folder = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Sounds:
    """The sounds of a page, by the names of their recordings.

    strips: the spectrogram of each recording that was found. inside: sounds embedded in the page. beside:
    addresses of sounds beside the page, relative to it. warnings: the missing sounds, and the reasons.
    """

    strips: Mapping[str, Strip]
    inside: Mapping[str, bytes] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def of(self, name: str, pack: Packer) -> dict[str, Any] | None:
        """Return the page's data of a recording's sound; None without a sound."""
        if name not in self.strips:
            return None
        strip = self.strips[name]
        return {
            "seconds": strip.seconds,
            "top": strip.top,
            "bands": len(strip.level),
            "levels": LEVELS,
            "level": pack(strip.level.ravel(), "u1"),
            "inside": [*self.inside].index(name) if name in self.inside else None,
            "address": self.beside.get(name),
        }


def check_audio(folder: Folder) -> None:
    """Raise SettingsError if a path is not a folder; ModuleNotFoundError if no library reads audio files."""
    try:
        import soundfile  # noqa: F401 - whether it is there
    except OSError as error:
        raise SettingsError(f"--audio: soundfile cannot read audio files here: {one_line(error)}") from error
    if not os.path.isdir(folder):
        what = "is a file" if os.path.exists(folder) else "does not exist"
        raise SettingsError(f"--audio {os.fspath(folder)}: {what}; expected a folder of audio files")


def sounds_of(folder: Folder, page: Folder, names: Collection[str], lengths: Mapping[str, float]) -> Sounds:
    """Return the sounds of recordings that a page shows; larger sounds are written beside it.

    page: its path. names: of all recordings, since a file of one is never taken for another. lengths: seconds
    of the recordings that are shown; their sounds end there. Raises OutputError if a file beside the page
    cannot be written.
    """
    paths, warnings = _files_of(Path(folder), names, lengths)
    unplayed: dict[str, str] = {}

    def strip(name: str) -> Strip | str:
        """Return the spectrogram of a recording, or the reason why there is none."""
        try:
            with opened(paths[name]) as file:
                # A recording of which nothing is known is shown for a second.
                return strip_of(file, lengths[name] or 1.0)
        except ValueError as error:
            return str(error)

    def played() -> Iterator[tuple[str, bytes]]:
        for name, each in strips.items():
            try:
                with opened(paths[name]) as file:
                    yield name, flac_of(file, each.seconds, each.peak)
            except ValueError as error:
                unplayed[name] = str(error)

    samples = round(sum(lengths[name] for name in paths) * 44_100)
    both = dict(zip(paths, for_each(strip, paths, samples), strict=True))
    strips = {name: each for name, each in both.items() if isinstance(each, Strip)}
    inside, beside = dict[str, bytes](), dict[str, str]()
    # Samples have two bytes, and there are two for each period of the highest frequency.
    if sum(4 * each.seconds * each.top for each in strips.values()) > INSIDE:
        beside = _written_beside(folder, page, played())
    else:
        inside = dict(played())
    for which, what in (
        ({name: each for name, each in both.items() if isinstance(each, str)}, "cannot be read"),
        (
            {name: f"the first {each.seconds:.2f} s" for name, each in strips.items() if each.damaged},
            "can be read in part only",
        ),
        (unplayed, "can be seen, but not played"),
    ):
        if which:
            name, why = next(iter(which.items()))
            warnings.append(f"{listing([*which], 'file')} {what}; {name!r}: {why}")
    warnings = [f"sounds in {visible(os.fspath(folder))}: {text}" for text in warnings]
    return Sounds(strips, inside, beside, tuple(warnings))


def _files_of(
    folder: Path, names: Collection[str], shown: Collection[str]
) -> tuple[dict[str, Path], list[str]]:
    """Return where the sounds of shown recordings are, and warnings of those that have none, or several."""
    found = (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in AUDIO_EXTENSIONS)
    files = {path.relative_to(folder).as_posix(): path for path in found}
    if {*names} == {UNNAMED} and len(files) == 1:
        return {UNNAMED: next(iter(files.values()))}, []
    match = match_names([*files], names)
    paths = {name: files[match.canonical[name]] for name in shown if match.canonical[name] in files}
    missing = [name for name in shown if name not in paths]
    if not missing:
        return paths, []
    why = named_alike(missing, {*files}.difference(match.canonical.values()), ("tables", "folder"))
    several = [name for name in missing if name in match.ambiguous]
    if several:
        why += f"; {several[0]!r} could be more than one of them, expected names with their folders"
    there = f"of {len(shown)} in the report; there {be(len(files))} {counted(len(files), 'audio file')}"
    return paths, [f"none of {listing(missing, 'recording')} {there}{why}"]


def _written_beside(folder: Folder, page: Folder, played: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """Write sounds into a folder beside a page, and return their addresses, relative to it."""
    from urllib.parse import quote

    target = Path(f"{Path(os.path.realpath(page)).with_suffix('')}_sounds")
    there = [each.name for each in target.iterdir()] if target.is_dir() else []
    others = [name for name in there if not _OURS.fullmatch(name)]
    if others or (there and target.samefile(folder)):
        what = f"holds {others[0]!r}" if others else "is what --audio reads"
        raise OutputError(f"{target}: is not replaced by the sounds of the report, since it {what}")
    addresses: dict[str, str] = {}

    def members() -> Iterator[tuple[str, bytes]]:
        for number, (name, data) in enumerate(played, 1):
            plain = re.sub(r"[^A-Za-z0-9]+", "-", stem_of(name)).strip("-")[:40]
            member = f"{number:03d}-{plain}.flac"
            addresses[name] = f"{quote(os.fsencode(target.name))}/{member}"
            yield member, data

    write_folder(target, members(), replaceable={".flac"}, force=True)
    return addresses
