"""Reads a page as a browser does, and finds the properties of its styles."""

import re
from html.parser import HTMLParser

from sedeval_soft.report import OUTCOMES


def undefined_properties(text):
    """Return the properties that a page uses and does not define."""
    used = {*re.findall(r"var\(--([\w-]+)|\bcolour\(\"([\w-]+)\"\)", text)}
    defined = {*re.findall(r"--([\w-]+)\"?[:,]", text)}
    assert len(used) > 5
    # The pattern misses names that a script composes. They use outcomes, and the styles define all of these.
    together = {*re.findall(r"var\(--\$\{([^}]*)\}", text)}
    assert together <= {'outcome === "active" ? "accent" : outcome'} and {*OUTCOMES} <= defined
    return {"".join(each) for each in used} - defined


class Page(HTMLParser):
    """The elements of a page, their event handlers, the links, and the visible text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.handlers, self.links, self.shown = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in {"href", "src"}]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.shown += data
