"""The command line: it parses options, calls the library and chooses a presentation.

At import time nothing heavier than click is loaded; everything else stands in functions.
"""

import gc

# What is imported stays until the end: to look for garbage among it again and again takes time.
gc.set_threshold(50_000)

from sedeval_soft.cli.main import main  # noqa: E402

__all__ = ["main"]
