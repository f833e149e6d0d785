"""The documentation as a site, built once for all tests that look at it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from documents import ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the site; what asks for it is skipped where it cannot be built, but not in .ci/run."""
    if not (find_spec("mkdocs") and find_spec("mkdocstrings")) and not os.environ.get("SOFT_SED_EVAL_DOCS"):
        pytest.skip("needs mkdocs: pip install --group docs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "default", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder
