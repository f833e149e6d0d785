"""Scores while a model is trained, a module for each library: arrays, PyTorch, torchmetrics, scikit-learn."""
