"""Temporary files: a folder that nobody else reads, and what is said of a disk that is full."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from sedeval_soft.errors import EvaluationError


class FullError(EvaluationError):
    """There is no room on the disk, or it cannot be written to."""


@contextlib.contextmanager
def on_disk(folder: Path) -> Iterator[None]:
    """Say of temporary files that cannot be written what it is; raises FullError."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        needed = "; temporary files take about as much room as the input, uncompressed" if full else ""
        text = f"cannot be written: {error.strerror or error}{needed}"
        raise FullError(f"{folder}: {text}. TMPDIR says where they are") from error


@contextlib.contextmanager
def temporary_folder(inside: Path | None = None) -> Iterator[Path]:
    """Yield a folder for temporary files, removed in the end; raises FullError.

    inside: a folder that it is in; where temporary files are if it is None.
    """
    import tempfile

    with contextlib.ExitStack() as stack:
        with on_disk(inside or Path(os.environ.get("TMPDIR", "temporary files"))):
            made = stack.enter_context(tempfile.TemporaryDirectory(prefix="soft-sed-eval-", dir=inside))
        yield Path(made)
