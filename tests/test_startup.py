"""Start-up is a feature: what is imported, and what is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[1] / "sample_data"
SELDOM = {
    *("sedeval_soft.formats.forms", "sedeval_soft.validation", "pyarrow.compute"),
    *("importlib.resources", "tempfile", "statistics", "tarfile", "zipfile"),
}
"""Modules that a plain evaluation has no use for."""

HEAVY = {"numpy", "pyarrow", "pandas", "scipy", "rich", "yaml", "msgspec", "sed_eval", "dataclasses"}


def imported(code: str, among: set[str] = HEAVY) -> set[str]:
    """Return the packages, of those that matter, that some code imports."""
    tail = f"\nimport sys\nprint(*[m for m in {sorted(among)!r} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, check=True, text=True)
    return set(done.stderr.split())


def test_import_of_the_package_is_light():
    assert imported("import sedeval_soft") == set()


def test_help_imports_nothing_heavier_than_click():
    code = (
        "import sys; from sedeval_soft.cli.main import group; import click\n"
        "try: group.main(['--help'], prog_name='x', standalone_mode=False)\n"
        "except click.exceptions.Exit: pass"
    )
    click_itself = imported("import click")
    assert imported(code) <= click_itself


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_plain_evaluation_imports_neither_pandas_nor_scipy_nor_rich(form):
    code = (
        "import sys; from sedeval_soft.cli.main import group\n"
        f"group.main([{str(SAMPLES / 'ref.tsv')!r}, {str(SAMPLES / 'sys.tsv')!r}, '--format', {form!r}], "
        "standalone_mode=False)"
    )
    assert imported(code) <= {"numpy", "pyarrow", "dataclasses", *(["msgspec"] if form == "json" else [])}
    if form == "text":
        assert imported(code, SELDOM) == set()


def test_public_names_are_those_documented():
    import sedeval_soft

    assert sedeval_soft.__all__ == [
        *("Board", "EvaluationError", "Evaluator", "InputError", "Limits", "Score", "Scores", "Settings"),
        *("SettingsError", "Validation", "__version__", "annotate", "build_site", "compare", "convert"),
        *("evaluate", "mean_of_runs", "plot", "simulate", "threshold_curves", "validate", "write_report"),
    ]
    for name in sedeval_soft.__all__:
        assert getattr(sedeval_soft, name)
    assert set(sedeval_soft.__all__) <= set(dir(sedeval_soft))
    with pytest.raises(AttributeError):
        _ = sedeval_soft.nothing
