"""The library: the only place that wires the steps together.

import sedeval_soft

scores = sedeval_soft.evaluate("ref.tsv", "sys.tsv", segment_length=1.0)
scores["segment.soft.f1.macro"]
"""
