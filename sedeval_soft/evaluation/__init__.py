"""From tables to scores: parts of whole recordings, counted by processes or a cluster, and merged."""
