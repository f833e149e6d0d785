"""Properties of styles in the text of a page."""

import re

from sedeval_soft.report.outcomes import OUTCOMES


def undefined_properties(text):
    """Return the properties that a page uses and does not define."""
    used = {*re.findall(r"var\(--([\w-]+)|\bcolour\(\"([\w-]+)\"\)", text)}
    defined = {*re.findall(r"--([\w-]+)\"?[:,]", text)}
    assert len(used) > 5
    # A name that a script puts together is looked for in vain here; one of an outcome, which have all three.
    together = {*re.findall(r"var\(--\$\{([^}]*)\}", text)}
    assert together <= {'outcome === "active" ? "accent" : outcome'} and {*OUTCOMES} <= defined
    return {"".join(each) for each in used} - defined
