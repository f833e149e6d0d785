"""Dense events and recordings of years are scored in seconds, or refused at once."""

import re
from pathlib import Path

import numpy as np
import pytest
from attacked import attack

HEAD = "filename\tonset\toffset\tevent_label"
ROOM = 500_000_000


def crowd(path: Path, n: int, within: float = 0.0, *, values: bool = False) -> Path:
    """Write n events that each match all events of another such file; `within` shortens both ends."""
    rows = (
        f"a\t{k * 1e-5 + within:.6f}\t{1 + k * 1e-5 - within:.6f}\tcar"
        + (f"\t{(k * 7919 % n + 1) / (n + 1):.6f}" if values else "")
        for k in range(n)
    )
    path.write_text("\n".join((HEAD + ("\tvalue" if values else ""), *rows)) + "\n")
    return path


@pytest.mark.parametrize(
    "options", [("--set", "events=rows"), ("--set", "matching=greedy"), ("--only", "event.optimal")]
)
def test_a_crowd_is_scored(options, tmp_path):
    sides = crowd(tmp_path / "ref.tsv", 300), crowd(tmp_path / "sys.tsv", 300, 0.05, values=True)
    rows = () if "events=rows" in options else ("--set", "events=rows")
    done = attack(*sides, *rows, "--threshold", "0", *options, "-v")
    done.scored(memory=ROOM)
    assert re.search(r"event +(hard|optimal)[*]? +300 +300 +300 +0 +0 ", done.text), done.text[:2000]


@pytest.mark.parametrize(
    ("n", "options"),
    [
        (4000, ("--set", "events=rows")),
        (20_000, ()),
        pytest.param(4000, ("--set", "matching=greedy"), marks=pytest.mark.slow),
        pytest.param(4000, ("--set", "events=rows", "--only", "event.optimal"), marks=pytest.mark.slow),
        pytest.param(20_000, ("--set", "events=rows", "--only", "event.soft"), marks=pytest.mark.slow),
        pytest.param(4000, ("--set", "compat=sed_eval"), marks=pytest.mark.slow),
        pytest.param(4000, ("--measures", "all"), marks=pytest.mark.slow),
    ],
)
def test_a_larger_crowd_is_refused(n, options, tmp_path):
    sides = crowd(tmp_path / "ref.tsv", n), crowd(tmp_path / "sys.tsv", n, 0.05)
    told = "a, class car: too many events", "pairs", "re rows repeated", "--only segment"
    attack(*sides, *options).refused(*told)
    # With segments only, settings of matchings would have no effect, and are left out.
    kept = () if {"--only", "--set"} & {*options} else options
    attack(*sides, *kept, "--only", "segment").scored()


def noise(path: Path, n: int, step: float, seed: int) -> Path:
    """Write touching rows with random values."""
    values = np.random.default_rng(seed).random(n).tolist()
    rows = (f"a\t{k * step:.6f}\t{(k + 1) * step:.6f}\tcar\t{value:.3f}" for k, value in enumerate(values))
    path.write_text("\n".join((f"{HEAD}\tvalue", *rows)) + "\n")
    return path


def test_noise_within_a_collar_is_refused(tmp_path):
    sides = noise(tmp_path / "ref.tsv", 20_000, 1e-5, 1), noise(tmp_path / "sys.tsv", 20_000, 1e-5, 2)
    told = "too many events lie within each other's collars", "--only segment"
    attack(*sides).refused(*told, seconds=2)
    attack(*sides, "--only", "segment").scored()


@pytest.mark.parametrize(
    ("n", "step"), [(1000, 0.01), (500, 1e-5), pytest.param(1500, 1e-5, marks=pytest.mark.slow)]
)
def test_shorter_noise_is_scored(n, step, tmp_path):
    attack(noise(tmp_path / "ref.tsv", n, step, 1), noise(tmp_path / "sys.tsv", n, step, 2)).scored()


@pytest.fixture
def year(tmp_path):
    """The table has one row of a year and a short recording."""
    sides = tmp_path / "ref.tsv", tmp_path / "sys.tsv"
    for path, end in zip(sides, (1, 31_536_000), strict=True):
        path.write_text(f"{HEAD}\na.wav\t0\t{end}\tcar\nb.wav\t1\t2\tdog\n")
    return sides


@pytest.mark.parametrize(
    "options",
    [
        ("--only", "segment.hard", "--only", "event"),
        pytest.param(("--only", "segment.hard", "--segment-length", "0.001"), marks=pytest.mark.slow),
        pytest.param(("--only", "clip"), marks=pytest.mark.slow),
    ],
)
def test_a_year_is_scored(options, year):
    attack(*year, *options).scored(memory=ROOM)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("report",),
        pytest.param(("--measures", "all"), marks=pytest.mark.slow),
        pytest.param(("--set", "pool=mean"), marks=pytest.mark.slow),
        pytest.param(("--worst", "3"), marks=pytest.mark.slow),
        pytest.param(("--ci", "bootstrap"), marks=pytest.mark.slow),
    ],
)
def test_a_year_of_which_each_segment_would_be_looked_at_is_refused(options, year, tmp_path):
    command, options = (("report",), ("-o", tmp_path / "page.html")) if "report" in options else ((), options)
    told = "31536002 segments", "365 days", "A larger --segment-length gives fewer"
    attack(*command, *year, *options).refused(*told, seconds=2)
    attack(*command, *year, *options, "--segment-length", "3600").scored()
