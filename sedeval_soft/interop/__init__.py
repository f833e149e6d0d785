"""Adapters that run sed_eval and sed_scores_eval on the same input."""
