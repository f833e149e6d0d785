"""Intersection-based scores: how much reference and system events cover of one another."""
