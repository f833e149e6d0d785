"""How far the system's values are from the reference's, without any threshold."""
