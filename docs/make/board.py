"""Look at a leaderboard of made-up submissions, and keep the pictures for guides/challenge-board.md.

Needs playwright and Chromium: pip install --group browser. CHROMIUM names the browser's program.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from sedeval_soft import build_site

DOCS = Path(__file__).parents[1]
PICTURES = (("board", 1400, "light", 900), ("board-phone", 390, "dark", 800))
"""Name, width and colours of each picture, and how much of the page it has, in pixels."""

CLASSES = ("birds", "car", "children", "footsteps", "people talking")
FILES, SECONDS = 24, 60
TEAMS = ("Auk", "Bunting", "Curlew", "Dipper", "Egret", "Finch", "Goshawk", "Heron", "Ibis")


def main() -> None:
    """Write the pictures."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        submit(folder)
        build_site(
            *(folder / "submissions", folder / "reference.tsv", folder / "site"),
            reports=False,
            title="Soft sound events 2026",
            baseline="baseline",
        )
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for picture, width, scheme, height in PICTURES:
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
            )
            page = context.new_page()
            page.goto((folder / "site" / "index.html").as_uri())
            page.screenshot(path=DOCS / "screenshots" / f"{picture}.png")
            context.close()
        browser.close()


def submit(folder: Path) -> None:
    """Write a reference, and what teams hand in: the later in the alphabet, the further from it."""
    rng = np.random.default_rng(0)
    shape = (FILES, SECONDS // 6, len(CLASSES))
    level = np.where(rng.random(shape) < 0.3, rng.uniform(0.2, 1.0, shape), 0.0)
    values = np.repeat(level, 6, axis=1).reshape(-1, len(CLASSES))
    write(folder / "reference.tsv", values)
    made = folder / "submissions"
    made.mkdir()
    for number, team in enumerate(TEAMS):
        noise = rng.normal(0.0, 0.1 + 0.02 * (number // 2 * 2), values.shape)
        write(made / f"{team.lower()}.tsv", np.clip(0.9 * values + noise, 0.0, 1.0))
        (made / f"{team.lower()}.yaml").write_text(f"team: Team {team}\nauthors: [A. {team}, B. {team}]\n")
    write(made / "baseline.tsv", np.clip(0.6 * values + rng.normal(0.0, 0.2, values.shape), 0.0, 1.0))
    write(made / "percent.tsv", 100.0 * values)


def write(path: Path, values: np.ndarray) -> None:
    """Write a wide table with a row for each second."""
    lines = ["\t".join(("filename", "onset", "offset", *CLASSES))]
    for k, row in enumerate(values):
        file, onset = divmod(k, SECONDS)
        cells = "\t".join(f"{value:.3f}" for value in row)
        lines.append(f"{file:02}.wav\t{onset}\t{onset + 1}\t{cells}")
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
