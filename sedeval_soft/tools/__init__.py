"""Tools for tables beside scoring: check, fix, convert."""
