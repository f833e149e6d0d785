"""The verbs of the project: what is counted, and how counts become scores."""
