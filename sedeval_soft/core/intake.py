"""How much of an input is taken in before it is refused: files come from strangers."""

from __future__ import annotations

from dataclasses import dataclass

from sedeval_soft.core.errors import InputError, Problem

OPTION = "--limit"
"""The option that raises a limit, as `--limit NAME=NUMBER`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that an input may have.

    size: bytes, decompressed. ratio: decompressed bytes for each compressed one. rows: of all tables of an
    input. classes, files: different names. duration: seconds of a recording. name_length: characters of a
    file name or label. members: files in a folder or an archive.
    """

    size: int = 1 << 36
    ratio: int = 1000
    rows: int = 1 << 31
    classes: int = 100_000
    files: int = 10_000_000
    duration: float = 31_536_000.0
    name_length: int = 4096
    members: int = 1_000_000

    def check(self, source: str, name: str, found: float, what: str) -> None:
        """Raise InputError, naming the option that raises the limit, where more is found than that."""
        most = getattr(self, name)
        if found > most:
            raise InputError(
                Problem(
                    source,
                    f"has {found:.15g} {what}; expected {most:.15g} or fewer "
                    f"({OPTION} {name}={found:.15g} raises this)",
                    code=f"too-many-{name}",
                )
            )
