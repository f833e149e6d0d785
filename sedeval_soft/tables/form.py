"""What a form of tables is: how it is known, read and written, and what it can hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.rows import Rows
from sedeval_soft.tables.source import Source

"""What is taken in where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What readers are told beside the bytes.

    table: reads a table of any form, as it is; member: one of several, each of them one recording; only: the
    only member. limits: the most that is taken in.
    """

    table: Callable[[Source], Rows | None]
    member: Callable[[Source], Rows | None]
    only: Callable[[Source], Rows | None]
    limits: Limits = LIMITS


@dataclass(frozen=True, slots=True)
class Holds:
    """What a file of a form can hold.

    values: of rows. long, wide: rows of one class each, or a column per class. recordings: more than one;
    name: of a recording, where there is but one. silent: recordings without rows. nothing: a table without
    row and recording. classes: those without rows. gaps: times between the rows of a recording. blanks:
    within names. resolution: ticks that times are whole multiples of, 0 where they are kept exactly.
    """

    values: bool = True
    long: bool = True
    wide: bool = False
    recordings: bool = True
    name: bool = True
    silent: bool = True
    nothing: bool = True
    classes: bool = False
    gaps: bool = True
    blanks: bool = True
    resolution: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """A form of tables.

    name: as options have it. title: in words. extensions: of files, those of folders' members included, the
    first is what is written. holds: what is not lost in writing. read: returns rows, None for a file without
    any line; raises InputError. write: the bytes of rows that the form can hold; None where it is only read.
    recognises: whether the bytes are of this form, whatever the file is called. folder: always a folder of
    files, one per recording. text: lines of text, fit for a terminal. own: extensions that no other form has.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    holds: Holds
    read: Callable[[Source, Reading], Rows | None]
    recognises: Callable[[Source], bool]
    write: Callable[[Rows], bytes] | None = None
    folder: bool = False
    text: bool = True
    own: tuple[str, ...] = field(default=())

    @property
    def apart(self) -> bool:
        """Whether several recordings need a file each."""
        return self.folder or not self.holds.recordings

    @property
    def named(self) -> bool:
        """Whether a file of a single recording says what that is called."""
        return self.holds.name and not self.folder


def never(source: Source) -> bool:  # noqa: ARG001 - as for every form
    """Recognise nothing: a form that is a table of text like others, or a folder."""
    return False
