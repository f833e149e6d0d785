"""Which class was taken for which."""
