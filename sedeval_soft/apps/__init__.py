"""Made with the evaluator and not needed by it: an app is imported when a user asks for it, not before."""
