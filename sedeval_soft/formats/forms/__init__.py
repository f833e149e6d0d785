"""Forms of tables beside plain text ones: one module per form, and one registry of all."""
