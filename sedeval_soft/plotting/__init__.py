"""Figures for papers and talks, drawn with matplotlib: scores in, pictures out. Nothing here computes scores."""
