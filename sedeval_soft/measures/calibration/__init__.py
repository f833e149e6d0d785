"""Whether the system's values mean what they say: among segments with value p, a share p is active."""
