"""Start-up is fast: a call imports only the modules that it needs."""

import subprocess
import sys
from importlib.util import find_spec

import pytest
from called import REFERENCE, SYSTEM, unmeasured

SELDOM = {
    *("importlib.resources", "tempfile", "statistics", "tarfile", "zipfile", "numpy.ma", "html"),
    *("pyarrow.compute", "fsspec", "dask", "distributed"),
    *(
        f"sedeval_soft.{name}"
        for name in (
            *("api.comparison", "api.evaluator", "comparison", "comparison.board", "tools"),
            "apps.plots",
            *("apps.chance", "evaluation.details", "evaluation.partition"),
            *("evaluation.resample", "measures.ranking", "timeline.regions"),
            *("evaluation.intervals", "evaluation.ordered", "measures.calibration"),
            *("measures.confusion", "measures.curve_scores"),
            *("measures.psds", "measures.sed_eval_rules"),
            *("measures.correlations", "report.forms", "report.requirements"),
            *("settings_files", "tables.annotation_json", "tables.annotation_document"),
            *("tables.archive", "tables.arrays", "tables.date_times", "tables.fit", "tables.columnar"),
            "tables.stored_rows",
        )
    ),
}
"""Modules that a plain evaluation does not need."""

HEAVY = {
    *("numpy", "pyarrow", "pandas", "scipy", "rich", "yaml", "msgspec", "sed_eval", "dataclasses"),
    *("jinja2", "matplotlib", "plotly"),
}


def imported(code: str, among: set[str] = HEAVY) -> set[str]:
    """Return the modules from a set that some code imports."""
    tail = f"\nimport sys\nprint(*[m for m in {sorted(among)!r} if m in sys.modules], file=sys.stderr)"
    command = [sys.executable, "-c", code + tail]
    done = subprocess.run(command, env=unmeasured(), capture_output=True, check=True, text=True)
    return set(done.stderr.split())


def test_import_of_the_package_is_light_and_help_imports_nothing_heavier_than_click():
    assert imported("import sedeval_soft") == set()
    code = (
        "import sys; from sedeval_soft.cli.main import group; import click\n"
        "try: group.main(['--help'], prog_name='x', standalone_mode=False)\n"
        "except click.exceptions.Exit: pass"
    )
    assert imported(code) <= imported("import click")
    # Commands are imported when they are called; the help needs only the default command.
    commands = {
        f"sedeval_soft.cli.{name}" for name in ("evaluate", "opinions", "pages", "plot", "results", "tables")
    }
    assert imported(code, commands) == {"sedeval_soft.cli.evaluate"}


@pytest.mark.parametrize("form", ["text", "json"])
def test_plain_evaluation_imports_neither_pyarrow_nor_pandas_nor_scipy_nor_rich(form):
    code = (
        "import sys; from sedeval_soft.cli.main import group\n"
        f"group.main([{REFERENCE!r}, {SYSTEM!r}, '--format', {form!r}], "
        "standalone_mode=False)"
    )
    found = imported(code) & HEAVY
    assert found <= {"numpy", "dataclasses", *(["msgspec"] if form == "json" else [])}
    if form == "text":
        assert imported(code, SELDOM) == set()
        assert [name for name in SELDOM if name.startswith("sedeval_soft") and not find_spec(name)] == []
