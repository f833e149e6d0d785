"""The nouns of the project: rows, activities, segments, events, tallies, values. Mostly numpy."""
