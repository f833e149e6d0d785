"""What people call scores, for messages about names that nobody knows: `er`, `psds1`, `segment.f1`."""

from __future__ import annotations

from collections.abc import Iterable

WORDS = {
    **dict.fromkeys(("segments", "segment_based", "segment-based", "sb"), "segment"),
    **dict.fromkeys(("events", "event_based", "event-based", "eb"), "event"),
    **dict.fromkeys(("intersections", "intersection_based", "intersection-based"), "intersection"),
    **dict.fromkeys(("clips", "tagging", "file"), "clip"),
    **dict.fromkeys(("best", "opt"), "optimal"),
    **dict.fromkeys(("fuzzy",), "soft"),
    **dict.fromkeys(("overall",), "micro"),
    **dict.fromkeys(("class_wise", "class-wise", "class_wise_average", "makro", "mean"), "macro"),
}
"""Words of tables, papers and other tools, by parts of score names; the registry of measures adds theirs."""

_SHOWN = 3
_LONGEST = 200


def meant(text: str, names: Iterable[str]) -> str:
    """Return `; did you mean a or b?` of the names that have all parts of a text, nothing where none has.

    Parts may be left out, and may have the names that tables, papers and other tools give them.
    """
    stem, bracket, rest = text[:_LONGEST].partition("[")
    parts = {WORDS.get(part, part) for part in stem.strip().lower().split(".") if part}
    having = [name for name in names if parts and parts <= {*name.partition("[")[0].split(".")}]
    # The tuned reading needs an option of its own: whoever wants it says so.
    having.sort(key=lambda name: ".tuned." in name)
    if bracket:
        label = rest.rpartition("]")[0]
        classes = [name for name in having if name.endswith(("[class]", f"[{label}]"))]
        chosen = [f"{name.partition('[')[0]}[{label}]" for name in classes]
    else:
        whole = [name for name in having if not name.endswith("]")]
        # Of several averages the macro average is what most of the field reports.
        averaged = {name.rpartition(".")[0] for name in whole if name.endswith(".macro")}
        chosen = [
            name for name in whole if name.endswith(".macro") or name.rpartition(".")[0] not in averaged
        ]
    shown = [repr(name) for name in chosen[:_SHOWN]]
    return f"; did you mean {' or '.join(shown)}?" if shown else ""
