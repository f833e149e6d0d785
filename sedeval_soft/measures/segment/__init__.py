"""Segment-based measures: hard, optimal and soft readings of the segment grid."""
