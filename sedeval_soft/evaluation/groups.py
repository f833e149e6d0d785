"""Groups of classes and scenes: parts of an evaluation, each scored as if it alone had been evaluated.

A group of classes is counted by itself: errors regardless of class are other ones among fewer classes. A
scene is some of the files, which were counted already. Files keep their lengths, and the system's output is
what it is in the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np

from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.measures.tally import Tally
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import Settings
from sedeval_soft.tables.filenames import listing
from sedeval_soft.timeline.recordings import Recordings

Files = dict[str, tuple[str, ...]]
"""Files of each scene or fold by its name, sorted."""


def tally_groups(pair: Recordings, settings: Settings) -> dict[str, Tally]:
    """Count the classes of each group by themselves; a class that the pair lacks counts nothing."""
    return {
        name: tally_pair(pair.with_classes(tuple(c for c in labels if c in pair.classes)), settings)
        for name, labels in settings.groups.items()
    }


def scenes_of(files: Sequence[str], classes: Sequence[str], settings: Settings) -> Files:
    """Return the files of each scene.

    Raises EvaluationError, naming all that are wrong, for a group with a class that is not evaluated and for
    a scene that no file belongs to.
    """
    problems = [
        f"group {name!r}: {label!r} is not an evaluated class{did_you_mean(label, classes)}"
        for name, labels in settings.groups.items()
        for label in labels
        if label not in classes
    ]
    scenes = {
        name: tuple(file for file in files if any(fnmatchcase(file, form) for form in patterns))
        for name, patterns in settings.scenes.items()
    }
    for name, found in scenes.items():
        if not found:
            wanted = " or ".join(map(repr, settings.scenes[name]))
            problems.append(f"scene {name!r}: no file matches {wanted}, of {listing(files, 'file')}")
    if problems:
        raise EvaluationError("\n".join(problems))
    return scenes


def of_files(tally: Tally, parts: Mapping[str, Sequence[str]]) -> dict[str, Tally]:
    """Return the tally of the files of each part."""
    position = {file: i for i, file in enumerate(tally.files)}
    return {
        name: tally.take(np.array([position[file] for file in files], dtype=np.int64))
        for name, files in parts.items()
    }
