"""Settings files: what they extend, and where what is wrong with them stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from called import REFERENCE, SYSTEM, Called, call

import sedeval_soft
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.settings_files import load_preset, load_settings


def written(folder: Path, **files: str) -> Path:
    """Write settings files, and return the path of the first."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder / f"{next(iter(files))}.yaml"


def test_a_file_holds_over_what_it_extends_found_beside_it_and_each_setting_as_a_whole(tmp_path, monkeypatch):
    path, base = tmp_path / "a.yaml", load_preset("dcase2019-task4")
    written(tmp_path, b="min_gap: {car: 0.5, dog: 0.2}\n", c="beta: 3.0\nbins: 7\nmin_gap: 0.4\n")
    written(tmp_path / "base", b="extends: ../c.yaml\nbeta: 2.0\nmin_gap: 0.3\n")
    monkeypatch.chdir("/")
    for text, expected in (
        ("extends: dcase2019-task4\noffset-collar-rate: 0.5\n", base | {"offset_collar_rate": 0.5}),
        ("min_gap: 0.5\nextends: base/b.yaml\n", {"bins": 7, "beta": 2.0, "min_gap": 0.5}),
        ("extends: b.yaml\nmin_gap: {car: 1.0}\n", {"min_gap": {"car": 1.0}}),
        ("extends: null\nbeta: 2.0\n", {"beta": 2.0}),
        ("extends: maestro-soft\nclasses: null\n", load_preset("maestro-soft") | {"classes": None}),
    ):
        path.write_text(text)
        assert load_settings(str(path)) == expected
    assert base["offset_collar_rate"] == 0.2


@pytest.mark.parametrize(
    ("text", "other", "said"),
    [
        ("extends: a.yaml\n", "", "a.yaml:1: extends 'a.yaml'; expected .* none itself"),
        ("extends: b.yaml\n", "beta: 1\nextends: a.yaml\n", "b.yaml:2: extends 'a.yaml'; expected"),
        ("beta: 1\nextends: dcase2019-tsk4\n", "", "a.yaml:2: .* neither .*mean 'dcase2019-task4'"),
        ("extends: [dcase2019-task4]\n", "", "a.yaml:1: extends must be the name"),
        ('extends: "a\\0b"\n', "", "a.yaml:1: extends"),
        ("extends: /dev/zero\n", "", "a.yaml:1: extends '/dev/zero', which is neither"),
        ("extends: b.yaml\n", "bins: 3\nbeta: -1\n", "b.yaml:2: beta must be"),
        # What does not go together is told of the file on top.
        ("bins: 3\nmedian_filter: 1\nextends: b.yaml\n", "psds_median_filters: [1]\n", "a.yaml:2: median"),
    ],
)
def test_what_cannot_be_extended(text, other, said, tmp_path):
    path = written(tmp_path, a=text, b=other)
    with pytest.raises(EvaluationError, match=said):
        load_settings(str(path))


@pytest.mark.parametrize(
    "text", ['columns: {"\\x1b[31m\\uFEFF": p}\n', 'from: "\\x1b[31m\\uFEFF"\n', '"\\x1b[31m\\uFEFF": 1\n']
)
def test_what_a_file_says_is_shown_with_escapes(text, tmp_path):
    done = call(REFERENCE, SYSTEM, "--config", written(tmp_path, a=text))
    assert done.code == 2
    assert "\\x1b[31m\\ufeff" in done.err
    assert done.err.replace("\n", "").isprintable()


def test_files_extend_one_another_a_few_times_only(tmp_path):
    chain = {f"f{i}": f"extends: f{i + 1}.yaml\n" for i in range(7)}
    path = written(tmp_path, **chain, f7="beta: 2.0\n")
    assert load_settings(str(path)) == {"beta": 2.0}
    written(tmp_path, f7="extends: f8.yaml\n", f8="beta: 2.0\n")
    with pytest.raises(SettingsError, match="f7.yaml:1: extends 'f8.yaml'; expected at most 8 files"):
        load_settings(str(path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# one\n\nbeta: -1\n", ":3: beta must be 0.001 to 1000"),
        ("a: [1", ":1:6: is not YAML"),
        ("- 1", ": holds list; expected settings"),
        ("beta: 1\nthreshold: 0.4\nbeta: 2", ":3:1: setting 'beta' is given twice"),
        ("strict: yes", ":1: strict must be true or false, not 'yes'"),
        ("segment_length: 1:30", ":1: segment_length must be a finite number, not '1:30'"),
        ("groups: {a: [car]}\nscenes: {a: '*'}", ":1: groups and scenes both have 'a'"),
        ("bins: 3\nbetta: 2\n", ":2: unknown setting 'betta'; did you mean 'beta'"),
        ("bins: 3\nextend: maestro-soft\n", ":2: unknown setting 'extend'; did you mean 'extends'"),
        ("bins: 3\nmin-gap: {car: x}\n", ":2: min_gap of 'car' must be"),
        ("median_filter: 1\nevents: rows\n", ":2: events=rows cannot go with post-processing"),
    ],
)
def test_messages_name_the_line(text, said, tmp_path):
    path = written(tmp_path, a=text)
    with pytest.raises(EvaluationError) as error:
        load_settings(str(path))
    assert f"{path}{said}" in str(error.value)
    assert call(REFERENCE, SYSTEM, "--config", path) == Called(2, "", f"{error.value}\n")


def test_options_hold_over_files_and_these_over_what_they_extend(tmp_path):
    path = written(tmp_path, a="extends: dcase2019-task4\noffset_collar_rate: 0.3\nonly: [event.hard]\n")
    score = ["--score", "event.hard.f1.macro"]
    for options, settings in (
        (["--preset", "dcase2019-task4"], {"offset_collar_rate": 0.2}),
        (["--config", path], {"offset_collar_rate": 0.3}),
        (["--config", path, "--offset-collar-rate", "0.9"], {"offset_collar_rate": 0.9}),
    ):
        done = call(REFERENCE, SYSTEM, "-q", *options, *score)
        expected = sedeval_soft.evaluate(REFERENCE, SYSTEM, compat="sed_eval", **settings)
        assert float(done.out) == expected["event.hard.f1.macro"], done.err


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ([], ["-o", "--save-tally"]),
        (["report"], ["-o"]),
        (["tune"], ["-o"]),
        (["validate", "--format", "text"], ["-o", "--fix"]),
        (["plot", "matrix"], ["-o"]),
    ],
)
def test_results_do_not_replace_settings_or_what_they_extend(command, options, tmp_path):
    chain = {"a": "extends: b.yaml\n", "b": "extends: c.yaml\n", "c": "beta: 2.0\n"}
    path = written(tmp_path, **chain)
    sides = [SYSTEM] if command[:1] == ["validate"] else [REFERENCE, SYSTEM]
    for name, text in chain.items():
        for option in options:
            target = tmp_path / f"{name}.yaml"
            done = call(*command, *sides, "--config", path, option, target)
            assert done.code == 2 and f"{option} {target}: this is the settings file" in done.err
            assert target.read_text() == text


def test_settings_that_can_be_read_once_are_read_once():
    command = (
        f"{sys.executable} -m sedeval_soft {REFERENCE} {SYSTEM} -q --config <(echo 'beta: 2.0') --format json"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, text=True)
    assert '"beta": 2.0' in done.stdout or '"beta":2.0' in done.stdout


@pytest.mark.parametrize("name", ["dcase2016-task3", "dcase2024-task4-maestro"])
def test_the_library_takes_presets(name):
    preset, more = load_preset(name), {"segment_length": 4.0, "only": ["segment.hard"]}
    got = sedeval_soft.evaluate(REFERENCE, SYSTEM, preset=name)
    assert got.settings == sedeval_soft.evaluate(REFERENCE, SYSTEM, **preset).settings
    over = sedeval_soft.evaluate(REFERENCE, SYSTEM, preset=name, **more)
    plain = sedeval_soft.evaluate(REFERENCE, SYSTEM, **preset | more)
    assert over["segment.hard.f1.macro"] == plain["segment.hard.f1.macro"] != got["segment.hard.f1.macro"]
    for wrong in ({"preset": "dcase"}, {"preset": 3}, {"preset": name, "settings": sedeval_soft.Settings()}):
        with pytest.raises(SettingsError):
            sedeval_soft.evaluate(REFERENCE, SYSTEM, **wrong)


def test_numbers_of_settings_files_are_those_of_people(tmp_path):
    for text, number in {"1e-1": 0.1, "1E1": 10.0, ".5": 0.5, "+2": 2.0, "010": 10.0, "2.": 2.0}.items():
        assert load_settings(str(written(tmp_path, a=f"beta: {text}"))) == {"beta": number}
