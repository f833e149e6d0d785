"""Random answers of audio-language models and of moment retrieval, the same for a seed on every machine.

    for number, lines in answer_files(10_000):
        lines        # of one file of JSON lines, with `labels` and `response`

Golden numbers are made from them. As with `random_tables`, **the answers of a seed must never change**; this
module needs nothing but Python 3.8. Answers are correct, nearly correct, in other words, refusals, no text,
or no JSON. Times are small whole numbers, so equal spans, and overlaps of exactly 0.3, 0.5 and 0.7, are
frequent.
"""

import json
import random
from collections.abc import Iterator

_REFUSALS = (
    "", " ", "I cannot hear it.", "There is no such sound.", "N/A", "[]", "{}", "None", "[00:10]", "at 00:10",
)  # fmt: skip
_OTHERS = (None, 0, 12.5, True, [], {}, ["00:01-00:05"], {"start": 1, "end": 5})
_NO_JSON = (
    "",
    "   ",
    "{",
    '{"labels": "[00:01-00:05]"',
    '{"response": [00:01-00:05]}',
    "not JSON",
    "{'labels': 1}",
)

_CLOCKS = {
    "{m:02}:{s:02}": 70, "{m}:{s}": 10, "{h:02}:{r:02}:{s:02}": 6, "{m:02}:{s:02}.{tenth}": 6,
    "{t}": 3, "{t}.0": 2, "00:{t}": 3,
}  # fmt: skip
"""Formats of t whole seconds, and how often each is drawn."""

_DASHES = ("-", "-", "-", " - ", "\t-  ", "\u2013", " to ", "~", "--")
_TEXTS = {
    "[{span}]": 45, "{span}": 12, "[{first}]{dash}[{last}]": 7, "The sound is heard from {span}.": 8,
    "{span}, {span}": 3, "{span}, 00:03-00:09": 5, '{{"start": "{first}", "end": "{last}"}}': 5,
    "<think>00:00-00:01 perhaps</think>[{span}]": 3, "1 {span} 2-3": 3,
}  # fmt: skip
"""Texts about a span, and how often each is drawn."""

_ARABIC = {48 + digit: 0x660 + digit for digit in range(10)}


def _one_of(rng: random.Random, weights: dict) -> str:
    """Return a key at random, by the weights."""
    return rng.choice([key for key, weight in weights.items() for _ in range(weight)])


def _clock(rng: random.Random, seconds: int) -> str:
    minutes = seconds // 60
    form = _one_of(rng, _CLOCKS)
    return form.format(
        h=minutes // 60, r=minutes % 60, m=minutes, s=seconds % 60, t=seconds, tenth=rng.randrange(10)
    )


def _answer(rng: random.Random, onset: int, offset: int) -> object:
    """Return an answer about a span."""
    form = rng.random()
    if form < 0.08:
        return rng.choice(_REFUSALS)
    if form < 0.12:
        return rng.choice(_OTHERS)
    first, last, dash = _clock(rng, onset), _clock(rng, offset), rng.choice(_DASHES)
    text = _one_of(rng, _TEXTS).format(span=first + dash + last, first=first, last=last, dash=dash)
    return text.translate(_ARABIC) if form > 0.98 else text


def _line(rng: random.Random) -> str:
    if rng.random() < 0.03:
        return rng.choice(_NO_JSON)
    onset = rng.randrange(0, 90)
    offset = onset + rng.choice((0, 1, 3, 5, 7, 10, 10, 10, 20, 60))
    row: dict = {}
    if rng.random() < 0.98:
        exact = f"[{onset // 60:02}:{onset % 60:02}-{offset // 60:02}:{offset % 60:02}]"
        row["labels"] = exact if rng.random() < 0.9 else _answer(rng, onset, offset)
    if rng.random() < 0.97:
        near = rng.random() < 0.6
        begin = max(0, onset + rng.choice((-5, -3, 0, 0, 0, 1, 3))) if near else rng.randrange(0, 90)
        end = offset + rng.choice((-7, -5, -3, 0, 0, 0, 2)) if near else begin + rng.randrange(-5, 30)
        row["response"] = _answer(rng, begin, max(end, 0))
    return json.dumps(row, ensure_ascii=rng.random() < 0.5)


def answer_files(number: int, seed: str = "answers") -> Iterator[tuple]:
    """Yield the number of each file, and its lines."""
    for case in range(number):
        rng = random.Random(f"{seed} {case}")  # noqa: S311 - not for secrets
        yield case, [_line(rng) for _ in range(rng.choice((0, 1, 2, 5, 10)))]


def windows(number):
    """Return rows of a reference and a system; some have ties, no extent, or more than ten windows."""
    rng = random.Random(f"amr {number}")  # noqa: S311
    reference, system = [], []
    for qid in range(rng.randrange(1, 7)):

        def window():
            onset = rng.randrange(0, 40) / rng.choice((1, 2, 4))
            return [onset, onset + rng.randrange(rng.choice((0, 1)), 20) / rng.choice((1, 2))]

        ours = [window() for _ in range(rng.choice((1, 1, 2, 3, 12, 25)))]
        theirs = [
            [*rng.choice((window(), rng.choice(ours))), rng.choice((round(rng.random(), 4), 0.5))]
            for _ in range(rng.randrange(1, 15))
        ]
        if rng.random() < 0.05:
            ours = [[0, 1600.0]]
        if rng.random() < 0.002:
            theirs = []
        item = {"qid": qid, "query": "x", "vid": "v"}
        reference.append({**item, "relevant_windows": ours})
        system.append({**item, "pred_relevant_windows": theirs})
    rng.shuffle(system)
    return reference, system
