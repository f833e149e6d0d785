"""Settings files: what they extend, and where what is wrong with them stands."""

import os
from pathlib import Path

import pytest
from called import REFERENCE, SYSTEM, Called, call

import sedeval_soft
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.settings_files import load_preset, load_settings


def written(folder: Path, **files: str) -> Path:
    """Write settings files, and return the path of the first."""
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder / f"{next(iter(files))}.yaml"


DCASE = load_preset("dcase2019-task4")
CHAIN = {f"f{i}": f"extends: f{i + 1}.yaml\n" for i in range(7)} | {"f7": "beta: 2.0\n"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("extends: dcase2019-task4\noffset-collar-rate: 0.5\n", DCASE | {"offset_collar_rate": 0.5}),
        ("min_gap: 0.5\nextends: base/b.yaml\n", {"bins": 7, "beta": 2.0, "min_gap": 0.5}),
        ("extends: c.yaml\nmin_gap: {car: 1.0}\n", {"bins": 7, "beta": 3.0, "min_gap": {"car": 1.0}}),
        ("extends: null\nbeta: 2.0\n", {"beta": 2.0}),
        ("extends: maestro-soft\nclasses: null\n", load_preset("maestro-soft") | {"classes": None}),
        # Eight files at most.
        ("extends: f1.yaml\n", {"beta": 2.0}),
        *((f"beta: {text}", {"beta": number}) for text, number in
          {"1e-1": 0.1, "1E1": 10.0, ".5": 0.5, "+2": 2.0, "010": 10.0, "2.": 2.0}.items()),
    ],
)  # fmt: skip
def test_a_file_holds_over_what_it_extends_found_beside_it_and_each_setting_as_a_whole(
    text, expected, tmp_path, monkeypatch
):
    (tmp_path / "base").mkdir()
    written(tmp_path / "base", b="extends: ../c.yaml\nbeta: 2.0\nmin_gap: 0.3\n")
    path = written(tmp_path, a=text, c="beta: 3.0\nbins: 7\nmin_gap: {car: 0.5, dog: 0.2}\n", **CHAIN)
    monkeypatch.chdir("/")
    assert load_settings(str(path)) == expected


@pytest.mark.parametrize(
    ("text", "other", "said"),
    [
        ("extends: a.yaml\n", "", "a.yaml:1: extends 'a.yaml'"),
        ("extends: b.yaml\n", "beta: 1\nextends: a.yaml\n", "b.yaml:2: extends 'a.yaml'"),
        ("beta: 1\nextends: dcase2019-tsk4\n", "", "a.yaml:2: .*'dcase2019-task4'"),
        ("extends: [dcase2019-task4]\n", "", "a.yaml:1: extends"),
        ('extends: "a\\0b"\n', "", "a.yaml:1: extends"),
        ("extends: /dev/zero\n", "", "a.yaml:1: extends '/dev/zero'"),
        ("extends: b.yaml\n", "bins: 3\nbeta: -1\n", "b.yaml:2: beta"),
        ("extends: b.yaml\n", "extends: f0.yaml\n", "f5.yaml:1: extends 'f6.yaml'"),
        # What does not go together is told of the file on top.
        ("bins: 3\nmedian_filter: 1\nextends: b.yaml\n", "psds_median_filters: [1]\n", "a.yaml:2: median"),
        ("# one\n\nbeta: -1\n", "", "a.yaml:3: beta"),
        ("a: [1", "", "a.yaml:1:6: "),
        ("- 1", "", "a.yaml: holds list"),
        ("beta: 1\nthreshold: 0.4\nbeta: 2", "", "a.yaml:3:1: .*'beta'"),
        ("strict: yes", "", "a.yaml:1: strict .*'yes'"),
        ("segment_length: 1:30", "", "a.yaml:1: segment_length .*'1:30'"),
        ("groups: {a: [car]}\nscenes: {a: '*'}", "", "a.yaml:1: groups and scenes"),
        ("bins: 3\nbetta: 2\n", "", "a.yaml:2: .*'betta'.*'beta'"),
        ("bins: 3\nextend: maestro-soft\n", "", "a.yaml:2: .*'extend'.*'extends'"),
        ("bins: 3\nmin-gap: {car: x}\n", "", "a.yaml:2: min_gap of 'car'"),
        ("median_filter: 1\nevents: rows\n", "", "a.yaml:2: events=rows"),
        # No terminal obeys a name.
        ('"\\x1b[31m\\uFEFF": 1\n', "", r"a.yaml:.* '\\x1b\[31m\\ufeff'"),
    ],
)  # fmt: skip
def test_messages_name_the_file_and_the_line(text, other, said, tmp_path):
    path = written(tmp_path, a=text, b=other, **CHAIN)
    with pytest.raises(EvaluationError, match=f"{tmp_path}/{said}") as error:
        load_settings(str(path))
    assert str(error.value).replace("\n", "").isprintable()
    assert call(REFERENCE, SYSTEM, "--config", path) == Called(2, "", f"{error.value}\n")


def test_options_hold_over_files_and_these_over_what_they_extend(tmp_path):
    """A file that can be read once is read once."""
    path = written(tmp_path, a="extends: dcase2019-task4\noffset_collar_rate: 0.3\nonly: [event.hard]\n")
    read, write = os.pipe()
    os.write(write, path.read_bytes().replace(b"0.3", b"0.6"))
    os.close(write)
    for options, rate in (
        (["--preset", "dcase2019-task4"], 0.2),
        (["--config", path], 0.3),
        (["--config", f"/dev/fd/{read}"], 0.6),
        (["--config", path, "--offset-collar-rate", "0.9"], 0.9),
    ):
        done = call(REFERENCE, SYSTEM, "-q", *options, "--score", "event.hard.f1.macro")
        expected = sedeval_soft.evaluate(REFERENCE, SYSTEM, compat="sed_eval", offset_collar_rate=rate)
        assert float(done.out) == expected["event.hard.f1.macro"], done.err


@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(([REFERENCE, SYSTEM], option) for option in ("-o", "--save-tally")),
        *(([name, REFERENCE, SYSTEM], "-o") for name in ("report", "tune")),
        *((["validate", SYSTEM, "--format", "text"], option) for option in ("-o", "--fix")),
        (["plot", "matrix", REFERENCE, SYSTEM], "-o"),
    ],
)
def test_results_do_not_replace_settings_or_what_they_extend(command, option, tmp_path):
    path = written(tmp_path, **CHAIN)
    for name, text in CHAIN.items():
        done = call(*command, "--config", path, option, tmp_path / f"{name}.yaml")
        assert done.code == 2 and f"{name}.yaml: this is the settings file" in done.err
        assert (tmp_path / f"{name}.yaml").read_text() == text


def test_the_library_takes_presets():
    name, more = "dcase2024-task4-maestro", {"segment_length": 4.0, "only": ["segment.hard"]}
    got = sedeval_soft.evaluate(REFERENCE, SYSTEM, preset=name, **more)
    plain = sedeval_soft.evaluate(REFERENCE, SYSTEM, **load_preset(name) | more)
    assert (got.settings, dict(got)) == (plain.settings, dict(plain))
    for wrong in ({"preset": "dcase"}, {"preset": 3}, {"preset": name, "settings": sedeval_soft.Settings()}):
        with pytest.raises(SettingsError):
            sedeval_soft.evaluate(REFERENCE, SYSTEM, **wrong)
