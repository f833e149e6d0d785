"""The common part of the scripts `make_*.py`, which write files of golden numbers; Python 3.8 is enough."""

import inspect
import platform
import shutil
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "golden"))

from golden_numbers import STOPS, write_numbers  # noqa: F401 - for the scripts


def make(scored, cases, repository, commit, packages, **about):
    """Write a file of numbers, named after the calling script: what a published script gives for some cases.

    scored: takes a case, and an empty folder. repository, commit: of the script. packages: whose versions
    are kept. about: more to keep.
    """
    warnings.simplefilter("ignore")
    made_by = Path(inspect.stack()[1].filename).name
    results = []
    for case in cases:
        folder = Path(tempfile.mkdtemp())
        results.append(scored(case, folder))
        shutil.rmtree(str(folder))
    versions = {"python": platform.python_version(), **{name: version(name) for name in packages}}
    source = {"made_by": f"tests/apps/published/{made_by}", "repository": repository, "commit": commit}
    name = made_by.replace("make_", "").replace(".py", ".json")
    write_numbers(name, {**source, "versions": versions, **about}, results)
