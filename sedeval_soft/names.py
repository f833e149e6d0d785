"""Names of settings and scores: close matches, and the names in other tools, tables and papers.

`aliases.toml` contains the other names, and is read only if a message needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

MOST_MEANT = 3
"""Number of names that a message proposes."""

_MOST_LIKELY = 12
"""Number of names that a message lists for a part of a name."""

_LONGEST = 200
"""Characters of a name that are looked at."""


MEASURE_ALIASES: dict[str, str] = {}
"""Other names of measures, by alias: each measure declares its own, `measures.registry` enters them here."""


@cache
def aliases() -> dict[str, Any]:
    """Return the tables of `aliases.toml`."""
    import tomllib
    from importlib.resources import files

    return tomllib.loads(files("sedeval_soft").joinpath("aliases.toml").read_text(encoding="utf-8"))


@cache
def by_alias(table: str) -> dict[str, str]:
    """Return the setting or score of each alias in a table."""
    return {alias: ours for ours, names in aliases()[table].items() for alias in names}


def normal(name: str) -> str:
    """Return a name, or an option, as `aliases.toml` writes it."""
    return name.strip("-").replace("-", "_").lower()


@cache
def other_settings() -> dict[str, tuple[str, list[str]]]:
    """Return arguments and options of other tools, with the tool in the genitive and the settings here."""
    tables = aliases()["settings"].items()
    return {name: (tool, settings) for tool, named in tables for name, settings in named.items()}


def hint(name: str, known: Sequence[str]) -> str:
    """Return a hint for an unknown setting: another tool's name of one, a similar one, or all.

    `; sed_eval's t_collar is onset_collar and offset_collar here`.
    """
    alias = other_settings().get(normal(name))
    if alias is None:
        return did_you_mean(name, known) or f"; known: {', '.join(known)}"
    tool, settings = alias
    return f"; {tool} {name} is {' and '.join(settings)} here"


def meant(text: str, names: Iterable[str]) -> str:
    """Return `; did you mean a or b?` of the names that have all parts of a text, empty without such names.

    Parts may be left out, and may have their names in tables, papers and other tools. If more than a few
    names have all parts, it is `; it could be a, b, c or d`, at most a dozen.
    """
    stem, bracket, rest = text[:_LONGEST].partition("[")
    words = by_alias("scores") | MEASURE_ALIASES
    parts = {words.get(part, part) for part in stem.strip().lower().split(".") if part}
    having = [name for name in names if parts and parts <= {*name.partition("[")[0].split(".")}]
    # The tuned reading needs an option of its own: whoever wants it says so.
    having.sort(key=lambda name: ".tuned." in name)
    if bracket:
        label = rest.rpartition("]")[0]
        classes = [name for name in having if name.endswith(("[class]", f"[{label}]"))]
        return _likely([f"{name.partition('[')[0]}[{label}]" for name in classes])
    whole = [name for name in having if not name.endswith("]")]
    # Of several averages most of the field reports the macro average, and then the micro average.
    averaged = {name.removesuffix(".macro") for name in whole if name.endswith(".macro")}
    macro = [name for name in whole if name.endswith(".macro") or name.rpartition(".")[0] not in averaged]
    both = [
        each
        for name in macro
        for each in (name, f"{name.removesuffix('.macro')}.micro")
        if each == name or each in whole
    ]
    if len(both) <= _MOST_LIKELY:
        return _likely(both)
    return _likely(macro) + (" (or .micro)" if len(both) > len(macro) else "")


def _likely(names: Sequence[str]) -> str:
    """Return a question for a few names, else a list of the likely ones."""
    if len(names) <= MOST_MEANT:
        return _question(names)
    if len(names) <= _MOST_LIKELY:
        return f"; it could be {', '.join(names[:-1])} or {names[-1]}"
    first = sorted(names, key=lambda name: ".f1" not in name)[:_MOST_LIKELY]
    return f"; it could be {', '.join(first)} or {len(names) - len(first)} more"


_LATIN = (
    "0430a 0435e 043eo 0440p 0441c 0443y 0445x 0455s 0456i 0458j 04bbh 04cfl 0501d 051bq 051dw "
    "0410A 0412B 0415E 041aK 041cM 041dH 041eO 0420P 0421C 0422T 0423Y 0425X 0405S 0406I 0408J 04c0I "
    "03b1a 03b9i 03bdv 03bfo 03c1p 03c5u 0391A 0392B 0395E 0396Z 0397H 0399I 039aK 039cM 039dN 039fO "
    "03a1P 03a4T 03a5Y 03a7X 0131i 0261g 2010- 2011- 2012- 2013- 2014- 2212- 2018' 2019'"
)
"""Characters that look like one of ASCII, by their numbers, each with that one: Cyrillic, Greek, dashes."""


def appearance(name: str) -> str:
    """Return a name as it looks: the same for all ways to encode accents and for letters that look alike."""
    if name.isascii():
        return name
    import unicodedata

    latin = {int(pair[:4], 16): pair[4] for pair in _LATIN.split()}
    text = unicodedata.normalize("NFKC", name).translate(latin)
    return "".join(c for c in text if unicodedata.category(c) != "Cf")


def apart(name: str, other: str, plain: Callable[[str], str] = repr) -> tuple[str, str]:
    """Return two names in quotes, by the numbers of their characters if they look the same.

    plain: function that shows names that look different.
    """
    shown = ascii if appearance(name) == appearance(other) else plain
    return shown(name), shown(other)


def told_apart(names: Iterable[str]) -> dict[str, str]:
    """Return the names that look the same as another of them, by the numbers of their characters."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(appearance(name), []).append(name)
    return {name: ascii(name)[1:-1] for same in alike.values() if len(same) > 1 for name in same}


@lru_cache(1 << 12)
def folded(name: str) -> str:
    """Return a name for comparison by looks alone: without case, and blanks, `-` and `_` are one."""
    return re.sub(r"[\s_-]+", " ", appearance(name)).strip().casefold()


def close_matches(name: str, known: Iterable[str], n: int = MOST_MEANT, cutoff: float = 0.6) -> list[str]:
    """Return up to `n` known names that look like a name, the closest first.

    Names that look the same, or differ in case, blanks, `-` and `_` only, come first.
    """
    from difflib import get_close_matches

    known = list(known)
    look = folded(name)
    alike = [other for other in known if folded(other) == look]
    # In case alone before other characters.
    alike.sort(key=lambda other: other.casefold() != name.casefold())
    return list(dict.fromkeys([*alike, *get_close_matches(name, known, n=n, cutoff=cutoff)]))[:n]


def did_you_mean(name: str, known: Iterable[str], n: int = MOST_MEANT, cutoff: float = 0.6) -> str:
    """Return `; did you mean a or b?` for close matches, empty without any."""
    matches = close_matches(name, (other for other in known if other != name), n, cutoff)
    if matches and appearance(matches[0]) == appearance(name):
        here, other = apart(name, matches[0])
        return f"; did you mean {other}? {here} looks the same"
    return _question(matches)


def _question(names: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(map(repr, names[:MOST_MEANT]))}?" if names else ""
