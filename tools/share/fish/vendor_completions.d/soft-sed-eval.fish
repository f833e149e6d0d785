# fish completion for soft-sed-eval, which says itself how: that fits the version that is called.
_SOFT_SED_EVAL_COMPLETE=fish_source soft-sed-eval 2>/dev/null | source
