"""Other packages of the field, asked for their own opinion of the same tables."""
