"""The command line: it parses options, calls the library and chooses a presentation.

At import time nothing heavier than click is loaded; everything else stands in functions.
"""

from sedeval_soft.cli.main import main

__all__ = ["main"]
