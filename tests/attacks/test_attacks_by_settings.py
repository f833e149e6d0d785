"""Files of settings from strangers."""

from __future__ import annotations

import pytest
from attacked import attack

TABLE = "filename\tonset\toffset\tevent_label\na\t0\t1\tcar\n"

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)

FILES = {
    "laughs": (LAUGHS, "aliases repeat"),
    "laughs as a number": (f"{LAUGHS}threshold: *i\n", "aliases repeat"),
    "itself": ("classes: &a [*a]\n", "aliases repeat"),
    "merged": (LAUGHS.replace("[x, x,", "[{x: 1}, {y: 1},") + "<<: *i\n", "aliases repeat"),
    "long number": (f"threshold: {'9' * 5000}\n", "cannot be read|must be|threshold"),
    "number beyond floats": (f"threshold: {'9' * 400}\n", "must be a finite number"),
    "timestamp": ("threshold: !!timestamp nonsense\n", "cannot be read"),
    "binary": ("threshold: !!binary '\u00e9'\n", "base64|cannot be read"),
    "python": ("threshold: !!python/object/apply:os.system ['touch owned']\n", "could not determine"),
    "python name": ("threshold: !!python/name:os.system\n", "could not determine"),
    "deep": ("classes: " + "[" * 5000 + "]" * 5000 + "\n", "nested too deeply"),
    "deep mappings": ("{a: " * 3000 + "1" + "}" * 3000, "nested too deeply"),
    "large": ("# " + "x" * (1 << 25), "has more than 16777216 bytes"),
}


@pytest.mark.parametrize(
    ("option", "name"),
    # Both are read by the same reader.
    [*(("--config", name) for name in FILES), *(("--thresholds", name) for name in ("laughs", "large"))],
)
def test_is_refused(option, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, said = FILES[name]
    (tmp_path / "t.tsv").write_text(TABLE)
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    done = attack("t.tsv", "t.tsv", option, "s.yaml")
    done.refused("s.yaml")
    assert any(word in done.text for word in said.split("|")), done.text
    assert not (tmp_path / "owned").exists()


def test_a_device_is_no_settings_file(tmp_path):
    (tmp_path / "t.tsv").write_text(TABLE)
    attack(tmp_path / "t.tsv", tmp_path / "t.tsv", "--config", "/dev/zero").refused(
        "more than 16777216 bytes"
    )


def test_an_alias_that_is_used_a_few_times_is_read(tmp_path):
    (tmp_path / "t.tsv").write_text(TABLE)
    text = "groups: {traffic: &cars [car], all: *cars}\n"
    (tmp_path / "s.yaml").write_text(text)
    done = attack(tmp_path / "t.tsv", tmp_path / "t.tsv", "--config", tmp_path / "s.yaml")
    assert done.code == 0, done.text
