"""Loops that run in Python, or compiled by numba for large inputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any


@cache
def compiled_loop(*functions: Callable[..., Any], **options: object) -> Callable[..., Any] | None:
    """Return the last of some functions compiled by numba, None if numba cannot compile them.

    functions: plain functions of numbers and arrays; each may call those before it. options: of numba, which
    keeps the compiled functions for later processes, in a folder of its choice.
    """
    try:
        from numba import njit

        made: dict[str, Any] = {}
        for function in functions:
            # A copy that calls the compiled ones.
            copy = FunctionType(function.__code__, {**function.__globals__, **made}, function.__name__)
            made[function.__name__] = njit(cache=True, **options)(copy)
    except (ImportError, RuntimeError):
        # There is no numba, or no folder that it may write to: each process would compile anew.
        return None
    last: Callable[..., Any] = made[functions[-1].__name__]
    return last
