"""Start-up is a feature: what is imported, and what is not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from launched import unmeasured

SAMPLES = Path(__file__).parents[1] / "sample_data"
SELDOM = {
    *("importlib.resources", "tempfile", "statistics", "tarfile", "zipfile", "numpy.ma", "html"),
    *("pyarrow.compute", "fsspec", "dask", "distributed"),
    *(
        f"sedeval_soft.{name}"
        for name in (
            *("api.comparison", "api.evaluator", "comparison", "comparison.board", "html", "tools"),
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
"""Modules that a plain evaluation has no use for."""

HEAVY = {"numpy", "pyarrow", "pandas", "scipy", "rich", "yaml", "msgspec", "sed_eval", "dataclasses"}


def imported(code: str, among: set[str] = HEAVY) -> set[str]:
    """Return the packages, of those that matter, that some code imports."""
    tail = f"\nimport sys\nprint(*[m for m in {sorted(among)!r} if m in sys.modules], file=sys.stderr)"
    command = [sys.executable, "-c", code + tail]
    done = subprocess.run(command, env=unmeasured(), capture_output=True, check=True, text=True)
    return set(done.stderr.split())


def test_import_of_the_package_is_light():
    assert imported("import sedeval_soft") == set()


def test_help_imports_nothing_heavier_than_click():
    code = (
        "import sys; from sedeval_soft.cli.main import group; import click\n"
        "try: group.main(['--help'], prog_name='x', standalone_mode=False)\n"
        "except click.exceptions.Exit: pass"
    )
    assert imported(code) <= imported("import click")
    # A command is imported when it is called.
    commands = {
        f"sedeval_soft.cli.{name}" for name in ("evaluate", "opinions", "pages", "plot", "results", "tables")
    }
    assert imported(code, commands) == {"sedeval_soft.cli.evaluate"}


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown"])
def test_plain_evaluation_imports_neither_pyarrow_nor_pandas_nor_scipy_nor_rich(form):
    code = (
        "import sys; from sedeval_soft.cli.main import group\n"
        f"group.main([{str(SAMPLES / 'ref.tsv')!r}, {str(SAMPLES / 'sys.tsv')!r}, '--format', {form!r}], "
        "standalone_mode=False)"
    )
    found = imported(code) & HEAVY
    assert found <= {"numpy", "dataclasses", *(["msgspec"] if form == "json" else [])}
    if form == "text":
        assert imported(code, SELDOM) == set()


def test_a_plain_evaluation_needs_four_packages():
    """All others may be missing: numpy, pyarrow, click and click-default-group are left."""
    missing = (*HEAVY - {"numpy", "pyarrow", "dataclasses"}, "jinja2", "markupsafe", "matplotlib", "plotly")
    code = (
        f"import sys; sys.modules |= dict.fromkeys({missing!r})\nfrom sedeval_soft.cli.main import group\n"
        f"group.main([{str(SAMPLES / 'ref.tsv')!r}, {str(SAMPLES / 'sys.tsv')!r}], standalone_mode=False)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert "\nsegment  soft " in done.stdout


def test_public_names_are_those_documented():
    import sedeval_soft

    _, _, listed = sedeval_soft.__doc__.partition("\nFunctions:")
    told = re.findall(r"`(\w+)[`(]", listed.partition("\nMore to read:")[0])
    assert {*told} == {*sedeval_soft.__all__} - {"__version__"} and len({*told}) > 20
    assert set(sedeval_soft.__all__) <= set(dir(sedeval_soft))


def test_what_settings_ask_for_is_imported_then(tmp_path):
    """Every module that a plain evaluation has no use for is there where it is asked for."""
    asked = (
        "--quiet --only all --measures all --psds dcase-psds1 --ci --replicates 2 --worst 2 "
        "--set satisfice=precision>=0.5 --set reference_sweep=true"
    )
    sides = (str(SAMPLES / f"{name}.tsv") for name in ("ref", "sys"))
    arguments = [*sides, *asked.split()]
    code = f"from sedeval_soft.cli.main import group\ngroup.main({arguments!r}, standalone_mode=False)"
    rooms = ("sedeval_soft.evaluation", "sedeval_soft.measures")
    # They are met under other settings.
    elsewhere = {"sedeval_soft.measures.sed_eval_rules", "sedeval_soft.evaluation.partition"}
    rarely = {name for name in SELDOM if name.startswith(rooms)} - elsewhere
    assert len(rarely) >= 9
    assert imported(code, rarely) == rarely
