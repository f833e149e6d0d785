"""Names as figures may hold them: shown as they are, never as formulas, and never wider than their place.

Names come from strangers. A dollar would begin a formula, a control character is nothing that can be drawn,
and a letter that no font has would be a box: these are written as escapes, as everywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from sedeval_soft.errors import escaped, visible

ELLIPSIS = "\u2026"


def plain(text: str) -> str:
    """Return a text as it is handed to matplotlib to be drawn letter by letter."""
    shown = visible(text)
    if not shown.isascii():
        fonts = _fonts()
        shown = "".join(c if c.isascii() or _has(fonts, c) else escaped(c) for c in shown)
    # Two dollars enclose a formula, unless each is behind a backslash, which is taken away again.
    return shown.replace("$", r"\$")


def shortened(text: str, points: float, size: float | None = None) -> str:
    """Return a text that is at most so wide, its middle left out where it is longer, ready to be drawn.

    points: the width. size: of the letters in points, None for that of the tick labels.
    """
    shown = plain(text)
    if width(shown, size) <= points:
        return shown
    # Cut before it is drawn: a name may be as long as a book. Not through what `plain` wrote for a letter.
    letters = [plain(c) for c in text]
    kept = min(len(letters) - 1, max(int(points), 2))
    while kept > 2:
        cut = "".join(letters[: kept - kept // 2]) + ELLIPSIS + "".join(letters[len(letters) - kept // 2 :])
        if (wide := width(cut, size)) <= points:
            return cut
        kept = min(kept - 1, max(int(kept * points / wide), 2))
    return "".join(letters[:1]) + ELLIPSIS + "".join(letters[-1:])


def all_shortened(texts: Sequence[str], points: float, size: float | None = None) -> list[str]:
    """Return texts that are at most about so wide, numbered where they look alike afterwards."""
    shown = [shortened(text, points, size) for text in texts]
    alike: dict[str, list[str]] = {}
    for text, cut in dict(zip(texts, shown, strict=True)).items():
        alike.setdefault(cut, []).append(text)
    for i, text in enumerate(texts):
        if len(alike[shown[i]]) > 1:
            number = f" ({alike[shown[i]].index(text) + 1})"
            shown[i] = shortened(text, points - width(number, size), size) + number
    return shown


def width(text: str, size: float | None = None) -> float:
    """Return how wide a text is when it is drawn, in points; size: of its letters, None for tick labels."""
    points = points_of("xtick.labelsize") if size is None else size
    # Measured letter by letter, each once: names have the same letters.
    return sum(_advance(c, tuple(told("font.family"))) for c in text.replace(r"\$", "$")) * points / 100


def points_of(setting: str) -> float:
    """Return a size of letters that a setting of matplotlib has, which may be a word, in points."""
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=told(setting)).get_size_in_points())


def told(setting: str) -> Any:  # noqa: ANN401 - each setting has its own type
    """Return what matplotlib is told by a setting."""
    import matplotlib as mpl

    parameters: Any = mpl.rcParams
    return parameters[setting]


@lru_cache(maxsize=4096)
def _advance(letter: str, _family: tuple[str, ...]) -> float:
    """Return how wide a letter of a hundred points is."""
    from matplotlib.font_manager import FontProperties, findfont, get_font
    from matplotlib.ft2font import LoadFlags

    fonts = [get_font(path) for path in _fonts()] or [get_font(findfont(FontProperties()))]
    code = ord(letter)
    font = next((font for font in fonts if font.get_char_index(code)), fonts[0])
    font.set_size(100, 72)
    glyph = font.load_char(code, flags=LoadFlags.NO_HINTING)
    return float(glyph.linearHoriAdvance) / 65536


def joined(names: Iterable[str], most: int = 6) -> str:
    """Return names in a row, those beyond the first few counted only; not ready to be drawn."""
    names = list(names)
    shown = [
        name if len(name) <= _LONG else f"{name[: _LONG // 2]}{ELLIPSIS}{name[-_LONG // 2 :]}"
        for name in names
    ]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown[:most]) + more


_LONG = 32


def wrapped(text: str, points: float, size: float | None = None) -> list[str]:
    """Return the lines of a text, broken at blanks, each at most so wide, ready to be drawn."""
    lines: list[str] = []
    for word in text.split(" "):
        fitted = shortened(word, points, size)
        if lines and width(f"{lines[-1]} {fitted}", size) <= points:
            lines[-1] += f" {fitted}"
        else:
            lines.append(fitted)
    return lines


def _has(fonts: tuple[str, ...], letter: str) -> bool:
    from matplotlib.font_manager import get_font

    return any(get_font(path).get_char_index(ord(letter)) for path in fonts)


def _fonts() -> tuple[str, ...]:
    """Return the paths of the fonts that texts are drawn with, those that are there, in their order."""
    family = told("font.family")
    generic = ("serif", "sans-serif", "cursive", "fantasy", "monospace")
    return _found(tuple(family), tuple(tuple(told(f"font.{n}")) if n in generic else () for n in family))


@lru_cache(maxsize=16)
def _found(family: tuple[str, ...], members: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    from matplotlib.font_manager import FontProperties, findfont

    found: dict[str, None] = {}
    for name, generic in zip(family, members, strict=True):
        # Of a generic family matplotlib takes the first that is there, and no other.
        for each in generic or (name,):
            try:
                found[findfont(FontProperties(family=[each]), fallback_to_default=False)] = None
            except ValueError:
                continue
            break
    return tuple(found) or (findfont(FontProperties()),)
