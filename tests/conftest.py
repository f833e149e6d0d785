"""Settings of all tests."""

import os
import sys

import pytest
from hypothesis import HealthCheck, settings

# The programs that tests start, hundreds of them, read compiled modules: without these each compiles the
# package again, which takes as long as the rest. So Python keeps them, as it does unless told otherwise.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# How long an example takes says more about the machine, and about first imports, than about the code.
anyhow = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("machine", anyhow, max_examples=20)
# What `.ci/run` tries beside the slow tests: properties that leave the number of examples to the profile.
settings.register_profile("long", anyhow, max_examples=200)
settings.load_profile("machine")


@pytest.fixture(autouse=True)
def forgotten():
    """Measures of one's own are those of a process: the next test has none."""
    yield
    if registry := sys.modules.get("sedeval_soft.measures.registry"):
        for measure in [*registry.detection.OWN]:
            registry.forget(measure.name)
