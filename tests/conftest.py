"""Settings of all tests."""

import os
import sys

import pytest
from hypothesis import HealthCheck, settings

# Tests start hundreds of programs. Python must keep compiled modules, whatever the environment sets: each
# program would otherwise compile the package again, which takes as long as all the rest.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The time of an example depends more on the machine and on first imports than on the code.
anyhow = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("machine", anyhow, max_examples=20)
# `.ci/run` uses this profile with the slow tests, for properties that do not set their number of examples.
settings.register_profile("long", anyhow, max_examples=200)
settings.load_profile("machine")


@pytest.fixture(autouse=True)
def forgotten():
    """Remove the measures that a test registered: the registry belongs to the process."""
    yield
    if registry := sys.modules.get("sedeval_soft.measures.registry"):
        for measure in [*registry.detection.OWN]:
            registry.forget(measure.name)
