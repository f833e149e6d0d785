"""Sounds in a report: which file is whose, what is seen and heard, and what hostile files do."""

from __future__ import annotations

import html
import io
import os
import re
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest
import soundfile
from called import call
from embedded import embedded
from tables import long_rows
from tones import noise, sweep, wav_header, write

from sedeval_soft import Choices, OutputError, SettingsError, write_report

SAMPLE = Path(__file__).parents[3] / "sample_data"
TABLES = SAMPLE / "ref.tsv", SAMPLE / "sys.tsv"
BANDS = 48


def mel(frequency):
    return 2595 * np.log10(1 + np.asarray(frequency) / 700)


def shown(path, *names, folder=None, seconds=10.0, **options):
    """Write a report of recordings with an event each, and return their sounds, by name, and the warnings."""
    rows = long_rows([(name, 0.0, 1.0, "car", 1.0) for name in names])
    lengths = seconds if isinstance(seconds, dict) else dict.fromkeys(names, seconds)
    folder = path.parent / "audio" if folder is None else folder
    options = {"choices": Choices(plotly="plotly.js"), **options}
    (scores,) = write_report(rows, {"s": rows}, path, audio=folder, durations=lengths, **options)
    files = embedded(path)["systems"][0]["timelines"]["files"]
    told = [text for text in scores.warnings if text.startswith("sounds in ")]
    return {each["name"]: each["sound"] for each in files}, told


def level(sound):
    """What is seen of a sound, (bands, columns)."""
    return sound["level"].reshape(sound["bands"], -1)


def inside(path, sound):
    """The sound that a page holds."""
    text = path.read_text(encoding="utf-8")
    data = re.search(rf'<script type="text/plain" id="sound-{sound["inside"]}">(.*?)</script>', text)[1]
    return b64decode(data)


def media(path):
    """What a page's policy says of sounds."""
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', path.read_text(encoding="utf-8"))[1]
    return [part.strip() for part in html.unescape(policy).split(";") if part.strip().startswith("media-src")]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "audio").mkdir()
    return tmp_path / "page.html"


@pytest.fixture
def audio(path):
    return path.parent / "audio"


# What is seen, and what is heard.


@pytest.mark.parametrize(
    ("name", "rate", "subtype", "channels"),
    [
        ("a.wav", 44_100, "PCM_16", 1),
        ("a.wav", 8_000, "PCM_U8", 1),
        ("a.wav", 48_000, "FLOAT", 2),
        ("a.wav", 22_050, "PCM_24", 5),
        ("a.wav", 192_000, "DOUBLE", 1),
        ("a.flac", 44_100, "PCM_24", 2),
        ("a.FLAC", 11_025, "PCM_16", 1),
        ("a.ogg", 32_000, None, 1),
        ("a.aiff", 16_000, "PCM_16", 1),
    ],
)
def test_a_tone_is_seen_when_it_is_heard(path, audio, name, rate, subtype, channels):
    low, high, seconds = 100, 0.45 * rate, 4
    tone = sweep(seconds, rate, low, high)
    write(audio / name, np.repeat(tone[:, None], channels, axis=1), rate, subtype)
    sounds, told = shown(path, "a.wav", seconds=seconds)
    sound = sounds["a.wav"]
    assert (sound["seconds"], sound["top"], sound["bands"], told) == (seconds, rate / 2, BANDS, [])
    seen = level(sound)
    assert seen.shape == (BANDS, 200) and seen.max() == sound["levels"]
    middle = (np.arange(200) + 0.5) * seconds / 200
    wanted = mel(low * (high / low) ** (middle / seconds)) / mel(rate / 2) * BANDS
    loudest = seen[:, 5:-5].argmax(axis=0) + 0.5
    assert np.abs(loudest - wanted[5:-5]).max() < 1.5
    # What is heard is the mean of all channels, rounded to 16 bits.
    heard, its_rate = soundfile.read(io.BytesIO(inside(path, sound)))
    assert (its_rate, heard.shape) == (rate, tone.shape)
    assert np.abs(heard - tone).max() < (0.2 if subtype is None else 0.01 if subtype == "PCM_U8" else 1e-4)


@pytest.mark.parametrize(("seconds", "rate"), [(0.5, 44_100), (300, 1_000)])
def test_a_click_is_seen_where_it_is(path, audio, seconds, rate):
    at = np.array([0.1, 0.5, 0.95]) * seconds
    samples = np.zeros(round(seconds * rate))
    samples[np.rint(at * rate).astype(int)] = 0.9
    write(audio / "a.flac", samples, rate)
    sounds, _ = shown(path, "a", seconds=seconds)
    seen = level(sounds["a"]).max(axis=0)
    columns = len(seen)
    assert columns == min(1200, seconds * 50)
    # A spectrum is of 32 ms, where that is more than a column.
    loud = (np.flatnonzero(seen > seen.max() / 2) + 0.5) * seconds / columns
    away = np.abs(loud[:, None] - at)
    assert away.min(axis=1).max() <= max(0.035, seconds / columns)
    assert {*away.argmin(axis=1)} == {0, 1, 2}


def test_a_sound_ends_where_the_timeline_does_or_earlier(path, audio):
    for name, seconds in (("long", 12), ("short", 3)):
        write(audio / f"{name}.wav", noise(seconds, 8_000), 8_000)
    sounds, told = shown(path, "long", "short", seconds=5.0)
    assert [sounds[name]["seconds"] for name in ("long", "short")] == [5, 3] and told == []
    heard = [soundfile.read(io.BytesIO(inside(path, sounds[name])))[0] for name in sounds]
    assert [len(each) for each in heard] == [40_000, 24_000]


def test_silence_and_what_is_no_number(path, audio):
    loud = noise(1, 8_000) * 1e30
    loud[100:103] = np.nan, np.inf, -np.inf
    whole = np.rint(noise(1, 8_000) * 30_000)
    for name, samples in (("silent", np.zeros(8_000)), ("loud", loud), ("whole", whole)):
        write(audio / f"{name}.wav", samples, 8_000, "FLOAT")
    sounds, told = shown(path, "silent", "loud", "whole", seconds=1.0)
    seen = [level(sounds[name]).any() for name in ("silent", "loud", "whole")]
    assert told == [] and seen == [False, True, True]
    # Samples that were never divided are, instead of being cut off.
    heard, _ = soundfile.read(io.BytesIO(inside(path, sounds["whole"])))
    assert 0.5 < np.abs(heard).mean() / 0.45 < 1.5


# Which file is whose.


def test_missing_ones_are_told_once_and_several_are_not_chosen_from(path, audio):
    for name in ("a.wav", "x/b.wav", "y/b.wav", "z/c.wav"):
        write(audio / name, noise(1, 8_000), 8_000)
    sounds, told = shown(path, "a", "b", "z/c", "d1", "d2", seconds=1.0)
    assert [name for name, sound in sounds.items() if sound] == ["a", "z/c"]
    (missing,) = (text.removeprefix(f"sounds in {audio}: ") for text in told)
    assert "3 recordings ('b', 'd1', 'd2') of 5" in missing and "4 audio files" in missing
    assert "'b' could be more than one" in missing
    # The page says it, too; and whichever of two is shown, one file could be either.
    assert "there are 4 audio files" in path.read_text(encoding="utf-8")
    sounds, told = shown(path, "x/a.wav", "y/a.wav", choices=Choices(timelines=0, files=("x/a.wav",)))
    assert sounds == {"x/a.wav": None} and "could be more than one" in told[0]


def test_a_table_without_names_has_the_only_sound(tmp_path, audio, path):
    table = tmp_path / "events.tsv"
    table.write_text("onset\toffset\tevent_label\n0\t1\tcar\n", encoding="utf-8")
    write(audio / "whatever.wav", noise(1, 8_000), 8_000)
    write_report(table, table, path, audio=audio)
    assert embedded(path)["systems"][0]["timelines"]["files"][0]["sound"] is not None


def test_only_what_is_shown_is_read(path, audio):
    names = [f"{i:05}.wav" for i in range(500)]
    for name in names:
        (audio / name).write_bytes(b"no sound")
    _, (told,) = shown(path, *names, seconds=1.0, choices=Choices(timelines=1))
    assert re.search(r": \d files? \(.*\) cannot be read; '\d{5}.wav': Format not recognised", told)


# Inside the page, or beside it.


def test_many_sounds_lie_beside_the_page(path, audio, monkeypatch):
    names = ["a b", "c", "Ä"]
    monkeypatch.setattr("sedeval_soft.apps.page.sounds.INSIDE", 40_000)
    for seed, name in enumerate(names):
        write(audio / f"{name}.wav", noise(1, 8_000, seed), 8_000)
    path = path.with_name("a page.html")
    sounds, told = shown(path, *names, seconds=1.0, folder=audio)
    folder = path.with_name("a page_sounds")
    assert told == []
    assert {each.name for each in folder.iterdir()} == {"001-a-b.flac", "002-c.flac", "003-.flac"}
    assert sounds["a b"]["address"] == "a%20page_sounds/001-a-b.flac" and sounds["a b"]["inside"] is None
    assert media(path) == ["media-src 'self'"]
    heard, rate = soundfile.read(folder / "001-a-b.flac")
    assert (rate, len(heard)) == (8_000, 8_000)
    # Another time they are replaced, and nothing else is.
    shown(path, *names[:2], seconds=1.0, folder=audio)
    assert [media(path), len(list(folder.iterdir()))] == [["media-src blob:"], 3]
    shown(path, *names, seconds=1.0, folder=audio)
    (folder / "mine.flac").write_bytes(b"")
    before = path.read_bytes()
    with pytest.raises(
        OutputError, match=r"not replaced by the sounds of the report, since it holds 'mine\.flac'"
    ):
        shown(path, *names, seconds=1.0, folder=audio)
    assert path.read_bytes() == before and (folder / "mine.flac").exists()
    (folder / "mine.flac").unlink()
    with pytest.raises(OutputError, match="since it is what --audio reads"):
        shown(path, "001-a-b", "002-c", "003-", seconds=1.0, folder=folder)


# Hostile files.


def test_files_that_lie_about_their_length(path, audio):
    samples = (noise(2, 8_000) * 2**15).astype("<i2").tobytes()
    (audio / "a.wav").write_bytes(wav_header(8_000, 2**32 - 1) + samples)
    flac = bytearray(write(audio / "b.flac", noise(2, 8_000), 8_000).read_bytes())
    flac[21] |= 0x0F
    flac[22:26] = b"\xff" * 4
    (audio / "b.flac").write_bytes(flac)
    sounds, told = shown(path, "a", "b", seconds=86_400.0)
    assert sounds["a"]["seconds"] == 2
    assert len(told) == 1 and ("'b'" in told[0])


def test_damage_ends_a_sound(path, audio):
    whole = write(audio / "a.flac", sweep(10, 16_000, 100, 7_000), 16_000).read_bytes()
    (audio / "a.flac").write_bytes(whole[: len(whole) // 2])
    sounds, (told,) = shown(path, "a")
    assert 2 < sounds["a"]["seconds"] < 7
    assert told.endswith(
        f"1 file ('a') can be read in part only; 'a': the first {sounds['a']['seconds']:.2f} s"
    )
    heard, _ = soundfile.read(io.BytesIO(inside(path, sounds["a"])))
    assert len(heard) / 16_000 == pytest.approx(sounds["a"]["seconds"], abs=0.05)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "Format not recognised"),
        (b"hello", "Format not recognised"),
        (wav_header(8_000, 0), "it has no samples"),
        (wav_header(8_000, 2**31)[:30], ""),
        (b"fLaC" + bytes(50), ""),
    ],
)
def test_files_without_sound_are_told(path, audio, data, why):
    (audio / "a.wav").write_bytes(data)
    sounds, (told,) = shown(path, "a")
    assert sounds == {"a": None} and f"1 file ('a') cannot be read; 'a': {why}" in told
    assert "Traceback" not in told and str(path) not in told.partition(": ")[2]


def test_what_is_no_file(path, audio):
    os.mkfifo(audio / "pipe.wav")
    (audio / "folder.wav").mkdir()
    sounds, told = shown(path, "pipe", "folder")
    assert not any(sounds.values()) and media(path) == []
    assert len(told) == 1 and "2 files ('folder', 'pipe') cannot be read" in told[0]


@pytest.mark.parametrize("rate", [1, 2**31 - 1])
def test_rates_that_nobody_has(path, audio, rate):
    (audio / "a.wav").write_bytes(
        wav_header(rate, 20_000) + (noise(1, 10_000) * 2**15).astype("<i2").tobytes()
    )
    sounds, told = shown(path, "a")
    assert sounds["a"] and level(sounds["a"]).any()
    assert told == [] or "can be seen, but not played" in told[0]


@pytest.mark.slow
def test_a_day_is_seen_and_not_played(path, audio):
    """24 hours of 8 bits: zeros that take no room on the disk, and a tone before the last hour."""
    rate, hours = 8_000, 24
    header = wav_header(rate, rate * 3600 * hours, 8)
    with (audio / "day.wav").open("wb") as file:
        file.write(header)
        file.truncate(len(header) + rate * 3600 * hours)
        file.seek(len(header) + rate * 3600 * 22)
        file.write((128 + 100 * sweep(3600, rate, 1000, 1001)).astype(np.uint8).tobytes())
    sounds, (told,) = shown(path, "day", seconds=86_400.0)
    assert "can be seen, but not played; 'day': it has 24.0 h at 8000 Hz" in told
    assert level(sounds["day"])[:, 22 * 50 + 25].argmax() == int(mel(1000) / mel(rate / 2) * BANDS)


# The command.


def test_the_command_shows_and_warns(path, audio):
    for name in ("cafe", "metro", "park", "night"):
        write(audio / f"{name}.flac", noise(1, 8_000), 8_000)
    plain = call("report", *TABLES, "-o", path)
    called = call("report", *TABLES, "-o", path, "--audio", audio)
    assert (called.code, called.out) == (0, plain.out)
    added = called.err.removeprefix(plain.err)
    assert added.startswith(f"warning: sounds in {audio}: ") and "('street.wav') of 5" in added
    assert call("report", *TABLES, "-o", path, "--audio", audio, "-q").err == ""
    files = embedded(path)["systems"][0]["timelines"]["files"]
    assert [bool(each["sound"]) for each in files] == [each["name"] != "street.wav" for each in files]


def test_several_systems_share_sounds(path, audio):
    write(audio / "cafe.wav", noise(2, 8_000), 8_000)
    systems = TABLES[1], SAMPLE / "sys_b.tsv"
    assert call("report", TABLES[0], *systems, "--replicates", "20", "-o", path, "--audio", audio).code == 0
    data = embedded(path)
    first, second = ([each["sound"] for each in system["timelines"]["files"]] for system in data["systems"])
    assert sum(map(bool, first)) == sum(map(bool, second)) == 1
    assert path.read_text(encoding="utf-8").count('id="sound-') == 1


@pytest.mark.parametrize(("folder", "said"), [("none", "does not exist"), (str(TABLES[0]), "is a file")])
def test_audio_that_is_no_folder_is_refused(folder, said, tmp_path):
    with pytest.raises(SettingsError, match=f"{said}; expected a folder"):
        write_report(*TABLES, tmp_path / "r.html", audio=folder)
    called = call("report", *TABLES, "--audio", folder, "-o", tmp_path / "r.html")
    assert called.code == 2 and said in called.err and not list(tmp_path.iterdir())
