"""Pages of HTML that need nothing else: templates filled with values, under a policy that lets nothing in."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from sedeval_soft.errors import visible
from sedeval_soft.report.board import p_value
from sedeval_soft.report.legend import short
from sedeval_soft.report.outcomes import stylesheet
from sedeval_soft.report.table import exact, number, signed

_COLOURS = Path(__file__).parent / "assets" / "colours.css"

_FILTERS = {
    **{each.__name__: each for each in (visible, number, signed, short, p_value)},
    # A number that a script sorts by, empty where it is undefined.
    "sortable": lambda value: text if (text := exact(value)) != "-" else "",
}


def fill(
    folder: Path,
    template: str,
    values: dict[str, Any],
    styles: Sequence[str],
    scripts: Sequence[str] = (),
    more: str = "",
) -> str:
    """Return a template of a folder filled with values; all texts in them are escaped.

    styles, scripts: names of files in the folder. A browser runs nothing but these scripts, whatever else is
    in the page, and requests nothing. more: other permitted scripts, and further parts of this policy.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _FILTERS
    paths = [_COLOURS, *(folder / name for name in (*styles, *scripts))]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    n = 1 + len(styles)
    runs = " ".join([*(script_hash(text.encode()) for text in texts[n:]), more]).strip() or "'none'"
    closed = "base-uri 'none'; form-action 'none'"
    inserted = {
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; {closed}; script-src {runs}",
        # These are files of the package.
        "style": Markup("".join([stylesheet(), *texts[:n]])),  # noqa: S704
        "scripts": [Markup(text) for text in texts[n:]],  # noqa: S704
    }
    return environment.get_template(template).render(values | inserted)


def script_hash(script: bytes) -> str:
    """Return the hash by which a page's policy identifies a script."""
    return f"'sha256-{b64encode(sha256(script).digest()).decode('ascii')}'"


def plotly_script() -> bytes:
    """Return plotly.js, which draws the figures of a page."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_bytes()


def plotly_name() -> str:
    """Return a file name for plotly.js with its version."""
    return f"plotly-{version('plotly')}.min.js"
