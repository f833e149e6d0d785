"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes says more about the machine, and about first imports, than about the code.
settings.register_profile("machine", deadline=None)
settings.load_profile("machine")
