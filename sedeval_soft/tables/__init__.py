"""Tables of events and of time steps: what they hold, and how they are read and written."""
