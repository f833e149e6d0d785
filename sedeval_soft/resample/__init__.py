"""Files drawn again and again: weights, intervals, tests and ranks."""
