"""Several annotators of the same recordings: references made of them, how far they agree, whom to believe."""
