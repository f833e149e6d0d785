"""Tables that can be scored but are probably mistaken: they lead to warnings, and to errors under `--strict`.

Each table is made from the samples, with one common mistake.
"""

import re

import numpy as np
import pytest
from called import SAMPLES
from drawn import cases, table
from shared_data import shared

from sedeval_soft import EvaluationError, evaluate, validate
from sedeval_soft.tables.problem_codes import RULES

HEAD = ["filename", "onset", "offset", "event_label", "soft_value"]
ONLY, F1 = ("event.hard",), "event.hard.f1.micro"
"""Scores that are fast even for far too long times."""


def write(path, rows):
    lines = ["|".join(row[column] or "" for column in rows[0]) for row in rows]
    return table(path, "|".join(rows[0]), *lines)


def scaled(rows, factor):
    return [
        row | {name: row[name] and f"{float(row[name]) * factor:.9g}" for name in ("onset", "offset")}
        for row in rows
    ]


def row(file, onset, offset, label, value="0.9"):
    return dict(zip(HEAD, (file, str(onset), str(offset), label, value), strict=True))


def events(rows):
    """Return the active rows, without values."""
    return [
        {name: r[name] for name in HEAD[:4]} for r in rows if not r["onset"] or float(r["soft_value"]) > 0.5
    ]


def wide(*, step=1.0, gap=0.0, n=45):
    """Return a wide table of a recording, with n time steps of some length and gaps between them."""
    return [
        {"filename": "park.wav", "onset": f"{k * step:.9g}", "offset": f"{k * step + step - gap:.9g}",
         "footsteps": "0.5"}
        for k in range(n)
    ]  # fmt: skip


REF, SYS = cases(SAMPLES / "ref.tsv"), cases(SAMPLES / "sys.tsv")
PARK = [r for r in REF if r["filename"] == "park.wav"]
STEPS = [row("park.wav", f"{k * 0.7:.1f}", f"{(k + 1) * 0.7:.1f}", "footsteps", "0.6") for k in range(65)]
FRAMES = events([row("a.wav", 2.4, 10.0114, "Dog"), row("b.wav", 1, 10.115, "Dog")])
DAYS = [row(file, k * 130, k * 130 + 110, "car") for file in ("a", "b") for k in range(900)]
MINUTES = [row("a", k * 60, k * 60 + 60, "car") for k in range(0, 1600, 2)]
STEPS_OF_EVENTS = [
    r | {"onset": f"{k / 4}", "offset": f"{(k + 1) / 4}"}
    for r in events(REF) if r["onset"] for k in range(int(4 * float(r["onset"])), int(4 * float(r["offset"])))
]  # fmt: skip
PLACES = {(r["filename"], r["event_label"], r["onset"]) for r in STEPS_OF_EVENTS}
TOUCHING = sum((r["filename"], r["event_label"], r["offset"]) in PLACES for r in STEPS_OF_EVENTS)
CAR = row("a.wav", 0, 1, "car")
WITHIN = events([row("a.wav", *times, "car") for times in ((0, 10), (1, 2), (3, 4))])
OF_FRAMES = {"a.wav": 10, "b.wav": 10}
MILLISTEPS_OF_EVENTS = {r["filename"]: 1000 * float(r["duration"]) for r in cases(SAMPLES / "durations.tsv")}
CASES = {
    "system in milliseconds": (REF, scaled(SYS, 1000), "time-unit", ["sys.tsv", "1,000"]),
    "reference in milliseconds": (scaled(REF, 1000), SYS, "time-unit", ["ref.tsv"]),
    "both in milliseconds": (scaled(REF, 1000), scaled(SYS, 1000), "time-unit", ["sys.tsv", "ref.tsv"]),
    "system in samples": (REF, scaled(SYS, 16000), "time-unit", ["sys.tsv", "16,000"]),
    "system in frames of 20 ms": (REF, scaled(SYS, 50), "time-unit", ["sys.tsv", "50"]),
    "both in frames of 20 ms": (scaled(REF, 50), scaled(SYS, 50), "time-unit", ["sys.tsv"]),
    "system in minutes": (REF, scaled(SYS, 1 / 60), "time-unit", ["sys.tsv"]),
    "reference in minutes": (scaled(REF, 1 / 60), SYS, "time-unit", ["sys.tsv", "60 times"]),
    "durations in milliseconds": (REF, SYS, "time-unit",
        ["ref.tsv", "sys.tsv"], {"durations": MILLISTEPS_OF_EVENTS}),
    "classes that are one": (REF, [*SYS, row("park.wav", 1, 2, "Door_Opens"),
                                   row("park.wav", 1, 2, "door opens")],
                             "similar-classes", ["sys.tsv", "'Door_Opens'", "'door opens'"]),
    "columns swapped": (REF, [r | {"filename": r["event_label"], "event_label": r["filename"]}
                              for r in SYS if r["onset"]], "swapped-columns", ["sys.tsv"]),
    "views of each event": (events(REF), [r for r in events(SYS) for _ in "12"], "duplicate-row",
                            ["sys.tsv"]),
    "annotators in one table": ([r for r in events(REF) for _ in "123"], events(SYS), "duplicate-row",
                                ["ref.tsv"]),
    "values of each event twice": (REF, SYS + [r | {"soft_value": "0.1"} for r in SYS if r["onset"]],
                                   "duplicate-row", ["sys.tsv"]),
    "recordings in one": (events(PARK), scaled([
        r | {"filename": "park.wav"} | {n: str(float(r[n]) + k / 3) for n in ("onset", "offset")}
        for k in range(3) for r in events(SYS) if r["onset"]], 0.7), "overlapping-rows", ["sys.tsv"]),
    "points in time": (REF, [r | {"offset": r["onset"]} for r in SYS], "zero-length", ["sys.tsv"]),
    "a wide table of half as long steps": (PARK, wide(step=0.5), "early-end", ["sys.tsv"]),
    "a wide table with gaps": (PARK, wide(gap=0.2), "gap", ["sys.tsv"]),
    "a step too late": (PARK, [*STEPS, row("park.wav", "45.5", "46.2", "footsteps")], "after-end",
        ["sys.tsv"], {"durations": {"park.wav": 45}}),
    "a second after the duration": (FRAMES, [*FRAMES, *events([row("a.wav", 9, 12, "Dog")])], "after-end",
        [": 3, "], {"durations": OF_FRAMES}),
    "wholly after the duration": (FRAMES, [*FRAMES, *events([row("a.wav", 10.2, 10.3, "Dog")])], "after-end",
        [], {"durations": OF_FRAMES}),
    "after the last event of the reference": (
        FRAMES, [*FRAMES, row("a.wav", 10.5, 12, "Dog"), row("b.wav", 10.5, 11, "Dog")],
        "after-reference", ["sys.tsv", ": 2,", "1.9886 s"]),
    "time steps without values, where the system has values": (
        [*STEPS_OF_EVENTS, *(r for r in REF if not r["onset"])], SYS, "touching-rows",
        ["ref.tsv", f"{TOUCHING:,} of 1,504"]),
    "time steps of a system, where the reference has events": (
        [*{(r["filename"], r["event_label"]): r for r in events(REF)}.values()], STEPS_OF_EVENTS,
        "touching-rows", ["sys.tsv", "ref.tsv"]),
    "days": (DAYS, DAYS, "time-unit", ["ref.tsv"]),
    "whole minutes for more than a day": (MINUTES, MINUTES, "time-unit", ["ref.tsv"]),
    "one event within another": (WITHIN, WITHIN, "overlapping-rows", ["sys.tsv"]),
    "a class of the system alone": ([CAR], [CAR, row("a.wav", 2, 3, "cow")], "unknown-class", ["'cow'"]),
    "a class with a capital": ([CAR], [row("a.wav", 0, 1, "Car")], "class-spelling", ["'Car'", "'car'"]),
    "a file of the system alone": ([CAR], [CAR, row("b.wav", 0, 1, "car")], "unknown-file", ["'b.wav'"]),
    "a file of the reference alone": ([CAR, row("b.wav", 0, 1, "car")], [CAR], "missing-file", ["'b.wav'"]),
    "a file that could be two": ([row("x/a.wav", 0, 1, "car"), row("y/a.wav", 0, 1, "car")], [CAR],
        "ambiguous-file", ["'a.wav'"]),
    "a list with a file of neither side": ([CAR], [CAR], "listed-file", ["'c.wav'"],
        {"files": ["a.wav", "c.wav"]}),
}  # fmt: skip
"""Reference, system, the code, texts of the message, and optional settings."""
COUNTED = {
    "duplicate-row",
    "overlapping-rows",
    "zero-length",
    "early-end",
    "gap",
    "after-end",
    "touching-rows",
}
"""Codes whose warnings count rows or recordings."""
QUIET = {
    "an event where the reference declares none": ([CAR, dict.fromkeys(CAR, "") | {"filename": "b.wav"}],
        [CAR, row("b.wav", 1, 2, "car")], {}, ""),
    "steps of 0.7 s, of which the last reaches over 45 s": (PARK, STEPS, {"park.wav": 45}, ""),
    "such steps in a wide table": (PARK, wide(step=0.7, n=65), {"park.wav": 45}, ""),
    "days, as they are said to be": (DAYS, DAYS, {"a": 120000, "b": 120000}, ""),
    "an hour, each minute labelled": (*[[row("a", k * 60, k * 60 + 60, "car") for k in range(0, 60, 2)]] * 2,
        {}, ""),
    "one row that goes on, on both sides": (*[[*REF, row("park.wav", 44, 4500, "car", "0.5")]] * 2, {}, ""),
    "a long recording with durations": ([*REF, row("park.wav", 44, 4500, "car", "0.5")], SYS, {
        "cafe.wav": 60, "metro.wav": 60, "park.wav": 4500, "street.wav": 60, "night.wav": 60}, ""),
    # Frame scores continue to the end of the last window: 50 frames of 1 s, 5 of them after 45 s.
    "frames after the end": (PARK, wide(n=50), {"park.wav": 45}, ": 5, "),
    "time steps without values on both sides": (STEPS_OF_EVENTS,
        STEPS_OF_EVENTS[:900] + STEPS_OF_EVENTS[1000:], {}, ""),
    "few rows": ([row("a", 0, 1, "car"), row("b", 0, 100, "car")],
                 [row("a", 0, 1, "car"), row("b", 0, 1, "car")], {}, ""),
    # DCASE's reference of 2019 and the baseline's output have clips of 10 s, and rows up to 10.0114 s.
    "events that end a frame late": (FRAMES, FRAMES, OF_FRAMES,
                                     "0.115"),
}  # fmt: skip


def codes_of(warnings):
    """Return the code in each warning, or an empty text."""
    return [(re.findall(r" \(([a-z-]+)\)$", text) or [""])[0] for text in warnings]


@pytest.mark.parametrize("name", CASES)
def test_it_is_warned_of_refused_if_strict_and_placed_by_validate(name, tmp_path):
    """Scoring and `validate` find the same rows, except for errors and for a few rows of ordinary tables."""
    reference, system, code, texts, options = (*CASES[name], {})[:5]
    pair = write(tmp_path / "ref.tsv", reference), write(tmp_path / "sys.tsv", system)
    warned = evaluate(*pair, only=ONLY, **options).warnings
    of_code = [text for text in warned if codes_of([text]) == [code]] or [
        text for text in warned if all(each in text for each in texts)
    ]
    assert of_code and all(text in "\n".join(of_code) for text in texts), warned
    with pytest.raises(EvaluationError, match=re.escape(of_code[0])):
        evaluate(*pair, only=ONLY, strict=True, **options)
    # `validate` gets the table of the warning.
    table = pair[not of_code[0].startswith(str(pair[0]))]
    found = validate(table, pair[0] if table == pair[1] else None, max_problems=10_000, **options)
    placed = [p for p in found.problems if p.code == code]
    assert placed and (all(p.line for p in placed) or code in {"missing-file", "listed-file"})
    if code in COUNTED:
        others = sum(map(int, re.findall(r"and (\d+) other rows? likewise", placed[0].message)))
        assert re.search(rf" {found.counts[code] + others:,}\b", of_code[0])
    of_system = [text for text in warned if text.startswith(str(pair[1]))]
    assert {*codes_of(of_system)} - {""} <= {*validate(pair[1], pair[0], **options).counts}


def test_the_list_has_all_that_scoring_warns_of_by_a_code():
    assert {case[2] for case in CASES.values()} == {
        c for c, rule in RULES.items() if rule.misread is not None
    }


@pytest.mark.parametrize(("reference", "system", "durations", "text"), QUIET.values(), ids=QUIET)
def test_what_may_be_meant_is_no_doubt(reference, system, durations, text, tmp_path):
    pair = write(tmp_path / "ref.tsv", reference), write(tmp_path / "sys.tsv", system)
    assert text in "\n".join(evaluate(*pair, only=ONLY, strict=True, durations=durations or None).warnings)


def test_published_tables_are_quiet():
    """Only MAESTRO's hard labels lead to a warning: each row of a second counts as an event."""
    dcase, maestro = shared("dcase2019_task4"), shared("maestro")
    hard, soft, truth = maestro / "gt_dev.csv", maestro / "soft_gt_dev.csv", dcase / "dcase2019t4_gt.csv"
    baselines = ((truth, dcase / f"baseline_{level}.csv") for level in ("0.1", "0.9"))
    for pair in (*baselines, (soft, hard), (hard, soft)):
        told = {*codes_of(evaluate(*pair, only=ONLY).warnings)} - {"", "after-reference"}
        assert told == ({"touching-rows"} if hard in pair else set())


# Different names that look the same: messages escape them, so that they differ.

TWINS = {
    "NFC and NFD": ("caf\u00e9", "cafe\u0301", r"'caf\xe9'", r"'cafe\u0301'"),
    "Cyrillic": ("car", "c\u0430r", "'car'", r"'c\u0430r'"),
    "Greek": ("K\u00f6ln Oper", "\u039a\u00f6ln Oper", r"'K\xf6ln Oper'", r"'\u039a\xf6ln Oper'"),
    "a dash": ("dog-bark", "dog\u2013bark", "'dog-bark'", r"'dog\u2013bark'"),
    "nothing to be seen": ("car", "c\u200bar", "'car'", r"'c\u200bar'"),
    "wide letters": ("car", "\uff43ar", "'car'", r"'\uff43ar'"),
}


@pytest.mark.parametrize(("length", "late"), [(60, False), (20, False), (10, True)])
def test_of_arrays_only_late_segments_are_told(length, late):
    """The package makes the times of arrays, so it does not warn of early ends or of cut events."""
    values = (np.arange(20) % 4 > 1)[:, None] * 0.7
    rows = [{"onset": k, "offset": k + 1, "event_label": "0"} for k in range(12)]
    warned = evaluate(values, values, durations={"a": length}, only=ONLY, segment_length=1.0).warnings
    assert {*codes_of(warned)} - {""} == {"after-end"} if late else not warned
    warned = evaluate(rows, values, durations={"a": 20}, only=ONLY, segment_length=1.0).warnings
    assert not any(codes_of(warned))


def test_axes_of_arrays_that_seem_to_be_exchanged_are_told():
    values = np.random.default_rng(0).random((4, 3, 20))
    right = evaluate(*[values.transpose(0, 2, 1)] * 2, segment_length=0.5).warnings
    (told,) = {*evaluate(values, values, segment_length=0.5).warnings} - {*right}
    assert "20" in told and "3" in told
    with pytest.raises(EvaluationError, match="exchanged"):
        evaluate(values, values, classes=("a", "b", "c"))


@pytest.mark.parametrize("twins", TWINS)
def test_names_that_look_the_same_are_told_apart(twins, tmp_path):
    names, escaped = TWINS[twins][:2], TWINS[twins][2:]
    others = [row("a.wav", 2, 3, "siren"), row("b.wav", 0, 3, "siren")]
    first, second = ([row("a.wav", 0, 1, name)] for name in names)
    sides = {"ref.tsv": first + others, "sys.tsv": second + others, "both.tsv": first + second + others}
    reference, system, both = (write(tmp_path / name, rows) for name, rows in sides.items())
    scores = evaluate(reference, system, only=ONLY)
    # Classes that look the same are still two classes.
    assert scores[F1] == pytest.approx(2 / 3)
    fixed = validate(system, reference, fix=tmp_path / "fixed.tsv").mends
    assert evaluate(reference, tmp_path / "fixed.tsv", only=ONLY)[F1] == 1
    for told in (
        *(scores.warnings, fixed, evaluate(both, both, only=ONLY).warnings),
        *(validate(system, reference).problems, validate(both).problems),
    ):
        assert all(name in "\n".join(map(str, told)) for name in escaped), told
