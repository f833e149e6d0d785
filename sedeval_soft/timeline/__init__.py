"""From tables to recordings: times in ticks, activity, segments, events and their lifetimes."""
