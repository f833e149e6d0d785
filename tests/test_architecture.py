"""The structure that the design asks for, and a test that each rule can fail."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from architecture import RULES, modules

import sedeval_soft

ROOT = Path(sedeval_soft.__file__).parent


@cache
def parsed():
    """The modules of the package, parsed once for all rules."""
    return modules(ROOT)


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule):
    found = parsed()
    assert len(found) > 40
    assert RULES[rule](found, "sedeval_soft") == []


BAD = {
    "imports go one way": {"core/a.py": '"""."""\nfrom pack.cli import b\n', "cli/b.py": '"""."""\n'},
    "no import cycle": {
        "core/a.py": '"""."""\nfrom pack.core import b\n',
        "core/b.py": '"""."""\ndef f():\n    from pack.core.a import g\n',
    },
    "heavy imports stand where they are used": {"core/a.py": '"""."""\nimport pandas as pd\n'},
    "only the command line prints": {"core/a.py": 'print("x")\n'},
    "everything public is documented and annotated": {"core/a.py": '"""."""\ndef f(x):\n    """."""\n'},
    "names say something": {"core/utils.py": '"""."""\n'},
    "nothing that is read is run": {"core/a.py": "import pickle\n"},
    "files are written in one place": {"core/a.py": "open('x', 'w')\n"},
}


@pytest.mark.parametrize("rule", RULES)
def test_rule_can_fail(rule, tmp_path):
    for name, text in BAD[rule].items():
        path = tmp_path / "pack" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert RULES[rule](modules(tmp_path / "pack"), "pack")


@pytest.mark.parametrize(
    "line",
    [
        *("import pickle", "from pickle import loads", "import joblib", "import marshal"),
        *("eval('1')", "exec('x = 1')", "os.system('ls')", "yaml.load(text)", "yaml.full_load(text)"),
        *(
            "yaml.unsafe_load(text)",
            "class L(yaml.Loader): pass",
            "np.load(path)",
            "np.load(path, allow_pickle=True)",
        ),
    ],
)
def test_what_would_run_a_file_is_found(line, tmp_path):
    (tmp_path / "a.py").write_text(f"{line}\n")
    assert RULES["nothing that is read is run"](modules(tmp_path), "pack")


@pytest.mark.parametrize(
    "line",
    ["yaml.SafeLoader(text)", "yaml.safe_load(text)", "np.load(path, allow_pickle=False)", "retrieval(1)"],
)
def test_what_runs_nothing_passes(line, tmp_path):
    (tmp_path / "a.py").write_text(f"{line}\n")
    assert RULES["nothing that is read is run"](modules(tmp_path), "pack") == []


@pytest.mark.parametrize(
    "line", ["Path(p).open('wb')", "open(p, mode='a')", "p.write_text('')", "np.savez(p, a)"]
)
def test_what_writes_a_file_is_found(line, tmp_path):
    (tmp_path / "a.py").write_text(f"{line}\n")
    assert RULES["files are written in one place"](modules(tmp_path), "pack")


def test_tests_of_data_folders_are_not_empty():
    assert any((ROOT.parent / "sample_data").glob("*.tsv"))
    assert any((ROOT.parent / "configs").glob("*.yaml"))


def test_optional_packages_stay_in_their_rooms(tmp_path):
    for room in ("core", "torch"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "a.py").write_text('"""."""\ndef f():\n    import torch\n')
    assert RULES["heavy imports stand where they are used"](modules(tmp_path), "pack") == [
        "core.a imports torch"
    ]


def test_modules_of_tests_have_names_of_their_own():
    """Folders of tests are no packages: of two modules of one name pytest could collect one only."""
    names = [path.name for path in Path(__file__).parent.rglob("*.py") if path.name != "conftest.py"]
    assert sorted(names) == sorted({*names})
