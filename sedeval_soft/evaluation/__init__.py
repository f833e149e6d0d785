"""The way from recordings to scores: what is evaluated, counted and scored."""
