"""What is at a path. Where that cannot be looked at there is nothing: who opens it says what is wrong."""

from __future__ import annotations

import os
import stat

Name = str | os.PathLike[str]


def is_there(path: Name) -> bool:
    """Return whether there is anything at a path."""
    return _mode(path) != 0


def is_file(path: Name) -> bool:
    """Return whether a path is that of a file."""
    return stat.S_ISREG(_mode(path))


def is_folder(path: Name) -> bool:
    """Return whether a path is that of a folder."""
    return stat.S_ISDIR(_mode(path))


def is_stream(path: Name) -> bool:
    """Return whether a path is that of a pipe or a device, which other processes may not have."""
    return is_there(path) and not is_file(path) and not is_folder(path)


def _mode(path: Name) -> int:
    """Return what the system says of a path, 0 where it says nothing: its name may be too long, too."""
    try:
        return os.stat(path).st_mode  # noqa: PTH116 - the path may be none that can be
    except (OSError, ValueError):
        return 0
