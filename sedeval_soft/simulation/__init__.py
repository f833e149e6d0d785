"""Systems that are made up: to know what a score is worth before a model is, arrays in, arrays out."""
