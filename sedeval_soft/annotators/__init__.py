"""What several annotators say of the same recordings: how far they agree, and a reference made of it."""
