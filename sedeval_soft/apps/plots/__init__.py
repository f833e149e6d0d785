"""Figures for papers and talks, drawn with matplotlib: scores in, pictures out. No score is computed here."""
