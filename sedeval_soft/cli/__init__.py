"""The command line: it parses options, calls the library and chooses a presentation.

At import time the modules load nothing heavier than click; functions import everything else.
"""

from sedeval_soft.cli.main import main

__all__ = ["main"]
