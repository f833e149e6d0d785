"""Sounds in a report: the file of each recording, spectrograms, playback, and hostile files."""

import html
import io
import os
import re
from base64 import b64decode

import numpy as np
import pytest
import soundfile
from called import OTHER, REFERENCE, SYSTEM, call
from embedded import embedded
from tables import long_rows
from tones import noise, sweep, wav_header, write

from sedeval_soft import Choices, OutputError, write_report

BANDS = 48


def mel(frequency):
    return 2595 * np.log10(1 + frequency / 700)


def shown(path, *names, seconds=10.0, **options):
    """Write a report whose recordings have one event each; return their sounds by name, and the warnings."""
    rows = long_rows([(name, 0.0, 1.0, "car", 1.0) for name in names])
    how = {"audio": path.parent / "audio", "choices": Choices(plotly="plotly.js"), **options}
    lengths = seconds if isinstance(seconds, dict) else dict.fromkeys(names, seconds)
    (scores,) = write_report(rows, {"s": rows}, path, durations=lengths, **how)
    files = embedded(path)["systems"][0]["timelines"]["files"]
    told = [text for text in scores.warnings if text.startswith("sounds in ")]
    return {each["name"]: each["sound"] for each in files}, told


def level(sound):
    """Return the spectrogram of a sound, (bands, columns)."""
    return sound["level"].reshape(sound["bands"], -1)


def inside(path, sound):
    """Return the bytes of a sound that the page embeds."""
    text = path.read_text(encoding="utf-8")
    data = re.search(rf'<script type="text/plain" id="sound-{sound["inside"]}">(.*?)</script>', text)[1]
    return b64decode(data)


def media(path):
    """Return the sources of media that the page's policy allows."""
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', path.read_text(encoding="utf-8"))[1]
    return [part.strip() for part in html.unescape(policy).split(";") if part.strip().startswith("media-src")]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "audio").mkdir()
    return tmp_path / "page.html"


@pytest.fixture
def audio(path):
    return path.parent / "audio"


# Spectrograms and playback.


@pytest.mark.parametrize(
    ("name", "rate", "subtype", "channels"),
    [
        ("a.wav", 8_000, "PCM_U8", 1),
        ("a.wav", 192_000, "DOUBLE", 1),
        ("a.FLAC", 22_050, "PCM_24", 5),
        ("a.ogg", 32_000, None, 2),
        ("a.aiff", 16_000, "PCM_16", 1),
    ],
)
def test_a_tone_is_seen_when_it_is_heard(path, audio, name, rate, subtype, channels):
    low, high, seconds = 100, 0.45 * rate, 2
    tone = sweep(seconds, rate, low, high)
    write(audio / name, np.repeat(tone[:, None], channels, axis=1), rate, subtype)
    sounds, told = shown(path, "a.wav", seconds=seconds)
    sound = sounds["a.wav"]
    assert (sound["seconds"], sound["top"], sound["bands"], told) == (seconds, rate / 2, BANDS, [])
    seen = level(sound)
    assert seen.shape == (BANDS, 100) and seen.max() == sound["levels"]
    middle = (np.arange(100) + 0.5) * seconds / 100
    wanted = mel(low * (high / low) ** (middle / seconds)) / mel(rate / 2) * BANDS
    loudest = seen[:, 5:-5].argmax(axis=0) + 0.5
    assert np.abs(loudest - wanted[5:-5]).max() < 1.5
    # The page plays the mean of all channels, rounded to 16 bits.
    heard, its_rate = soundfile.read(io.BytesIO(inside(path, sound)))
    assert (its_rate, heard.shape) == (rate, tone.shape)
    assert np.abs(heard - tone).max() < (0.2 if subtype is None else 0.01 if subtype == "PCM_U8" else 1e-4)


def test_silence_and_what_is_no_number(path, audio):
    loud = noise(1, 8_000) * 1e30
    loud[100:103] = np.nan, np.inf, -np.inf
    whole = np.rint(noise(1, 8_000) * 30_000)
    for name, samples in (("silent", np.zeros(8_000)), ("loud", loud), ("whole", whole)):
        write(audio / f"{name}.wav", samples, 8_000, "FLOAT")
    sounds, told = shown(path, "silent", "loud", "whole", seconds=1.0)
    seen = {name: bool(level(sound).any()) for name, sound in sounds.items()}
    assert (seen, told) == ({"silent": False, "loud": True, "whole": True}, [])
    # Whole numbers in a file of floats are scaled, not clipped.
    heard, _ = soundfile.read(io.BytesIO(inside(path, sounds["whole"])))
    assert 0.5 < np.abs(heard).mean() / 0.45 < 1.5


# The sound file of each recording.


def test_missing_ones_are_told_once_and_several_are_not_chosen_from(path, audio):
    for name in ("a.wav", "x/b.wav", "y/b.wav", "z/c.wav"):
        write(audio / name, noise(1, 8_000), 8_000)
    sounds, (missing,) = shown(path, "a", "b", "z/c", "d1", "d2", seconds=1.0)
    assert [name for name, sound in sounds.items() if sound] == ["a", "z/c"]
    assert "('b', 'd1', 'd2') of 5" in missing and "'b' could be" in missing
    assert "of 5 in the report" in path.read_text(encoding="utf-8")
    # The report shows only one of two recordings; the sound file could still belong to either.
    sounds, told = shown(path, "x/a.wav", "y/a.wav", choices=Choices(timelines=0, files=("x/a.wav",)))
    assert sounds == {"x/a.wav": None} and len(told) == 1


def test_a_table_without_names_has_the_only_sound(path, audio):
    table = path.with_name("events.tsv")
    table.write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    write(audio / "whatever.wav", noise(1, 8_000), 8_000)
    write_report(table, table, path, audio=audio)
    assert embedded(path)["systems"][0]["timelines"]["files"][0]["sound"] is not None


# Sounds in the page, or in a folder beside it.


def test_many_sounds_lie_beside_the_page(path, audio, monkeypatch):
    names, folder = ["a b", "c", "Ä"], path.with_name("a page_sounds")
    path = path.with_name("a page.html")
    monkeypatch.setattr("sedeval_soft.apps.page.sounds.INSIDE", 40_000)
    for seed, name in enumerate(names):
        write(audio / f"{name}.wav", noise(1, 8_000, seed), 8_000)
    shown(path, *names[:2], seconds=1.0)
    assert media(path) == ["media-src blob:"] and not folder.exists()
    # A second report replaces these files, and no others.
    for _ in range(2):
        sounds, told = shown(path, *names, seconds=1.0)
        assert {each.name for each in folder.iterdir()} == {"001-a-b.flac", "002-c.flac", "003-.flac"}
    assert sounds["a b"]["address"] == "a%20page_sounds/001-a-b.flac" and sounds["a b"]["inside"] is None
    assert media(path) == ["media-src 'self'"] and told == []
    assert len(soundfile.read(folder / "001-a-b.flac")[0]) == 8_000
    with pytest.raises(OutputError, match="--audio"):
        shown(path, "001-a-b", "002-c", "003-", seconds=1.0, audio=folder)
    (folder / "mine.flac").touch()
    before = path.read_bytes()
    with pytest.raises(OutputError, match=r"mine\.flac"):
        shown(path, *names, seconds=1.0)
    assert path.read_bytes() == before and (folder / "mine.flac").exists()


# Hostile files.


def test_sounds_end_where_the_timeline_does_or_damage_begins_whatever_their_header_promises(path, audio):
    rate, samples = 8_000, noise(2, 8_000)
    write(audio / "long.wav", noise(12, rate), rate)
    flac = bytearray(write(audio / "short.flac", samples, rate).read_bytes())
    # The header has 36 bits for the number of samples.
    flac[21:26] = [flac[21] | 0x0F, *b"\xff" * 4]
    (audio / "promises.flac").write_bytes(flac)
    half = write(audio / "half.flac", sweep(10, rate, 100, 3_500), rate)
    half.write_bytes(half.read_bytes()[: half.stat().st_size // 2])
    data = (samples * 2**15).astype("<i2").tobytes()
    for name, told_rate, size in (
        ("endless", rate, 2**32 - 1),
        ("slow", 1, 32_000),
        ("fast", 2**31 - 1, 32_000),
    ):
        (audio / f"{name}.wav").write_bytes(wav_header(told_rate, size) + data)
    seconds = {
        **dict.fromkeys(("long", "short", "slow", "fast"), 5.0),
        "half": 10.0,
        **dict.fromkeys(("promises", "endless"), 86_400.0),
    }
    sounds, (told, *_) = shown(path, *seconds, seconds=seconds)
    lengths = {name: sound["seconds"] for name, sound in sounds.items()}
    assert [lengths[name] for name in ("long", "short", "endless", "slow")] == [5, 2, 2, 5]
    assert 2 < lengths["half"] < 7 and f"the first {lengths['half']:.2f} s" in told
    assert "2 files ('half', 'promises')" in told
    for name in ("long", "short", "half"):
        heard, _ = soundfile.read(io.BytesIO(inside(path, sounds[name])))
        assert len(heard) / rate == pytest.approx(lengths[name], abs=0.001)
    assert level(sounds["slow"]).any() and level(sounds["fast"]).any()


def test_files_without_sound_are_told(path, audio):
    for number, data in enumerate(
        (b"", b"hello", wav_header(8_000, 0), wav_header(8_000, 2**31)[:30], b"fLaC" + bytes(50))
    ):
        (audio / f"{number}.wav").write_bytes(data)
    os.mkfifo(audio / "pipe.wav")
    (audio / "folder.wav").mkdir()
    sounds, (told,) = shown(path, *"01234", "pipe", "folder")
    assert [*sounds.values()] == [None] * 7 and media(path) == []
    assert ": 7 files" in told and str(audio) not in told.partition(": ")[2]


@pytest.mark.slow
def test_a_day_is_seen_and_not_played(path, audio):
    """24 hours at 8 bits: silence that takes no space on the disk, and a tone in hour 23."""
    rate, hours = 8_000, 24
    header = wav_header(rate, rate * 3600 * hours, 8)
    with (audio / "day.wav").open("wb") as file:
        file.write(header)
        file.truncate(len(header) + rate * 3600 * hours)
        file.seek(len(header) + rate * 3600 * 22)
        file.write((128 + 100 * sweep(3600, rate, 1000, 1001)).astype(np.uint8).tobytes())
    sounds, (told,) = shown(path, "day", seconds=86_400.0)
    assert sounds["day"]["inside"] is None and "'day'" in told
    assert level(sounds["day"])[:, 22 * 50 + 25].argmax() == int(mel(1000) / mel(rate / 2) * BANDS)


# The command.


def test_the_command_of_two_systems_shows_sounds_once_and_warns(path, audio):
    for name in ("cafe", "metro", "park", "night"):
        write(audio / f"{name}.flac", noise(1, 8_000), 8_000)
    called = call("report", REFERENCE, SYSTEM, OTHER, "--replicates", "20", "-o", path, "--audio", audio)
    assert called.code == 0 and "('street.wav') of 5" in called.err
    data = embedded(path)
    # The page shows names of files; its document has the paths that the command got.
    assert [system["name"] for system in data["systems"]] == ["sys.tsv", "sys_b.tsv"]
    assert [entry["system"] for entry in data["document"]["board"]["entries"]] == [SYSTEM, OTHER]
    files = [file for system in data["systems"] for file in system["timelines"]["files"]]
    assert [file["name"] for file in files if not file["sound"]] == ["street.wav"] * 2
    assert path.read_text(encoding="utf-8").count('id="sound-') == 4
