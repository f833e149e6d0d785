"""The order of the classes within each segment that has an active reference class."""
