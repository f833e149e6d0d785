"""Several systems, or several runs of one, scored against the same reference: tests, ranks, boards."""
