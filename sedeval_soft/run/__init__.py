"""From rows to tallies, and from tallies to scores."""
